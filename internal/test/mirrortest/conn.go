package mirrortest

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
)

// A conn is one connection. Its requests come one after the other; pipelining is not for the clients that
// are tested here.
type conn struct {
	s      *Server
	raw    net.Conn
	stream net.Conn // raw, or TLS over it
	number int

	ctx    context.Context // ends with the connection, on whichever side
	cancel context.CancelFunc
}

// drop closes the connection without a word, not even the close_notify of TLS.
func (c *conn) drop() {
	c.cancel()
	c.raw.Close()
}

// abandoned says that the client has closed the connection.
func (c *conn) abandoned() bool {
	// Under TLS what waits to be read while an answer is being sent can only be the client's close_notify.
	return c.ctx.Err() != nil || gone(c.raw, c.s.tls != nil)
}

// serve answers requests until one side has enough.
func (c *conn) serve() {
	defer func() {
		c.drop()
		c.s.mu.Lock()
		delete(c.s.conns, c)
		c.s.mu.Unlock()
	}()
	in := bufio.NewReader(c.stream)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			io.WriteString(c.stream, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n") // if anybody is there
			return
		}
		if !c.serveOne(in, req) {
			return
		}
	}
}

// serveOne answers req. Meanwhile a goroutine watches for the client closing the connection, which ends c.ctx.
// It says whether another request may follow.
func (c *conn) serveOne(in *bufio.Reader, req *http.Request) (more bool) {
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if _, err := in.Peek(1); err != nil {
			c.cancel()
		}
	}()
	r := c.s.begin(c, req)
	end := c.answer(req, r)
	switch end {
	case endPolitely:
		c.stream.Close()
	case endRudely:
		c.drop()
	case endReset:
		if tcp, ok := c.raw.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
		c.drop()
	}
	<-watched // until the next request or the end of the connection
	return end == endOpen && c.ctx.Err() == nil
}

// An ending says what becomes of the connection after an answer.
type ending int

const (
	endOpen     ending = iota // another request may follow
	endPolitely               // closed, under TLS with close_notify
	endRudely                 // closed without
	endReset                  // by a TCP reset
)
