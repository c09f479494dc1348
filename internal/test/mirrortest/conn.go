package mirrortest

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
)

// conn is one connection. It handles requests one after the other and does not support pipelining, which the tested
// clients do not use.
type conn struct {
	s      *Server
	raw    net.Conn
	stream net.Conn // raw, or TLS over raw
	number int

	ctx    context.Context // ends with the connection, whichever side closes it
	cancel context.CancelFunc
}

// drop closes the connection without the close_notify of TLS.
func (c *conn) drop() {
	c.cancel()
	c.raw.Close()
}

// abandoned reports whether the client has closed the connection.
func (c *conn) abandoned() bool {
	// Under TLS, data that arrives while an answer is being sent can only be the client's close_notify.
	return c.ctx.Err() != nil || gone(c.raw, c.s.tls != nil)
}

// serve answers requests until either side closes the connection.
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
			io.WriteString(c.stream, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n") // it may have left
			return
		}
		if !c.serveOne(in, req) {
			return
		}
	}
}

// serveOne answers req. Meanwhile a goroutine cancels c.ctx when the client closes the connection. serveOne reports
// whether another request may follow.
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

// ending is the state of the connection after an answer.
type ending int

const (
	endOpen     ending = iota // another request may follow
	endPolitely               // closed, under TLS with close_notify
	endRudely                 // closed without close_notify
	endReset                  // reset
)
