package ftpsource

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"braid/byterange"
	"braid/source"
)

// bufferSize limits the bytes passed to a sink at once.
const bufferSize = 256 << 10

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

var errLonger = errors.New("the file is longer than its SIZE")

// A transfer fetches one range.
type transfer struct {
	s        *Source
	ctx      context.Context
	leash    *leash
	stop     func() bool // stops the leash from closing connections
	control  *control
	inOrder  bool // all commands were answered, so the connection can be reused
	answered bool
	raw      *ending // data connection
	data     net.Conn
}

// An ending is a data connection. eof is set when its end was read. After a close_notify, crypto/tls does not read any
// more, so eof stays false.
type ending struct {
	*net.TCPConn
	eof atomic.Bool
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.TCPConn.Read(p)
	if err == io.EOF {
		e.eof.Store(true)
	}
	return n, err
}

// run gives w the answer, and then the bytes of r.
func (t *transfer) run(r byterange.Range, w source.Sink) error {
	a, err := t.look(r)
	if err != nil {
		return err
	}
	t.answered = true
	if err := w.Answer(a); err != nil {
		t.inOrder = true
		return &sinkError{err}
	}
	if a.Size >= 0 && a.Start >= a.Size && r.Start > 0 {
		t.inOrder = true
		return t.s.fail(source.FaultMismatch, false, fmt.Errorf("its file has %d bytes", a.Size)) // rule 25
	}
	if err := t.begin(a.Start); err != nil {
		return err
	}
	return t.deliver(a, w)
}

// look requests the metadata of the file and returns the answer for the sink. SIZE comes first, because servers accept
// a REST beyond the end of a file.
func (t *transfer) look(r byterange.Range) (a source.Answer, err error) {
	k := t.control
	size, err := t.size()
	if err != nil {
		return a, err
	}
	if t.s.modified.Load() == nil {
		if _, err := t.date(); err != nil {
			return a, err
		}
	}
	a = t.s.answer(k, size)
	if r.Start == 0 {
		a.Ranged = r.End != byterange.Unbounded || k.asked && k.resumes
	} else if a.Ranged, err = k.restarts(r.Start); err != nil {
		return a, err
	}
	if !a.Ranged {
		return a, nil
	}
	a.Start, a.End = r.Start, r.End
	switch {
	case size >= 0:
		a.End = max(a.Start, min(r.End, size))
	case r.End == byterange.Unbounded:
		a.End = -1
	}
	return a, nil
}

// size requests the size (RFC 3659, section 4). It returns -1 if the server does not support SIZE.
func (t *transfer) size() (int64, error) {
	p, err := t.control.ask("SIZE", t.s.path)
	switch {
	case err != nil:
		return 0, err
	case p.code == 213:
		return p.size()
	case p.code >= 500 && p.code < 510: // the server does not support the command
		return -1, nil
	case p.code == 550: // the file does not exist, or the command is not allowed
		if there, err := t.date(); there || err != nil {
			return -1, err
		}
	}
	t.inOrder = true
	return 0, t.control.refused("SIZE", p)
}

// date requests the modification time (RFC 3659, section 3), and reports whether the file exists.
func (t *transfer) date() (there bool, err error) {
	p, err := t.control.ask("MDTM", t.s.path)
	if err != nil {
		return false, err
	}
	var when time.Time
	if p.code == 213 && len(p.lines[0]) >= 14 {
		if u, err := time.Parse("20060102150405", p.lines[0][:14]); err == nil {
			when = u
		}
	}
	t.s.modified.Store(&when)
	return !when.IsZero(), nil
}

// begin opens the data connection and starts the transfer at the offset start. RFC 959, section 4.1.3, requires that
// REST is "immediately followed" by the transfer.
func (t *transfer) begin(start int64) error {
	k := t.control
	port, err := k.passive()
	if err != nil {
		return err
	}
	raw, err := k.dialData(t.ctx, port, t.s.policy)
	if err != nil {
		t.s.older.Store(true) // a firewall may support only PASV
		return fmt.Errorf("data connection: %w", err)
	}
	t.raw = &ending{TCPConn: raw}
	t.data = t.raw
	t.leash.hold(raw)
	if start > 0 {
		if _, err := k.want(3, "REST", strconv.FormatInt(start, 10)); err != nil {
			return err
		}
	}
	p, err := k.want(1, "RETR", t.s.path)
	if err != nil {
		var no *Error
		t.inOrder = errors.As(err, &no) && p.kind() >= 4
		return err
	}
	if k.tls == nil {
		return nil
	}
	secured, err := k.handshake(t.ctx, t.raw)
	if err != nil {
		return fmt.Errorf("data connection: %w", err)
	}
	t.data = secured
	return nil
}

