package web

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
	errManyInformational = &AnswerError{"more than 20 informational answers", true}
	errManyFields        = &AnswerError{"more than 4000 header fields", true}
)

// An Exchange is one request and its answer, of which it reads the body. One of Finish, Leave and Close ends it.
type Exchange struct {
	*http.Response
	From   address.Scope // where the server is
	RTT    time.Duration // zero if it is not known
	conn   *guard        // nil if it is not one of ours
	cancel context.CancelFunc
	ended  bool   // the answer was read to its end; the connection may serve another request
	said   *login // who we are, as the request said
}

// Told reports whether the request said who we are.
func (x *Exchange) Told() bool {
	return x.Request != nil && x.Request.Header.Get("Authorization") != ""
}

// exchange sends req through a transport and reads the head of the answer. The error is that of the transport.
func (w *route) exchange(req *http.Request, through http.RoundTripper) (*Exchange, error) {
	ctx, cancel := context.WithCancel(w.context(req.Context()))
	t := trace{dialed: map[string]time.Time{}}
	req = req.WithContext(httptrace.WithClientTrace(ctx, t.hooks()))
	resp, err := through.RoundTrip(req)
	if err != nil {
		cancel()
		if conn, _ := t.result(false); conn != nil && conn.endedInHead() {
			err = fmt.Errorf("header section: %w (%w)", io.ErrUnexpectedEOF, err) // net/http blames the half line
		}
		return nil, err
	}
	x := &Exchange{Response: resp, From: w.server(), cancel: cancel, ended: resp.Body == http.NoBody}
	x.conn, x.RTT = t.result(w.proxy == nil)
	if fields(resp.Header) > maxFields {
		x.Close()
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
func (x *Exchange) Read(p []byte) (int, error) {
	n, err := x.Body.Read(p)
	if err == io.EOF {
		x.ended = true
	}
	return n, err
}

// Finish ends an exchange whose body is not wanted, if there is one.
func (x *Exchange) Finish() { x.Leave(max(0, x.ContentLength)) }

// Leave ends an exchange with rest bytes to come, below zero if that is not known. A few bytes are read, which
// is cheaper than a new connection.
func (x *Exchange) Leave(rest int64) {
	if !x.ended && 0 <= rest && rest <= maxDrain && x.StatusCode >= 200 {
		timer := time.AfterFunc(drainTime, x.cancel)
		io.CopyN(io.Discard, x, maxDrain+1) // whatever goes wrong, the connection is closed
		timer.Stop()
	}
	x.Close()
}

// Close ends an exchange. Unless the body was read to its end, the connection is closed when close returns:
// the next request to that host is then not a second one at the same time.
func (x *Exchange) Close() {
	x.cancel()
	x.Body.Close() // there is nothing that an error would change
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

// ErrLonger and ErrCut are what may be wrong with a body that looks complete.
var (
	ErrLonger = errors.New("the body is longer than announced")
	ErrCut    = errors.New("the body ends without close_notify")
)

// Complete returns an error if a body that came to its end is not all, or more. Sized says that its length was known.
// If it was not, only the close_notify of TLS says that the stream was not cut.
func (x *Exchange) Complete(sized bool) error {
	switch {
	case x.conn == nil:
		return nil
	case x.conn.overran():
		return ErrLonger
	case x.Request.URL.Scheme == "https" && !sized && len(x.TransferEncoding) == 0 && x.conn.truncated():
		return ErrCut
	}
	return nil
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
