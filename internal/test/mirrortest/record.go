package mirrortest

import (
	"net/http"
	"time"

	"braid/byterange"
)

// A Request is one request and what became of it.
type Request struct {
	Method string
	Path   string // as requested, with its query
	Host   string
	Header http.Header
	// Range is what was asked for, as far as it exists. It is the whole file if there was no range.
	Range byterange.Range
	// Ranged says that the request had a Range field.
	Ranged bool

	Status     int   // of the answer; 0 if there was none
	Sent       int64 // bytes of the body
	Start, End time.Time
	// Done says that the answer was sent to its end.
	Done bool
	// Conn is the number of the connection, from 1: a connection that was used again has the same.
	Conn int

	from *conn
	over bool
}

// Requests are all requests so far, the first one first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Request, len(s.records))
	for i, r := range s.records {
		all[i] = *r
	}
	return all
}

// MaxConcurrent is the greatest number of requests that were being answered at one time. One whose
// client has closed the connection does not count.
func (s *Server) MaxConcurrent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// Connections is how many connections were accepted so far.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// Sent is the number of body bytes of all answers.
func (s *Server) Sent() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// begin notes a request.
func (s *Server) begin(c *conn, req *http.Request) *Request {
	r := &Request{
		Method: req.Method, Path: req.URL.RequestURI(), Host: req.Host, Header: req.Header.Clone(),
		Range: byterange.Range{End: s.Content.Size()}, Start: time.Now(), Conn: c.number, from: c,
	}
	if field := req.Header.Get("Range"); field != "" {
		r.Ranged = true
		if ranges, err := byterange.ParseRange(field, s.Content.Size()); err == nil && len(ranges) == 1 {
			r.Range = ranges[0]
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := 1
	for _, other := range s.records {
		if !other.over && !other.from.abandoned() {
			now++
		}
	}
	s.most = max(s.most, now)
	s.records = append(s.records, r)
	return r
}

// count notes n body bytes of r.
func (s *Server) count(r *Request, n int64) (total int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Sent += n
	s.sent += n
	return s.sent
}

// ending notes that the client has all of the answer with what is sent next: it may ask again, on another connection as
// well, before the goroutine that answers gets as far as finish.
func (s *Server) ending(r *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.over = true
}

// finish notes that r is over.
func (s *Server) finish(r *Request, status int, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.End, r.Status, r.Done, r.over = time.Now(), status, done, true
}
