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
	maxInformational = 20   // answers with status 1xx before the final answer (rule 20)
	maxFields        = 4000 // of a header section (rule 20)

	// The rest of a body is read to keep the connection if it has at most maxDrain bytes and arrives within drainTime.
	// Otherwise the connection is closed.
	maxDrain  = 16 << 10
	drainTime = 200 * time.Millisecond

	// closeTime is how long Close waits for a connection to close.
	closeTime = time.Second
)

// Errors about the limits of rule 20.
var (
	errManyInformational = &AnswerError{"more than 20 informational answers", true}
	errManyFields        = &AnswerError{"more than 4000 header fields", true}
)

// Exchange is one request and its answer. Its Read method reads the body. One of Finish, Leave and Close must be called
// at the end.
type Exchange struct {
	*http.Response
	From   address.Scope // network scope of the server
	RTT    time.Duration // round-trip time; zero if unknown
	conn   *guard        // nil if another package made the connection
	cancel context.CancelFunc
	ended  bool   // the answer was read to its end, so that the connection can serve another request
	said   *login // login that the request sent
}

// Told reports whether the request had an Authorization field.
func (x *Exchange) Told() bool {
	return x.Request != nil && x.Request.Header.Get("Authorization") != ""
}

// exchange sends req with the given RoundTripper, and reads the header section of the answer. Its error is an error of
// the RoundTripper, or errManyFields.
func (w *route) exchange(ctx context.Context, req *http.Request, through http.RoundTripper) (*Exchange, error) {
	ctx, cancel := context.WithCancel(ctx)
	t := trace{dialed: map[string]time.Time{}}
	req = req.WithContext(w.context(ctx, t.hooks()))
	resp, err := through.RoundTrip(req)
	if err != nil {
		cancel()
		if conn, _ := t.result(false); conn != nil && conn.endedInHead() {
			// net/http reports only that a line is incomplete.
			err = fmt.Errorf("header section: %w (%w)", io.ErrUnexpectedEOF, err)
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

// Finish ends an exchange that does not need the body.
func (x *Exchange) Finish() { x.Leave(max(0, x.ContentLength)) }

// Leave ends an exchange before the end of the body. rest is the number of bytes still to come, negative if unknown.
// Leave reads a short rest, because that is cheaper than a new connection.
func (x *Exchange) Leave(rest int64) {
	if !x.ended && 0 <= rest && rest <= maxDrain && x.StatusCode >= 200 {
		timer := time.AfterFunc(drainTime, x.cancel)
		io.CopyN(io.Discard, x, maxDrain+1) // an error closes the connection
		timer.Stop()
	}
	x.Close()
}

// Close ends an exchange. Unless the body was read to its end, Close waits until the connection is closed, so that the
// next request to the host does not open another connection meanwhile.
func (x *Exchange) Close() {
	x.cancel()
	x.Body.Close() // the error makes no difference
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

// ErrLonger and ErrCut report a body that looks complete but is not intact.
var (
	ErrLonger = errors.New("the body is longer than announced")
	ErrCut    = errors.New("the body ends without close_notify")
)

// Complete returns an error if the body, which was read to its end, is too long or truncated. sized states whether its
// length was announced. Without that, only the close_notify of TLS shows that the body was not truncated.
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

// trace records the connection of an exchange and measures its round-trip time. Its hooks may be called from several
// goroutines, and after the exchange.
type trace struct {
	mu            sync.Mutex
	dialed        map[string]time.Time // by address: start of the connect
	connect       time.Duration        // duration of the connect
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
			if t.conn != nil && info.Conn == net.Conn(t.conn) { // otherwise the guard is below TLS: a tunnel
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

// result returns the connection and the round-trip time. If this exchange made a direct connection, the round-trip time
// is the duration of the connect. Otherwise it is the time from the request to the first byte, which includes the
// server's processing time.
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

// guardOf returns the guard of a connection. In a tunnel the guard is below TLS.
func guardOf(conn any) *guard {
	if c, ok := conn.(*tls.Conn); ok {
		conn = c.NetConn()
	}
	g, _ := conn.(*guard)
	return g
}
