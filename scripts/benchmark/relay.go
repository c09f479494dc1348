//go:build linux

package main

import (
	"io"
	"net"
	"sync"
	"time"
)

// A relay forwards to a server over a simulated link, whose rate all connections share. (nginx's own limit restarts
// with each request and allows a burst of a second.) After a number of bytes toward the client it goes silent:
// connections stay open and new ones are accepted, but no bytes come, as from a mirror with a hung disk or uplink.
type relay struct {
	l       net.Listener
	backend string
	rate    int64 // bytes per second

	mu     sync.Mutex
	closed bool
	left   int64 // bytes until the silence
	silent bool
	free   time.Time // when the link is idle again
	conns  []net.Conn
	wg     sync.WaitGroup
}

// startRelay starts a relay that goes silent after n bytes, or never if n is 0.
func startRelay(backend string, rate, n int64) (*relay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &relay{l: l, backend: backend, rate: rate, left: n}
	if n == 0 {
		r.left = 1 << 62
	}
	r.wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			r.wg.Go(func() { r.serve(client) })
		}
	})
	return r, nil
}

func (r *relay) addr() string { return r.l.Addr().String() }

func (r *relay) serve(client net.Conn) {
	if !r.keep(client) {
		return
	}
	server, err := net.Dial("tcp", r.backend)
	if err != nil {
		client.Close()
		return
	}
	if !r.keep(server) {
		return
	}
	// Bytes in buffers are no longer subject to the rate.
	client.(*net.TCPConn).SetWriteBuffer(64 << 10)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		io.Copy(server, client)
		server.Close()
	})
	if r.copy(client, server) {
		client.Close()
	}
}

// copy forwards from server to client, and reports whether it ended for a reason other than the silence.
func (r *relay) copy(client io.Writer, server io.Reader) bool {
	buf := make([]byte, 16<<10)
	for {
		n, err := server.Read(buf)
		wait, ok := r.take(int64(n))
		if !ok {
			return false
		}
		time.Sleep(wait)
		if _, werr := client.Write(buf[:n]); werr != nil || err != nil {
			return true
		}
	}
}

// take counts n bytes. It returns the time until the link has sent them, and reports whether they may be sent.
func (r *relay) take(n int64) (wait time.Duration, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left -= n
	r.silent = r.silent || r.left < 0
	// A link that was idle has no credit; one that is a moment late, because the machine is busy, catches up.
	now := time.Now()
	if r.free.Before(now.Add(-50 * time.Millisecond)) {
		r.free = now
	}
	r.free = r.free.Add(time.Duration(n * int64(time.Second) / r.rate))
	return r.free.Sub(now), !r.silent
}

// keep remembers c for close. After close it closes c at once and reports false.
func (r *relay) keep(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		c.Close()
		return false
	}
	r.conns = append(r.conns, c)
	return true
}

func (r *relay) close() {
	r.l.Close()
	r.mu.Lock()
	r.closed = true
	for _, c := range r.conns {
		c.Close()
	}
	r.mu.Unlock()
	r.wg.Wait()
}
