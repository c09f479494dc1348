package ftptest

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// chunk is the maximum size of a write.
const chunk = 16 << 10

// retr sends the file. It returns false if the control connection has ended.
func (c *session) retr(path string) bool {
	b := c.s.behave()
	start := c.start
	c.start = 0
	switch {
	case strings.TrimPrefix(path, "/") != b.name:
		c.say("RETR", "550 no such file")
		return true
	case c.passive == nil:
		c.say("RETR", "425 no port")
		return true
	}
	raw, err := c.passive.Accept()
	c.unlisten()
	if err != nil {
		return false
	}
	if !c.s.hold(raw) {
		return false
	}
	defer c.s.release(raw)
	c.say("150", "150 here it comes")
	c.s.transfer(+1)
	defer c.s.transfer(-1)
	c.late = b.late
	if b.early {
		c.say("226", "226 done")
	}
	data := raw
	if c.private && b.noHandshake {
		io.Copy(io.Discard, raw) // until the client gives up
		return true
	}
	if c.private {
		secured := tls.Server(raw, b.tls)
		if err := secured.Handshake(); err != nil {
			c.say("226", "425 "+err.Error())
			return true
		}
		c.s.noteTLS(secured)
		data = secured
	}
	return c.send(raw, data, start)
}

// send sends the file from an offset on and the reply about the transfer.
func (c *session) send(raw, data net.Conn, off int64) bool {
	switch err := c.copy(data, off); err {
	case errReset:
		raw.(*net.TCPConn).SetLinger(0)
		c.raw.(*net.TCPConn).SetLinger(0)
		return false
	case nil:
		if c.s.behave().noNotify {
			raw.Close()
		}
		data.Close()
		c.end("226", "226 done")
	default:
		raw.Close()
		c.end("426", "426 the connection is gone")
	}
	return true
}

// end sends the reply at the end of a transfer, unless it was sent before.
func (c *session) end(code, reply string) {
	if !c.s.behave().early {
		c.say(code, reply)
	}
}

var errReset = net.UnknownNetworkError("reset")

// copy sends the content as the options demand.
func (c *session) copy(data net.Conn, off int64) error {
	buf := make([]byte, chunk)
	limit := rate.NewLimiter(rate.Inf, chunk)
	for {
		b := c.s.behave()
		if b.rate > 0 {
			limit.SetLimit(rate.Limit(b.rate))
		}
		end := b.content.Size() + b.longer
		for _, at := range []int64{b.end, b.reset, b.stall} {
			if at >= 0 {
				end = min(end, at)
			}
		}
		switch {
		case off < end:
		case b.reset >= 0 && off >= b.reset:
			return errReset
		case b.stall >= 0 && off >= b.stall:
			_, err := data.Read(buf) // until the client gives up
			return err
		default:
			return nil
		}
		p := c.part(buf[:min(chunk, end-off)], off, b)
		limit.WaitN(context.Background(), len(p))
		data.SetWriteDeadline(time.Now().Add(time.Minute))
		n, err := data.Write(p)
		c.s.count(n)
		off += int64(n)
		if err != nil {
			return err
		}
	}
}

// part returns the content at off, followed by zeros beyond its end.
func (c *session) part(p []byte, off int64, b behaviour) []byte {
	clear(p)
	if n, err := b.content.ReadAt(p, off); err != nil && err != io.EOF {
		return p[:n]
	}
	for _, at := range b.corrupt {
		if off <= at && at < off+int64(len(p)) {
			p[at-off] ^= 0xff
		}
	}
	return p
}
