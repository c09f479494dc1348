// Package ftptest has real FTP servers on loopback that misbehave on request. It is imported by tests only.
//
// A server has one file. It knows what clients need to fetch it: login, AUTH TLS, SIZE, MDTM, EPSV, PASV, REST, RETR. Left
// alone it is a good mirror.
//
//	s := ftptest.New(t, content, ftptest.EndAfter(1000))
//	get(s.URL)
//	s.Set(ftptest.EndAfter(-1)) // also for transfers that are under way
//
// It refuses to be a real server: there are no folders and no users but one. What no option makes is written with Reply.
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

// A Content is the file.
type Content interface {
	io.ReaderAt
	Size() int64
}

// A Server is a mirror.
type Server struct {
	URL  string // of the file
	Addr string // host:port

	content  Content
	listener net.Listener
	running  sync.WaitGroup // the accepting goroutine and those of sessions

	mu       sync.Mutex
	options  []Option
	conns    map[io.Closer]bool
	down     bool
	accepted int // control connections
	resumed  int // data connections whose TLS went on where that of the control connection was
	open     int // transfers that are under way
	most     int // of them, at one time
	sent     int64
	commands []string
}

// New starts a server that has content. It ends with the test.
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

// Commands are all commands that came, in order.
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands)
}

// Asked counts the commands that begin with a word.
func (s *Server) Asked(word string) (n int) {
	for _, c := range s.Commands() {
		if c == word || strings.HasPrefix(c, word+" ") {
			n++
		}
	}
	return n
}

// Connections counts the control connections that were made.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// MaxConcurrent is how many transfers there were at one time.
func (s *Server) MaxConcurrent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// Transfers is how many there are now.
func (s *Server) Transfers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Sent counts the bytes of data that were sent.
func (s *Server) Sent() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// Resumed counts the data connections that resumed a TLS session.
func (s *Server) Resumed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resumed
}

// Drop closes all connections, as a server does that had enough of idle ones.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
}

// Die closes the listener and all connections, as a server does whose process ends.
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
	options := s.options // conditions among them may ask the server
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

// hold lets the server close c when it ends. It says no when it has.
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

// transfer counts the transfers that are under way.
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
