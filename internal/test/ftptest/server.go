// Package ftptest provides real FTP servers on loopback that misbehave on request. It must be imported only by tests.
//
// A server has one file. It supports the commands that are needed to fetch it: login, AUTH TLS, SIZE, MDTM, EPSV, PASV,
// REST and RETR. Without options it is a good mirror.
//
//	s := ftptest.New(t, content, ftptest.EndAfter(1000))
//	get(s.URL)
//	s.Set(ftptest.EndAfter(-1)) // applies to running transfers, too
//
// It is not a complete server: it has no folders, and at most one user. Behavior without an option of its own can be
// written with Reply.
package ftptest

import (
	"crypto/tls"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"braid/internal/test/ports"
)

// Content is the file.
type Content interface {
	io.ReaderAt
	Size() int64
}

// Server is an FTP mirror.
type Server struct {
	URL  string // of the file
	Addr string // host:port

	content  Content
	listener net.Listener
	running  sync.WaitGroup // the accepting goroutine and the sessions

	mu       sync.Mutex
	options  []Option
	conns    map[io.Closer]bool
	down     bool
	accepted int // number of control connections
	resumed  int // number of data connections that resumed the TLS session of the control connection
	open     int // number of running transfers
	most     int // maximum of open
	sent     int64
	commands []string
}

// New starts a server for content. It is stopped at the end of the test.
func New(t testing.TB, content Content, options ...Option) *Server {
	t.Helper()
	s := &Server{content: content, options: options, conns: map[io.Closer]bool{}}
	b := s.behave()
	ln, hold, err := ports.Listen(b.ip())
	if err != nil {
		t.Fatalf("ftptest: %v", err)
	}
	t.Cleanup(func() { hold.Close() })
	s.listener, s.Addr = ln, ln.Addr().String()
	scheme := "ftp"
	if b.tls != nil {
		scheme = "ftps"
	}
	s.URL = scheme + "://" + s.Addr + (&url.URL{Path: "/" + b.name}).EscapedPath()
	s.running.Go(s.accept)
	t.Cleanup(s.end)
	return s
}

// Set adds options.
func (s *Server) Set(options ...Option) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options = slices.Concat(s.options, options)
}

// Commands returns all received commands, in order.
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands)
}

// Asked returns the number of commands that begin with a word.
func (s *Server) Asked(word string) (n int) {
	for _, c := range s.Commands() {
		if c == word || strings.HasPrefix(c, word+" ") {
			n++
		}
	}
	return n
}

// Connections returns the number of accepted control connections.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// MaxConcurrent returns the maximum of concurrent transfers.
func (s *Server) MaxConcurrent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// Transfers returns the number of running transfers.
func (s *Server) Transfers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Sent returns the number of content bytes sent.
func (s *Server) Sent() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// Resumed returns the number of data connections that resumed a TLS session.
func (s *Server) Resumed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resumed
}

// Drop closes all connections, as a server does with idle ones.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
}

// Die closes the listener and all connections, as if the process of the server ended.
func (s *Server) Die() {
	s.mu.Lock()
	s.down = true
	s.mu.Unlock()
	s.listener.Close()
	s.Drop()
}

func (s *Server) end() {
	s.Die()
	s.running.Wait()
}

func (s *Server) behave() behaviour {
	s.mu.Lock()
	options := s.options // copied: their conditions may call methods of the server
	s.mu.Unlock()
	b := defaults()
	b.content = s.content
	for _, option := range options {
		option(&b)
	}
	return b
}

func (s *Server) accept() {
	for {
		raw, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.accepted++
		s.mu.Unlock()
		if s.hold(raw) {
			s.running.Go(func() { newSession(s, raw).serve() })
		}
	}
}

// hold registers c to be closed when the server ends. It returns false if the server has ended.
func (s *Server) hold(c io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		c.Close()
		return false
	}
	s.conns[c] = true
	return true
}

func (s *Server) release(c io.Closer) {
	c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

func (s *Server) note(command string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands = append(s.commands, command)
}

// transfer changes the number of running transfers.
func (s *Server) transfer(change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += change
	s.most = max(s.most, s.open)
}

func (s *Server) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent += int64(n)
}

func (s *Server) noteTLS(c *tls.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.ConnectionState().DidResume {
		s.resumed++
	}
}
