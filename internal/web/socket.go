package web

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	// gatherBytes is the number of bytes of a body that a read waits for on a fast connection. Waking a reader for each
	// segment costs more than copying the segment's bytes, and each write to a sink has its own cost.
	gatherBytes = 128 << 10
	// gatherTime is the longest time that received bytes wait for more bytes.
	gatherTime = 10 * time.Millisecond
)

// socket is a TCP connection that can gather. A gathering read waits until gatherBytes have arrived. After gatherTime,
// one byte is enough. The kernel does the waiting: below SO_RCVLOWAT (socket(7)) it wakes a reader only if the
// connection ends or the window is full. No byte is held back in the program.
type socket struct {
	*net.TCPConn
	raw   syscall.RawConn
	timer *time.Timer // when it fires, reads return the bytes that have arrived

	// The fields below belong to the reader.
	gathers bool
	eager   bool   // do not wait: if no data is available, return errDry
	into    []byte // destination of an eager read
	got     int
	failed  error

	mu  sync.Mutex
	low int // the last value of SO_RCVLOWAT

	// Closures, made once so that reading does not allocate.
	tell, try func(fd uintptr)
}

// newSocket returns a socket for conn.
func newSocket(conn *net.TCPConn) (*socket, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &socket{TCPConn: conn, raw: raw, low: 1}
	s.tell = func(fd uintptr) { setLowWater(fd, s.low) }
	s.try = func(fd uintptr) { s.got, s.failed = readNow(fd, s.into) }
	s.timer = time.AfterFunc(gatherTime, func() { s.limit(1) })
	s.timer.Stop()
	return s, nil
}

// gather sets whether the following reads are gathering reads. A gathering read is allowed only while more than
// gatherBytes are still to come, so the end of a body must be read without gathering.
func (s *socket) gather(on bool) {
	if s.gathers && !on {
		s.timer.Stop()
		s.limit(1)
	}
	s.gathers = on
}

// limit sets the number of bytes for which the kernel wakes a reader. If so many bytes have already arrived, the kernel
// wakes the reader immediately.
func (s *socket) limit(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.low != n {
		s.low = n
		s.raw.Control(s.tell) // fails only for a closed connection, which wakes its readers
	}
}

// Read implements net.Conn.
func (s *socket) Read(p []byte) (int, error) {
	if s.eager {
		return s.readEagerly(p)
	}
	if s.gathers {
		s.limit(gatherBytes) // set before the timer starts: the timer must not fire first
		s.timer.Reset(gatherTime)
	}
	return s.TCPConn.Read(p)
}

// readEagerly reads the available data. Without data, the error is errDry.
func (s *socket) readEagerly(p []byte) (int, error) {
	s.into = p
	err := s.raw.Control(s.try)
	s.into = nil
	switch {
	case err != nil:
		return 0, err
	case s.failed == syscall.EAGAIN || s.failed == syscall.EINTR:
		return 0, errDry
	case s.failed != nil:
		return 0, os.NewSyscallError("read", s.failed)
	case s.got == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return s.got, nil
}

// Close implements net.Conn.
func (s *socket) Close() error {
	s.timer.Stop()
	return s.TCPConn.Close()
}

// errDry reports that no data is available now. It is temporary, so that crypto/tls keeps a partial record and
// continues at the next read.
var errDry net.Error = dryError{}

type dryError struct{}

func (dryError) Error() string   { return "nothing to read now" }
func (dryError) Timeout() bool   { return true }
func (dryError) Temporary() bool { return true }
