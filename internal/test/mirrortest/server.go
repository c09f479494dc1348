// Package mirrortest provides real HTTP servers on loopback that misbehave on request. It must be imported only by
// tests.
//
// A server has one file. It implements HTTP/1.1 itself, over real sockets, so that it can send what net/http refuses to
// send: wrong lengths, missing chunks, endless header sections. Without options it is a good mirror, with ranges,
// validators and persistent connections.
//
//	s := mirrortest.New(t, body, mirrortest.IgnoreRange(), mirrortest.CutAfter(1000))
//	get(s.URL)
//	s.Set(mirrortest.CutAfter(-1)) // applies to answers that are being sent, too
//
// It is not a framework: an answer without an option of its own can be written with Handler or Raw.
package mirrortest

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"

	"braid/internal/test/ports"
	"braid/verify"
)

// Server is an HTTP mirror.
type Server struct {
	URL     string // of the file
	Addr    string // host:port
	Content Content

	// CertPEM is the self-signed certificate of a TLS server.
	CertPEM []byte

	t        testing.TB
	path     string      // of the file
	tls      *tls.Config // nil for plain HTTP
	listener net.Listener
	running  sync.WaitGroup // the accepting goroutine and the connections

	mu       sync.Mutex
	options  []Option
	changed  chan struct{} // closed by Set
	conns    map[*conn]bool
	accepted int
	down     bool
	sent     int64 // body bytes of all answers
	records  []*Request
	most     int // maximum of concurrent requests

	hashed sync.Once
	digest verify.Digest
}

// New starts a server for body, which must not be modified afterwards. It is stopped at the end of the test.
func New[B Body](t testing.TB, body B, options ...Option) *Server {
	t.Helper()
	s := &Server{
		Content: ContentOf(body), t: t, options: options,
		changed: make(chan struct{}), conns: map[*conn]bool{},
	}
	b := s.nature()
	ln, hold, err := ports.Listen(cmp.Or(b.host, "127.0.0.1"))
	if err != nil {
		t.Fatalf("mirrortest: %v", err)
	}
	t.Cleanup(func() { hold.Close() })
	s.Addr = ln.Addr().String()
	scheme := "http"
	if b.tls {
		scheme = "https"
		s.tls, s.CertPEM = Certify(t, b.certificate)
	}
	s.path = "/" + b.name
	s.URL = scheme + "://" + s.Addr + s.path
	s.listen(ln)
	t.Cleanup(s.end)
	return s
}

// Set adds options. They apply to later requests and, as far as possible, to answers that are being sent: rate, stall,
// cut, death and corruption.
func (s *Server) Set(options ...Option) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options = slices.Concat(s.options, options)
	close(s.changed)
	s.changed = make(chan struct{})
}

// Reset replaces all options except TLS and Name, which stay.
func (s *Server) Reset(options ...Option) {
	s.mu.Lock()
	s.options = nil
	s.mu.Unlock()
	s.Set(options...)
}

// Digest returns the SHA-256 of the file.
func (s *Server) Digest() verify.Digest {
	s.hashed.Do(func() { s.digest = s.Content.Digest() })
	return s.digest
}

// Die closes the listener and all connections, as if the process of the server ended. The address stays reserved.
func (s *Server) Die() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return
	}
	s.down = true
	s.listener.Close()
	for c := range s.conns {
		c.drop()
	}
}

// Revive makes a server that died listen again on its address.
func (s *Server) Revive() {
	s.t.Helper()
	s.running.Wait()
	ln, err := net.Listen("tcp", s.Addr)
	if err != nil {
		s.t.Fatalf("mirrortest: revive: %v", err)
	}
	s.listen(ln)
}

// end stops the server for good.
func (s *Server) end() {
	s.Die()
	s.running.Wait()
}

// listen accepts connections until the listener is closed.
func (s *Server) listen(ln net.Listener) {
	s.mu.Lock()
	s.listener, s.down = ln, false
	s.mu.Unlock()
	s.running.Go(func() {
		for {
			raw, err := ln.Accept()
			if err != nil {
				return
			}
			s.accept(raw)
		}
	})
}

func (s *Server) accept(raw net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		raw.Close()
		return
	}
	s.accepted++
	c := &conn{s: s, raw: raw, stream: raw, number: s.accepted}
	if s.tls != nil {
		c.stream = tls.Server(raw, s.tls)
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	s.conns[c] = true
	s.running.Go(c.serve)
}

// nature applies the options that do not depend on a request: name, address and TLS.
func (s *Server) nature() behaviour {
	b := defaults(nil, s)
	for _, option := range s.options {
		option(&b)
	}
	return b
}

// behave returns the behaviour for req. The channel changed is closed when the result is out of date.
func (s *Server) behave(req *http.Request) behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := defaults(req, s)
	for _, option := range s.options {
		option(&b)
	}
	b.changed = s.changed
	return b
}
