package download

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"braid/byterange"
	"braid/scheduler"
	"braid/source"
	"braid/verify"
)

// A body of which nobody says how long it is may break off behind its last byte: a chunked one whose last chunk is missing, for
// example. By itself that is a cut like any other, and no file (rule 17): the rest is asked for. When there is none, as the
// server then says or as nothing comes of it, and a strong digest is known, that decides whether what is here is the file.

// A cutoff is where bodies of unknown length broke off.
type cutoff struct {
	at    int64      // the last time; 0: never yet
	tried int64      // what was compared with the digest then
	ends  chan int64 // a length of the file by which its digest holds
}

// theEnd says that the origin, asked for what follows what is here, answered that nothing does (416, RFC 9110, section 14.4).
func (s *session) theEnd(o *origin, err error) (size int64, ok bool) {
	var e *source.Error
	if !o.first || !s.mayEnd(s.part) || !errors.As(err, &e) || e.Status != http.StatusRequestedRangeNotSatisfiable || len(e.Hops) == 0 {
		return 0, false
	}
	size, err = byterange.ParseUnsatisfied(http.Header(e.Hops[len(e.Hops)-1].Header).Get("Content-Range"))
	return size, err == nil && size == s.part.Front()
}

// short is an error if a body of which nothing said how long it is ended before the file does by what the same server said of the
// same version: to HEAD, or to GET before (RFC 9110, section 8.6). Then it was cut.
func (s *session) short(f *flight) error {
	a, said := f.answer, s.plan.sized
	if s.size >= 0 || a.Size >= 0 || a.Host != said.Host || f.sink.cut || f.at >= said.Size || otherVersion(said, a) != "" {
		return nil
	}
	return &source.Error{
		URL: f.from.masked, Host: f.from.host, Fault: source.FaultNetwork, Retry: true,
		Err: fmt.Errorf("body ends at byte %d, and the server said that the file has %d: %w", f.at, said.Size, io.ErrUnexpectedEOF),
	}
}

// settle says how long the file is, when that comes out after all of it is here.
func (s *session) settle(size int64) {
	if s.size = size; s.hold() == nil {
		s.step(scheduler.SizeKnown{Size: size})
	}
}

// brokeOff is told of every fetch that may be tried again. The second that ends at one place leads to a look at the digest. Of
// a stream, what is out cannot be read again.
func (s *session) brokeOff() {
	if !s.mayEnd(s.part) || s.req.Stream != nil {
		return
	}
	front := s.part.Front()
	again := s.cut.at == front
	if s.cut.at = front; !again || s.cut.tried == front {
		return
	}
	s.cut.tried = front
	claims, ctx := slices.Clone(s.claims), s.ctx
	s.workers.Go(func() {
		check := verify.NewChecker(front, claims)
		r := io.NewSectionReader(s.part, 0, front)
		for ctx.Err() == nil {
			if _, err := io.CopyN(check, r, 1<<20); err != nil {
				break
			}
		}
		if _, err := check.Proof(); err == nil {
			s.cut.ends <- front // which has room for it
		}
	})
}

// endsAt is told that the digest is that of the first size bytes.
func (s *session) endsAt(size int64) {
	if s.mayEnd(s.part) && s.part.Front() == size {
		s.settle(size)
	}
}
