package httpsource

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"testing"
)

// segments is a connection that gives data in pieces and takes everything.
type segments struct {
	net.Conn
	data []byte
	size int
}

func (s *segments) Write(p []byte) (int, error) { return len(p), nil }

func (s *segments) Read(p []byte) (int, error) {
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.data[:min(s.size, len(s.data))])
	s.data = s.data[n:]
	return n, nil
}

// readOnly hides everything but Read.
type readOnly struct{ r io.Reader }

func (r readOnly) Read(p []byte) (int, error) { return r.r.Read(p) }

func newReader(b []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(b)) }

// Bytes that nobody asked for end a connection without a word.
func TestGuardEndsIdleConnectionThatSpeaks(t *testing.T) {
	g := newGuard(&segments{data: []byte("HTTP/1.1 408 Request Timeout\r\n\r\n"), size: 100})
	if n, err := g.Read(make([]byte, 100)); n != 0 || err != io.EOF {
		t.Errorf("read %d, %v", n, err)
	}
}

// What a tunnel carries is none of the guard's business, until it carries requests: to a web server behind a proxy of SOCKS.
func TestGuardLetsTunnelsPass(t *testing.T) {
	for _, hello := range []string{"CONNECT a:443 HTTP/1.1\r\n\r\n", "\x05\x01\x00", "\x16\x03\x01"} {
		data := "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\x16\x03\x03 and much more"
		g := newTunnel(&segments{data: []byte(data), size: 10})
		g.Write([]byte(hello))
		if got, err := io.ReadAll(readOnly{g}); err != nil || string(got) != data {
			t.Errorf("after %q: %q, %v", hello, got, err)
		}
		g.Conn = &segments{data: []byte(data), size: 10}
		g.expect()
		g.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
		if got, err := io.ReadAll(readOnly{g}); err != nil || string(got) != data[:len(data)-len("\x03\x03 and much more")] || !g.overran() {
			t.Errorf("a request after %q: %q, %v", hello, got, err)
		}
	}
}

// An answer to HEAD has no body, whatever its length says.
func TestGuardKnowsHead(t *testing.T) {
	g := newGuard(&segments{data: []byte("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody"), size: 100})
	g.expect()
	g.Write([]byte("HEAD / HTTP/1.1\r\n\r\n"))
	got, err := io.ReadAll(readOnly{g})
	if err != nil || string(got) != "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" || !g.overran() {
		t.Errorf("%q, %v, overran %v", got, err, g.overran())
	}
}

// A server that sent too much is not asked again on that connection.
func TestGuardEndsConnectionAfterExcess(t *testing.T) {
	g := newGuard(&segments{data: []byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello"), size: 100})
	g.expect()
	g.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
	buf := make([]byte, 100)
	if n, err := g.Read(buf); err != nil || !bytes.HasSuffix(buf[:n], []byte("\n\r\nhe")) {
		t.Fatalf("read %q, %v", buf[:n], err)
	}
	g.Conn = &segments{data: []byte("HTTP/1.1 200 OK\r\n\r\n"), size: 100}
	g.expect()
	g.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
	if n, err := g.Read(buf); n != 0 || err != io.EOF {
		t.Errorf("read %q, %v", buf[:n], err)
	}
}
