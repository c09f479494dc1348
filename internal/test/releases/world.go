// Package releases is a world of forges, registries and folders with releases, of which many publish digests as real ones
// do and some mislead. It shows how often braid finds the digest of a file, and what that costs.
//
// It must be imported only by tests.
package releases

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// A Part is the purpose of a request.
type Part int

const (
	TheFile  Part = iota // or a redirect to it
	Question             // to a forge or registry
	Listing              // of a folder
	Small                // a list, or a name that does not exist
	Hop                  // from a list to where it is delivered
)

// A page is an answer.
type page struct {
	part   Part
	body   string
	to     string // the URL of a redirect
	status int    // 0: OK
	header map[string]string
	media  string
}

// A World has all hosts behind one proxy.
type World struct {
	Proxy string // URL

	config  *tls.Config
	tunnels chan net.Conn
	pages   map[string]page
	soft    map[string]func(path string) page // for names that do not exist, by host

	mu    sync.Mutex
	asked []Asked
}

// An Asked is a request.
type Asked struct {
	Part Part
	At   string // host and path
}

// start starts the world. The caller stops it.
func (w *World) start(config *tls.Config) (stop func()) {
	w.config, w.tunnels = config, make(chan net.Conn)
	done := make(chan struct{})
	beyond := httptest.NewUnstartedServer(w)
	beyond.Listener.Close()
	beyond.Listener = &tunnels{w.tunnels, done}
	beyond.Config.ErrorLog = log.New(io.Discard, "", 0) // a killed or ended client closes connections early
	beyond.Start()
	proxy := httptest.NewServer(http.HandlerFunc(w.connect))
	w.Proxy = proxy.URL
	return func() {
		close(done)
		proxy.CloseClientConnections()
		proxy.Close()
		beyond.CloseClientConnections()
		beyond.Close()
	}
}

// connect is the proxy.
func (w *World) connect(rw http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		w.ServeHTTP(rw, r)
		return
	}
	conn, _, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		return
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		conn.Close()
		return
	}
	select {
	case w.tunnels <- tls.Server(conn, w.config):
	case <-time.After(time.Minute):
		conn.Close()
	}
}

// tunnels is a listener for the connections that come through the proxy.
type tunnels struct {
	conns <-chan net.Conn
	done  <-chan struct{}
}

func (l *tunnels) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *tunnels) Close() error   { return nil }
func (l *tunnels) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443} }

// ServeHTTP answers for all hosts.
func (w *World) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	at := r.Host + r.URL.EscapedPath()
	p, ok := w.pages[at]
	if !ok {
		if soft := w.soft[r.Host]; soft != nil {
			p = soft(r.URL.Path)
		} else {
			p = page{status: http.StatusNotFound, body: "<html><h1>404 Not Found</h1></html>", media: "text/html"}
		}
		if p.part = Small; strings.HasSuffix(at, "/") {
			p.part = Listing
		}
	}
	w.mu.Lock()
	w.asked = append(w.asked, Asked{p.part, at})
	w.mu.Unlock()
	for name, value := range p.header {
		rw.Header().Set(name, value)
	}
	switch {
	case p.to != "":
		http.Redirect(rw, r, p.to, http.StatusFound)
	case p.status != 0:
		rw.Header().Set("Content-Type", p.media)
		rw.WriteHeader(p.status)
		io.WriteString(rw, p.body)
	default:
		if p.media == "" {
			p.media = "application/octet-stream"
		}
		rw.Header().Set("Content-Type", p.media)
		if p.part == TheFile {
			rw.Header().Set("ETag", fmt.Sprintf(`"%d"`, len(p.body)))
		}
		http.ServeContent(rw, r, "", time.Time{}, bytes.NewReader([]byte(p.body)))
	}
}

// Take returns the requests since the last call.
func (w *World) Take() []Asked {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = nil
	return asked
}

// A Cost is the number of requests, without those for the file.
type Cost struct{ Questions, Listings, Small, Hops int }

// Count counts requests.
func Count(asked []Asked) (c Cost) {
	for _, a := range asked {
		switch a.Part {
		case Question:
			c.Questions++
		case Listing:
			c.Listings++
		case Small:
			c.Small++
		case Hop:
			c.Hops++
		}
	}
	return c
}
