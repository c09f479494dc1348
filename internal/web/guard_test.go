package web

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// segments is a connection that returns data in pieces and accepts all writes.
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

// Bytes without a request end a connection, without a log message.
func TestGuardEndsIdleConnectionThatSpeaks(t *testing.T) {
	g := newGuard(&segments{data: []byte("HTTP/1.1 408 Request Timeout\r\n\r\n"), size: 100})
	if n, err := g.Read(make([]byte, 100)); n != 0 || err != io.EOF {
		t.Errorf("read %d, %v", n, err)
	}
}

// The content of a tunnel is not checked until it carries requests: to a web server behind a SOCKS proxy.
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
		if got, err := io.ReadAll(readOnly{g}); err != nil ||
			string(got) != data[:len(data)-len("\x03\x03 and much more")] || !g.overran() {
			t.Errorf("a request after %q: %q, %v", hello, got, err)
		}
	}
}

// An answer to HEAD has no body, regardless of its Content-Length.
func TestGuardKnowsHead(t *testing.T) {
	g := newGuard(&segments{data: []byte("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody"), size: 100})
	g.expect()
	g.Write([]byte("HEAD / HTTP/1.1\r\n\r\n"))
	got, err := io.ReadAll(readOnly{g})
	if err != nil || string(got) != "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" || !g.overran() {
		t.Errorf("%q, %v, overran %v", got, err, g.overran())
	}
}

// After surplus bytes of a server, the connection is not reused.
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

// The guard returns the bytes of the server, however they are cut into segments, and detects the end of the answer.
func FuzzGuard(f *testing.F) {
	f.Add("Content-Length: 5\r\n", "hello", "", byte(3))
	f.Add("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n", "", byte(1))
	f.Add("Content-Length: 2\nX: y\n", "hello", "extra", byte(200))
	f.Add("", "until close", "", byte(7))
	f.Fuzz(func(t *testing.T, fields, body, extra string, cut byte) {
		stream := "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n" + fields + "\r\n" + body + extra
		g := newGuard(&segments{data: []byte(stream), size: int(cut)%64 + 1})
		g.expect()
		if _, err := g.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(readOnly{g})
		switch {
		case err == errTwoFramings:
			lower := strings.ToLower(fields + body + extra)
			if !strings.Contains(lower, "transfer-encoding") || !strings.Contains(lower, "content-length") {
				t.Errorf("two framings in %q", stream)
			}
			return
		case err == errSpaced:
			return
		case err != nil:
			t.Fatal(err)
		case !strings.HasPrefix(stream, string(got)):
			t.Fatalf("got %q of %q", got, stream)
		}
		resp, err := readAnswer(got)
		oracle, oracleErr := readAnswer([]byte(stream))
		if (err == nil) != (oracleErr == nil) || !bytes.Equal(resp, oracle) {
			t.Errorf("through the guard: %q, %v; without: %q, %v", resp, err, oracle, oracleErr)
		}
	})
}

// readAnswer parses a stream with one informational answer with net/http.
func readAnswer(stream []byte) ([]byte, error) {
	_, stream, _ = bytes.Cut(stream, []byte("\r\n\r\n"))
	resp, err := http.ReadResponse(newReader(stream), nil)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(resp.Body)
}
