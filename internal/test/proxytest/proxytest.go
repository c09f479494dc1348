// Package proxytest provides a real proxy on loopback for tests. On one port it supports HTTP requests, HTTP tunnels
// (CONNECT), and SOCKS5 (RFC 1928, RFC 1929).
//
// It never leaves loopback: for every name or address it connects to 127.0.0.1 at the requested port.
package proxytest

import (
	"bufio"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Server is a proxy.
type Server struct {
	Addr string // host:port

	listener net.Listener
	user     *url.Userinfo
	wg       sync.WaitGroup

	mu    sync.Mutex
	asked []string
	conns map[net.Conn]bool
}

// New starts a proxy that is stopped at the end of the test. If user is not nil, the proxy requires that name and
// password.
func New(t testing.TB, user *url.Userinfo) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("proxytest: %v", err)
	}
	s := &Server{Addr: l.Addr().String(), listener: l, user: user, conns: map[net.Conn]bool{}}
	s.wg.Go(s.accept)
	t.Cleanup(s.close)
	return s
}

// URL returns the URL of the proxy, with its name and password.
func (s *Server) URL(scheme string) *url.URL {
	return &url.URL{Scheme: scheme, User: s.user, Host: s.Addr}
}

// Asked returns the servers that clients asked for, as "host:port".
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *Server) close() {
	s.listener.Close()
	s.mu.Lock()
	for c := range s.conns {
		c.Close()
	}
	s.conns = nil
	s.mu.Unlock()
	s.wg.Wait()
}

// hold registers a connection to be closed at the end. It returns false if the proxy has ended.
func (s *Server) hold(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		c.Close()
		return false
	}
	s.conns[c] = true
	return true
}

func (s *Server) drop(c net.Conn) {
	c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil || !s.hold(c) {
			return
		}
		s.wg.Go(func() {
			defer s.drop(c)
			r := bufio.NewReader(c)
			if first, err := r.Peek(1); err == nil && first[0] == 5 {
				s.socks(c, r)
			} else if err == nil {
				s.web(c, r)
			}
		})
	}
}

// connect connects to the target of a client, on loopback.
func (s *Server) connect(target string) (net.Conn, error) {
	s.mu.Lock()
	s.asked = append(s.asked, target)
	s.mu.Unlock()
	_, port, err := net.SplitHostPort(target)
	if err != nil {
		return nil, err
	}
	to, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err == nil && !s.hold(to) {
		err = net.ErrClosed
	}
	return to, err
}

// relay copies in both directions until one side ends.
func (s *Server) relay(c net.Conn, r io.Reader, to net.Conn) {
	defer s.drop(to)
	s.wg.Go(func() {
		io.Copy(to, r)
		s.drop(to)
	})
	io.Copy(c, to)
}

// web serves an HTTP connection: a tunnel, or a sequence of requests.
func (s *Server) web(c net.Conn, r *bufio.Reader) {
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if s.user != nil && req.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(s.user.String())) {
			io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=proxy\r\nContent-Length: 0\r\n\r\n")
			continue
		}
		if req.Method == http.MethodConnect {
			to, err := s.connect(req.Host)
			if err != nil {
				io.WriteString(c, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
				continue
			}
			io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			s.relay(c, r, to)
			return
		}
		if !s.forward(c, req) {
			return
		}
	}
}

// forward forwards a request. It reports whether another request may follow.
func (s *Server) forward(c net.Conn, req *http.Request) bool {
	host := req.URL.Host
	if req.URL.Port() == "" {
		host = net.JoinHostPort(req.URL.Hostname(), "80")
	}
	to, err := s.connect(host)
	if err != nil {
		io.WriteString(c, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
		return true
	}
	defer s.drop(to)
	req.Header.Del("Proxy-Authorization")
	if req.Write(to) != nil {
		return false
	}
	resp, err := http.ReadResponse(bufio.NewReader(to), req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.Write(c) == nil && !resp.Close
}

// socks serves a SOCKS5 connection.
func (s *Server) socks(c net.Conn, r *bufio.Reader) {
	if !s.greet(c, r) {
		return
	}
	target, ok := readTarget(r)
	if !ok {
		return
	}
	to, err := s.connect(target)
	if err != nil {
		c.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0}) // connection refused
		return
	}
	c.Write([]byte{5, 0, 0, 1, 127, 0, 0, 1, 0, 0})
	s.relay(c, r, to)
}

// greet negotiates the authentication method (RFC 1928, section 3) and checks the user's name and password (RFC 1929).
func (s *Server) greet(c net.Conn, r *bufio.Reader) bool {
	methods, ok := take(r, 1)
	if ok {
		methods, ok = counted(r)
	}
	want := byte(0)
	if s.user != nil {
		want = 2
	}
	if !ok || !slices.Contains(methods, want) {
		c.Write([]byte{5, 0xff})
		return false
	}
	c.Write([]byte{5, want})
	if want == 0 {
		return true
	}
	take(r, 1)
	name, _ := counted(r)
	password, _ := counted(r)
	known, _ := s.user.Password()
	if string(name) != s.user.Username() || string(password) != known {
		c.Write([]byte{1, 1})
		return false
	}
	c.Write([]byte{1, 0})
	return true
}

// readTarget reads a CONNECT request (RFC 1928, section 4).
func readTarget(r *bufio.Reader) (target string, ok bool) {
	head, ok := take(r, 4)
	if !ok || head[1] != 1 {
		return "", false
	}
	var host []byte
	switch head[3] {
	case 1:
		host, ok = take(r, 4)
		host = []byte(net.IP(host).String())
	case 3:
		host, ok = counted(r)
	case 4:
		host, ok = take(r, 16)
		host = []byte(net.IP(host).String())
	}
	port, more := take(r, 2)
	if !ok || !more {
		return "", false
	}
	return net.JoinHostPort(strings.ToLower(string(host)), strconv.Itoa(int(port[0])<<8|int(port[1]))), true
}

func take(r *bufio.Reader, n int) ([]byte, bool) {
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err == nil
}

// counted reads a number and then as many bytes.
func counted(r *bufio.Reader) ([]byte, bool) {
	n, ok := take(r, 1)
	if !ok {
		return nil, false
	}
	return take(r, int(n[0]))
}
