package serve

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// bufferSize is the most that is read from a file and sent at once.
const bufferSize = 64 << 10

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// A response is an http.ResponseWriter that counts, keeps the server's rate and closes the connection of a
// client that takes nothing.
type response struct {
	http.ResponseWriter
	request *http.Request
	control *http.ResponseController
	pacer   *pacer // nil: no limit
	stall   time.Duration
	status  int       // 0: not yet
	sent    int64     // bytes of the body
	began   time.Time // when the header section left, later by the time that the pacer took
}

func newResponse(w http.ResponseWriter, r *http.Request, p *pacer, stall time.Duration) *response {
	res := &response{ResponseWriter: w, request: r, control: http.NewResponseController(w), pacer: p, stall: stall}
	// The deadline of the request before this one on the same connection is not for hashing now.
	res.deadline(time.Time{})
	return res
}

// deadline is when the connection has to have taken what is written next. Not every ResponseWriter has a
// connection; those without need none.
func (res *response) deadline(t time.Time) { _ = res.control.SetWriteDeadline(t) }

// due is when the client has to have taken the next n bytes: soon, and with those before them not too slowly.
func (res *response) due(n int) time.Time {
	late := res.began.Add(res.stall + time.Duration((res.sent+int64(n))/slowest)*time.Second)
	if soon := time.Now().Add(res.stall); soon.Before(late) {
		return soon
	}
	return late
}

// dropBody lets net/http wait for the body of a request no longer than bodyTime.
func (res *response) dropBody() { _ = res.control.SetReadDeadline(time.Now().Add(bodyTime)) }

func (res *response) WriteHeader(status int) {
	if res.status != 0 {
		return
	}
	res.status, res.began = status, time.Now()
	res.deadline(res.began.Add(res.stall)) // also of an answer without a body
	if status >= 400 && status != http.StatusPreconditionFailed {
		// The body is a message, and these fields would speak of it (RFC 9530, section 3). A 412 has no
		// body, and a client wants to know which file it is then (S9, rule 35).
		for _, field := range [...]string{"Digest", "Repr-Digest", "Link", "Etag"} {
			res.Header().Del(field)
		}
	}
	res.ResponseWriter.WriteHeader(status)
}

// fail answers with the words for status and nothing else.
func (res *response) fail(status int) {
	h := res.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	if status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "1")
	}
	res.WriteHeader(status)
	if res.request.Method != http.MethodHead {
		io.WriteString(res, http.StatusText(status)+"\n")
	}
}

func (res *response) Write(p []byte) (int, error) {
	if res.pacer != nil {
		defer res.pacer.join()()
	}
	done := 0
	for done < len(p) {
		n, err := res.send(p[done:min(len(p), done+res.chunk())])
		done += n
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// ReadFrom sends r to its end. It is what http.ServeContent copies with.
func (res *response) ReadFrom(r io.Reader) (int64, error) {
	if res.pacer != nil {
		defer res.pacer.join()()
	}
	buf := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buf)
	var done int64
	for {
		n, err := r.Read(buf[:res.chunk()])
		if n > 0 {
			sent, err := res.send(buf[:n])
			done += int64(sent)
			if err != nil {
				return done, err
			}
		}
		if err == io.EOF {
			return done, nil
		}
		if err != nil {
			return done, err
		}
	}
}

// chunk is how much may be sent at once, at most bufferSize.
func (res *response) chunk() int {
	if res.pacer == nil {
		return bufferSize
	}
	return res.pacer.chunk()
}

// send writes one chunk when its time has come.
func (res *response) send(p []byte) (int, error) {
	if res.status == 0 {
		res.WriteHeader(http.StatusOK)
	}
	if res.pacer != nil {
		asked := time.Now()
		if err := res.pacer.wait(res.request.Context(), len(p)); err != nil {
			return 0, err
		}
		res.began = res.began.Add(time.Since(asked))
	}
	res.deadline(res.due(len(p)))
	n, err := res.ResponseWriter.Write(p)
	res.sent += int64(n)
	if err == nil && res.pacer != nil {
		// Else the bytes of several chunks would leave together.
		err = res.control.Flush()
	}
	return n, err
}
