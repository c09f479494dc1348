package serve

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// bufferSize is the maximum number of bytes that are read from a file and sent at once.
const bufferSize = 64 << 10

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// response is an http.ResponseWriter that counts bytes, limits the rate, and closes the connection of a client that
// does not read.
type response struct {
	http.ResponseWriter
	request *http.Request
	control *http.ResponseController
	pacer   *pacer // nil without a limit
	stall   time.Duration
	status  int       // 0 before WriteHeader
	sent    int64     // bytes of the body
	began   time.Time // when the header section was sent, plus the waiting times of the pacer
}

func newResponse(w http.ResponseWriter, r *http.Request, p *pacer, stall time.Duration) *response {
	res := &response{ResponseWriter: w, request: r, control: http.NewResponseController(w), pacer: p, stall: stall}
	// Remove the deadline of the previous request on the connection: it must not apply during hashing.
	res.deadline(time.Time{})
	return res
}

// deadline sets the time by which the connection must accept the next write. A ResponseWriter without a connection
// needs no deadline.
func (res *response) deadline(t time.Time) { _ = res.control.SetWriteDeadline(t) }

// due returns the time by which the client must accept the next n bytes. It limits both the time of one write and the
// mean speed.
func (res *response) due(n int) time.Time {
	late := res.began.Add(res.stall + time.Duration((res.sent+int64(n))/slowest)*time.Second)
	if soon := time.Now().Add(res.stall); soon.Before(late) {
		return soon
	}
	return late
}

// dropBody limits the time that net/http waits for the body of a request to bodyTime.
func (res *response) dropBody() { _ = res.control.SetReadDeadline(time.Now().Add(bodyTime)) }

func (res *response) WriteHeader(status int) {
	if res.status != 0 {
		return
	}
	res.status, res.began = status, time.Now()
	res.deadline(res.began.Add(res.stall)) // an answer without a body needs a deadline, too
	if status >= 400 && status != http.StatusPreconditionFailed {
		// The body is an error message, and these fields would describe that message (RFC 9530, section 3). A 412 has
		// no body, and its client needs to know the present file (S9, rule 35).
		for _, field := range [...]string{"Digest", "Repr-Digest", "Link", "Etag"} {
			res.Header().Del(field)
		}
	}
	res.ResponseWriter.WriteHeader(status)
}

// fail answers with the text of status.
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

// ReadFrom sends r to its end. http.ServeContent copies with it.
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

// chunk returns how many bytes may be sent at once, at most bufferSize.
func (res *response) chunk() int {
	if res.pacer == nil {
		return bufferSize
	}
	return res.pacer.chunk()
}

// send waits for the pacer and writes one chunk.
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
		// Otherwise several chunks would be sent together.
		err = res.control.Flush()
	}
	return n, err
}
