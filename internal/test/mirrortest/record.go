package mirrortest

import (
	"net/http"
	"time"

	"braid/byterange"
)

// Request is the record of a request and its answer.
type Request struct {
	Method string
	Path   string // as requested, with its query
	Host   string
	Header http.Header
	// Range is the requested range, cut to the file. Without a range in the request it is the whole file.
	Range byterange.Range
	// Ranged is set if the request had a Range field.
	Ranged bool

	Status     int   // of the answer; 0 if there was none
	Sent       int64 // bytes of the body
	Start, End time.Time
	// Done is set if the answer was sent completely.
	Done bool
	// Conn is the number of the connection, counted from 1. Requests on a reused connection have the same number.
	Conn int

	from *conn
	over bool
}

// Requests returns all requests so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Request, len(s.records))
	for i, r := range s.records {
		all[i] = *r
	}
	return all
}

// MaxConcurrent returns the maximum of requests that were being answered at the same time. A request whose client has
// closed the connection does not count.
func (s *Server) MaxConcurrent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// Connections returns the number of accepted connections.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// Sent returns the number of body bytes in all answers.
func (s *Server) Sent() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// begin records a request.
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

// count adds n body bytes to r, and returns the total of the server.
func (s *Server) count(r *Request, n int64) (total int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Sent += n
	s.sent += n
	return s.sent
}

// ending records that the next write completes the answer. The client may send another request, possibly on another
// connection, before the answering goroutine reaches finish.
func (s *Server) ending(r *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.over = true
}

// finish records the end of r.
func (s *Server) finish(r *Request, status int, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.End, r.Status, r.Done, r.over = time.Now(), status, done, true
}
