package web

import (
	"errors"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sockets returns both ends of a connection.
func sockets(t *testing.T) (*socket, *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSocket(near.(*net.TCPConn))
	if err != nil {
		t.Fatal(err)
	}
	s.SetReadDeadline(time.Now().Add(time.Minute)) // for a test that fails
	t.Cleanup(func() {
		s.Close()
		far.Close()
	})
	return s, far.(*net.TCPConn)
}

// Below the limit, the kernel does not wake a reader.
func TestGatherLimit(t *testing.T) {
	s, far := sockets(t)
	write := func(n int) {
		t.Helper()
		if _, err := far.Write(make([]byte, n)); err != nil {
			t.Fatal(err)
		}
	}
	s.limit(gatherBytes)
	write(1000)
	arrived(s, 1000)
	if readable(t, s) {
		t.Error("a reader is woken for 1000 bytes")
	}
	s.limit(1)
	if !readable(t, s) {
		t.Error("a reader is not told that bytes are there after all")
	}
	s.limit(gatherBytes)
	write(gatherBytes)
	arrived(s, gatherBytes+1000)
	if !readable(t, s) {
		t.Error("a reader is not woken for enough")
	}
}

// arrived waits until n bytes have arrived.
func arrived(s *socket, n int) {
	for have := 0; have < n; {
		s.raw.Control(func(fd uintptr) { have, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	}
}

// readable reports whether the kernel would wake a reader now.
func readable(t *testing.T, s *socket) bool {
	t.Helper()
	fds := []unix.PollFd{{Events: unix.POLLIN}}
	err := s.raw.Control(func(fd uintptr) {
		fds[0].Fd = int32(fd)
		if _, err := unix.Poll(fds, 0); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return fds[0].Revents&unix.POLLIN != 0
}

// Received bytes wait at most gatherTime for more, even if none arrive.
func TestGatherIsPatientForATime(t *testing.T) {
	s, far := sockets(t)
	s.gather(true)
	for range 20 {
		read := goRead(s)
		awaitLimit(s, gatherBytes)
		far.Write(make([]byte, 1000))
		if n := <-read; n != 1000 {
			t.Fatalf("read %d bytes", n)
		}
	}
}

// goRead reads once in a goroutine.
func goRead(s *socket) <-chan int {
	read := make(chan int, 1)
	go func() {
		n, _ := s.Read(make([]byte, BufferSize))
		read <- n
	}()
	return read
}

// awaitLimit waits until the limit is n, or for a second: on a busy machine it may have changed again.
func awaitLimit(s *socket, n int) {
	begun := time.Now()
	for low := 0; low != n && time.Since(begun) < time.Second; runtime.Gosched() {
		s.mu.Lock()
		low = s.low
		s.mu.Unlock()
	}
}

// After a silence, the first byte is returned without delay.
func TestGatherAfterSilence(t *testing.T) {
	s, far := sockets(t)
	s.gather(true)
	read := goRead(s)
	awaitLimit(s, gatherBytes)
	awaitLimit(s, 1) // the wait of the read is over
	far.Write([]byte("x"))
	if n := <-read; n != 1 {
		t.Errorf("read %d bytes", n)
	}
}

// The end of the connection is reported without delay, and so are the bytes before it.
func TestGatherSeesEnd(t *testing.T) {
	s, far := sockets(t)
	s.gather(true)
	far.Write([]byte("last"))
	far.Close()
	if got, err := io.ReadAll(s); string(got) != "last" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// A socket that does not gather any more returns a single byte.
func TestGatherEnds(t *testing.T) {
	s, far := sockets(t)
	s.gather(true)
	s.limit(gatherBytes)
	s.gather(false)
	far.Write([]byte("b"))
	arrived(s, 1)
	if !readable(t, s) {
		t.Error("a reader is not woken")
	}
}

// An eager read never blocks, and distinguishes missing data from the end.
func TestReadEagerly(t *testing.T) {
	s, far := sockets(t)
	s.eager = true
	buf := make([]byte, 8)
	if n, err := s.Read(buf); n != 0 || err != errDry {
		t.Errorf("nothing is there: %d, %v", n, err)
	}
	far.Write([]byte("ab"))
	s.eager = false
	s.Read(buf[:1])
	s.eager = true
	if n, err := s.Read(buf); n != 1 || buf[0] != 'b' || err != nil {
		t.Errorf("%q, %v", buf[:n], err)
	}
	far.Close()
	s.eager = false
	s.Read(buf)
	s.eager = true
	if n, err := s.Read(buf); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
	s.Close()
	if _, err := s.Read(buf); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// Reading does not allocate, whether it blocks or not.
func TestSocketAllocatesNothing(t *testing.T) {
	s, far := sockets(t)
	data, buf := make([]byte, 1000), make([]byte, BufferSize)
	s.gather(true)
	n := testing.AllocsPerRun(50, func() {
		far.Write(data)
		s.eager = false
		s.Read(buf)
		s.eager = true
		s.Read(buf)
		s.limit(1)
	})
	if n != 0 {
		t.Errorf("%v allocations for each read", n)
	}
}