// deliver passes the bytes to w. If the range ends before the file, it closes the data connection at the end of the
// range.
func (t *transfer) deliver(a source.Answer, w source.Sink) error {
	buf := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buf)
	for off := a.Start; ; {
		if off == a.End && a.End != a.Size {
			return t.leave()
		}
		p := buf[:]
		if a.End >= 0 {
			p = buf[:min(bufferSize, a.End-off)]
		}
		n, err := t.read(p, t.s.client.timeout())
		if off+int64(n) == a.End && a.End == a.Size && err == nil {
			err = t.last()
		}
		if errors.Is(err, errLonger) {
			return t.s.fail(source.FaultProtocol, false, err)
		}
		if n > 0 {
			if enough, err := source.Give(w, p[:n], off); err != nil {
				return &sinkError{err}
			} else if enough {
				return t.leave()
			}
			off += int64(n)
		}
		if err != nil {
			return t.ended(a, off, err)
		}
	}
}

func (t *transfer) read(p []byte, within time.Duration) (int, error) {
	t.data.SetReadDeadline(time.Now().Add(within))
	return t.data.Read(p)
}

// last waits for the end of the file after SIZE bytes were received. It returns errLonger if another byte follows: SIZE
// was wrong then, as on servers that count in 32 bits, and the file is not complete.
func (t *transfer) last() error {
	var more [1]byte
	n, err := t.read(more[:], t.s.client.closeTimeout())
	if n > 0 {
		return errLonger
	}
	return err
}

// leave ends a transfer before the end of the file. The server replies 426, 451 or 551, or 226 if it had sent
// everything. Any reply is accepted.
func (t *transfer) leave() error {
	t.raw.Close()
	_, err := t.control.read(t.s.client.closeTimeout())
	t.inOrder = err == nil
	return nil
}

// ended returns the error of a transfer whose data ended at off with err, or nil if the range is complete (rule 59).
func (t *transfer) ended(a source.Answer, off int64, err error) error {
	switch {
	case off == a.End && err == io.EOF:
		t.data.Close()
		p, err := t.control.read(t.s.client.closeTimeout()) // any reply is accepted, because all bytes were received
		t.inOrder = err == nil && p.kind() == 2
		return nil
	case off == a.End: // all bytes were received
		return nil
	case err != io.EOF:
		return fmt.Errorf("data ends at byte %d: %w", off, err)
	}
	within := t.s.client.closeTimeout()
	if a.End < 0 { // only the server's reply shows whether the file is complete
		within = t.s.client.timeout()
	}
	p, said := t.control.read(within)
	switch {
	case said != nil:
		return fmt.Errorf("data ends at byte %d: %w", off, said)
	case p.kind() != 2:
		return fmt.Errorf("data ends at byte %d: %w", off, t.control.refused("RETR", p))
	case a.End >= 0:
		return fmt.Errorf("data ends at byte %d of %d, but the server claims %d: %w", off, a.End, p.code, io.ErrUnexpectedEOF)
	case t.truncated():
		return fmt.Errorf("data ends at byte %d without close_notify: %w", off, io.ErrUnexpectedEOF)
	}
	t.data.Close()
	t.inOrder = true
	return nil
}

// truncated reports whether TLS ended without close_notify, which crypto/tls accepts between two records.
func (t *transfer) truncated() bool {
	_, secured := t.data.(*tls.Conn)
	return secured && t.raw.eof.Load()
}

// stale reports whether err may be due to a reused connection: the server had closed it, or the first reply belonged to
// the previous transfer.
func (t *transfer) stale(err error) bool {
	return err != nil && t.control.reused && !t.answered && t.ctx.Err() == nil
}

// end keeps the control connection if it can be reused. Otherwise it closes the connection, so that the next request
// has the only connection to the server (C7, rule 38).
func (t *transfer) end() {
	if t.raw != nil {
		t.raw.Close()
	}
	if t.stop() && t.inOrder {
		t.s.client.keep(t.control)
		return
	}
	t.control.conn.Close()
}
