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
	// gatherBytes is how much of a body a read waits for where bytes come fast. Each segment that wakes a
	// reader costs more than to copy its bytes, and every write to a sink has a price of its own.
	gatherBytes = 128 << 10
	// gatherTime is how long bytes wait for others at most.
	gatherTime = 10 * time.Millisecond
)

// A socket is a TCP connection that can gather: a read that finds nothing then waits until gatherBytes have come or
// gatherTime has passed, and after that for the first byte. The waiting is left to the kernel, which wakes no goroutine
// for less than SO_RCVLOWAT (socket(7)) unless the connection ends or its window is full. No byte is held in the program.
type socket struct {
	*net.TCPConn
	raw   syscall.RawConn
	timer *time.Timer // lets reads have what is there

	// These belong to the reader.
	gathers bool
	eager   bool   // do not wait: errDry where nothing is there
	into    []byte // of an eager read
	got     int
	failed  error

	mu  sync.Mutex
	low int // what the kernel was told last

	// Made once, so that reading allocates nothing.
	tell, try func(fd uintptr)
}

// newSocket returns conn as a socket.
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

// gather says whether the following reads shall gather. Bytes must be sure to come: of more than
// gatherBytes, the last ones are to be read without.
func (s *socket) gather(on bool) {
	if s.gathers && !on {
		s.timer.Stop()
		s.limit(1)
	}
	s.gathers = on
}

// limit tells the kernel for how many bytes to wake a reader. If they are there already, it does so at once.
func (s *socket) limit(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.low != n {
		s.low = n
		s.raw.Control(s.tell) // fails for a closed connection only, which wakes by itself
	}
}

// Read implements net.Conn.
func (s *socket) Read(p []byte) (int, error) {
	if s.eager {
		return s.readEagerly(p)
	}
	if s.gathers {
		s.limit(gatherBytes) // before the timer: it must not run out while the kernel is not told yet
		s.timer.Reset(gatherTime)
	}
	return s.TCPConn.Read(p)
}

// readEagerly reads what is there. The error is errDry if that is nothing.
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

// errDry says that nothing is there to be read now. It is temporary: crypto/tls keeps what it has of a record
// and goes on at the next read.
var errDry net.Error = dryError{}

type dryError struct{}

func (dryError) Error() string   { return "nothing to read now" }
func (dryError) Timeout() bool   { return true }
func (dryError) Temporary() bool { return true }
