package httpsource

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync"
	"time"

	"braid/address"
)

const (
	maxInformational = 20   // answers of status 1xx before the answer (rule 20)
	maxFields        = 4000 // of a header section (rule 20)

	// A rest of a body up to maxDrain is read, within drainTime, to keep the connection. Anything longer is
	// not worth it: the connection is closed.
	maxDrain  = 16 << 10
	drainTime = 200 * time.Millisecond

	// closeTime is how long a connection may take to close before it is left to itself.
	closeTime = time.Second
)

// Limits of rule 20.
var (
	errManyInformational = errors.New("more than 20 informational answers")
	errManyFields        = errors.New("more than 4000 header fields")
)

// An exchange is one request and its answer.
type exchange struct {
	resp   *http.Response
	from   address.Scope // where the server is
	conn   *guard        // nil if it is not one of ours
	rtt    time.Duration
	cancel context.CancelFunc
	ended  bool // the answer was read to its end; the connection may serve another request
}

// exchange sends req, which may lead to s, and reads the head of the answer. The error is that of the transport.
func (c *Client) exchange(req *http.Request, named bool, s address.Scope) (*exchange, error) {
	w, err := c.way(req, s)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(w.context(req.Context()))
	t := trace{dialed: map[string]time.Time{}}
	req = req.WithContext(httptrace.WithClientTrace(ctx, t.hooks()))
	resp, err := c.transport(req.URL, named).RoundTrip(req)
	if err != nil {
		cancel()
		if conn, _ := t.result(false); conn != nil && conn.endedInHead() {
			err = fmt.Errorf("header section: %w (%w)", io.ErrUnexpectedEOF, err) // net/http blames the half line
		}
		return nil, err
	}
	x := &exchange{resp: resp, from: w.from(), cancel: cancel, ended: resp.Body == http.NoBody}
	x.conn, x.rtt = t.result(w.direct)
	if fields(resp.Header) > maxFields {
		x.close()
		return nil, errManyFields
	}
	return x, nil
}

func fields(h http.Header) (n int) {
	for _, values := range h {
		n += len(values)
	}
	return n
}

// Read reads the body.
func (x *exchange) Read(p []byte) (int, error) {
	n, err := x.resp.Body.Read(p)
	if err == io.EOF {
		x.ended = true
	}
	return n, err
}

// finish ends an exchange whose body nobody wants, if there is one.
func (x *exchange) finish() { x.leave(max(0, x.resp.ContentLength)) }

// leave ends an exchange with rest bytes to come, below zero if that is not known. A few bytes are read, which
// is cheaper than a new connection.
func (x *exchange) leave(rest int64) {
	if !x.ended && 0 <= rest && rest <= maxDrain && x.resp.StatusCode >= 200 {
		timer := time.AfterFunc(drainTime, x.cancel)
		io.CopyN(io.Discard, x, maxDrain+1) // whatever goes wrong, the connection is closed
		timer.Stop()
	}
	x.close()
}

// close ends an exchange. Unless the body was read to its end, the connection is closed when close returns:
// the next request to that host is then not a second one at the same time (C7, rule 38).
func (x *exchange) close() {
	x.cancel()
	x.resp.Body.Close() // there is nothing that an error would change
	if x.ended || x.conn == nil {
		return
	}
	timer := time.NewTimer(closeTime)
	defer timer.Stop()
	select {
	case <-x.conn.closed:
	case <-timer.C:
	}
}

// A trace measures the round-trip time of an exchange, and remembers its connection. Its hooks are called
// by several goroutines, also after the exchange.
type trace struct {
	mu            sync.Mutex
	dialed        map[string]time.Time // when, by address
	connect       time.Duration        // the time that a connect took
	reused        bool
	wrote, heard  time.Time
	conn          *guard
	informational int
}

func (t *trace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		ConnectStart: func(_, addr string) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.dialed[addr] = time.Now()
		},
		ConnectDone: func(_, addr string, err error) {
			t.mu.Lock()
			defer t.mu.Unlock()
			if err == nil {
				t.connect = time.Since(t.dialed[addr])
			}
		},
		GotConn: func(info httptrace.GotConnInfo) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.reused, t.conn = info.Reused, guardOf(info.Conn)
			if t.conn != nil && info.Conn == net.Conn(t.conn) { // else it is below TLS: a tunnel
				t.conn.expect()
			}
		},
		WroteRequest: func(httptrace.WroteRequestInfo) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.wrote = time.Now()
		},
		GotFirstResponseByte: func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.heard = time.Now()
		},
		Got1xxResponse: t.got1xx,
	}
}

func (t *trace) got1xx(int, textproto.MIMEHeader) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.informational++; t.informational > maxInformational {
		return errManyInformational
	}
	return nil
}

// result gives the connection and the round-trip time: that of the connect, if this exchange made the
// connection and no proxy is in between; else that from request to first byte, which has the server's
// thinking in it.
func (t *trace) result(direct bool) (*guard, time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if direct && !t.reused && t.connect > 0 {
		return t.conn, t.connect
	}
	if t.wrote.IsZero() || t.heard.Before(t.wrote) {
		return t.conn, 0
	}
	return t.conn, t.heard.Sub(t.wrote)
}

// guardOf finds our connection, which in a tunnel is below TLS.
func guardOf(conn any) *guard {
	if c, ok := conn.(*tls.Conn); ok {
		conn = c.NetConn()
	}
	g, _ := conn.(*guard)
	return g
}
