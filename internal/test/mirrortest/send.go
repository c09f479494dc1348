package mirrortest

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
)

// sender sends one reply.
type sender struct {
	c    *conn
	out  *bufio.Writer
	b    behaviour
	r    *Request
	done bool // sent completely
}

// reply sends the reply, with the faults that the options demand.
func (s *sender) reply(r reply) ending {
	s.b.head(s.out, r)
	if s.b.req.Method != http.MethodHead {
		if end := s.body(r); end != endOpen {
			return end
		}
	}
	s.c.s.ending(s.r)
	if s.out.Flush() != nil {
		return endRudely
	}
	s.done = true
	if s.b.closing || s.b.req.Close || s.b.framing == byClose || s.b.noLastChunk {
		return s.b.close()
	}
	return endOpen
}

// body sends the part of the content, and the bytes that BodyLonger adds.
func (s *sender) body(r reply) ending {
	var buf []byte
	for off := r.part.Start; off < r.part.End+s.b.longer; {
		n, end := s.room(off - r.part.Start)
		if end != endOpen {
			return end
		}
		n = min(n, r.part.End+s.b.longer-off)
		p := r.body.view(off, n)
		if p == nil || len(s.b.corrupt) > 0 {
			if buf == nil {
				buf = make([]byte, maxPiece)
			}
			p = buf[:n]
			clear(p)
			if _, err := r.body.ReadAt(p, off); err != nil && err != io.EOF {
				panic(err) // a Content does not fail
			}
			s.spoil(p, off)
		}
		if s.b.framing == byLength && off+n == r.part.End+s.b.longer {
			s.c.s.ending(s.r)
		}
		if s.write(p) != nil {
			return endRudely
		}
		off += n
	}
	// Apply options that take effect at the end of the body.
	if _, end := s.room(r.part.Len() + s.b.longer); end != endOpen {
		return end
	}
	if s.b.framing == byChunks && !s.b.noLastChunk {
		io.WriteString(s.out, "0\r\n\r\n") // an error stays in out
	}
	return endOpen
}

// room returns how many bytes may be sent after the first sent bytes of the body. It blocks while the options demand
// that, and evaluates them again when they change.
func (s *sender) room(sent int64) (int64, ending) {
	for {
		if end := s.fate(sent); end != endOpen {
			return 0, end
		}
		n := int64(maxPiece)
		if p := s.b.pace; p != nil {
			n = p.piece()
		}
		for _, limit := range []int64{s.b.cut, s.b.reset, s.b.stall} {
			if limit >= 0 {
				n = min(n, limit-sent)
			}
		}
		spent := false
		if s.b.budget != nil && n > 0 {
			n = s.b.budget.room(n)
			spent = n == 0
		}
		if n > 0 {
			return n, endOpen
		}
		if s.out.Flush() != nil || s.c.ctx.Err() != nil {
			return 0, endRudely
		}
		if spent {
			s.waitForChange()
			continue
		}
		if s.b.stall >= 0 && sent >= s.b.stall {
			s.waitForChange()
			continue
		}
		sleep(s.c.ctx, beat) // the rate is zero at present
	}
}

// fate updates the behaviour, and returns whether and how the connection ends here.
func (s *sender) fate(sent int64) ending {
	select {
	case <-s.b.changed:
		s.b = s.c.s.behave(s.b.req)
	default:
	}
	switch {
	case s.b.cut >= 0 && sent >= s.b.cut:
		s.out.Flush() // the connection ends in any case
		return s.b.close()
	case s.b.reset >= 0 && sent >= s.b.reset:
		s.out.Flush()
		return endReset
	}
	return endOpen
}

func (s *sender) waitForChange() {
	var lifted chan struct{}
	if s.b.budget != nil {
		lifted = s.b.budget.lifted
	}
	select {
	case <-s.b.changed:
	case <-lifted:
	case <-s.c.ctx.Done():
	}
}

// spoil applies Corrupt to p, the bytes at off.
func (s *sender) spoil(p []byte, off int64) {
	for _, at := range s.b.corrupt {
		if at >= off && at < off+int64(len(p)) {
			p[at-off] ^= 0xff
		}
	}
}

// write sends p at the rate of the pace.
func (s *sender) write(p []byte) error {
	if s.b.framing == byChunks {
		fmt.Fprintf(s.out, "%x\r\n", len(p)) // an error stays in out
	}
	s.out.Write(p)
	if s.b.framing == byChunks {
		io.WriteString(s.out, "\r\n")
	}
	total := s.c.s.count(s.r, int64(len(p)))
	if s.b.budget != nil {
		s.b.budget.left.Add(-int64(len(p)))
	}
	dies := s.b.die >= 0 && total >= s.b.die
	if s.b.pace != nil || dies {
		if err := s.out.Flush(); err != nil {
			return err
		}
	}
	if dies {
		s.c.s.Die()
		return s.c.ctx.Err()
	}
	if s.b.pace != nil {
		s.b.pace.wait(s.c.ctx, int64(len(p)))
	}
	// Flush before the buffer is full.
	if s.out.Available() < maxPiece {
		return s.out.Flush()
	}
	return s.c.ctx.Err()
}
