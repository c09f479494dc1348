package ftpsource

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"braid/address"
	"braid/byterange"
	"braid/metalink"
	"braid/source"
)

// A Source is the file at one URL.
type Source struct {
	client  *Client
	url     *url.URL // without user info and fragment
	path    string
	wrong   error // why the URL cannot be requested, or nil
	account account
	policy  address.Policy

	older    atomic.Bool // the ports of EPSV cannot be reached
	modified atomic.Pointer[time.Time]
}

// Source makes a source of the file at u.
func (c *Client) Source(u *url.URL, o Options) *Source {
	u = address.URL(u)
	p := *u
	p.User, p.Fragment, p.RawFragment = nil, "", ""
	s := &Source{client: c, url: &p, policy: c.policy(u.Hostname(), o.Named)}
	s.policy.Not = o.Not
	s.path, s.wrong = pathOf(u)
	s.account = account{
		scheme: u.Scheme, host: source.HostPort(u), name: u.Hostname(), known: !o.Mirror,
		user: anonymous, password: anonymousPassword,
	}
	if user := c.userinfo(u, o); user != nil {
		s.account.user, s.account.password = user.Username(), passwordOf(user)
	}
	if breaksLines(s.account.user + s.account.password) {
		s.wrong = errControl
	}
	return s
}

// userinfo returns the name and password for u, or nil for anonymous.
func (c *Client) userinfo(u *url.URL, o Options) *url.Userinfo {
	_, known := u.User.Password()
	switch {
	case o.Mirror:
		return nil
	case o.User != nil:
		return o.User
	case !known && c.Credentials != nil:
		return cmp.Or(c.Credentials(u), u.User)
	}
	return u.User
}

// portTrips is the number of round trips of a range after the reply to SIZE: EPSV, the connection, REST and RETR.
const portTrips = 4

// Traits implements source.Source.
func (s *Source) Traits() source.Traits {
	return source.Traits{Align: 1, Trips: portTrips, InOrder: true}
}

// Fetch implements source.Source. The sink gets the answer before a data connection is opened.
//
// For r = [0, Unbounded), the answer is Ranged if the server is known to support other offsets. If a server does not
// support r.Start, the answer is the whole file from 0.
func (s *Source) Fetch(ctx context.Context, r byterange.Range, w source.Sink) error {
	if r.Empty() {
		return nil
	}
	if s.wrong != nil {
		return s.fail(source.FaultRefused, false, s.wrong)
	}
	for fresh := false; ; fresh = true {
		t, err := s.begin(ctx, fresh)
		if err == nil {
			err = t.run(r, w)
			again := !fresh && t.stale(err)
			t.inOrder = t.inOrder && !again
			t.end()
			if again {
				continue
			}
		}
		return s.judge(ctx, err)
	}
}

// begin takes an idle control connection. If there is none, or if fresh is set, it opens a connection.
func (s *Source) begin(ctx context.Context, fresh bool) (*transfer, error) {
	t := &transfer{s: s, ctx: ctx, leash: &leash{}}
	t.stop = context.AfterFunc(ctx, t.leash.pull)
	for !fresh && t.control == nil {
		k := s.client.take(s.account)
		if k == nil {
			break
		}
		if !k.proxied && s.policy.Check(k.peer) != nil { // it was opened under a less strict policy
			k.quit()
			continue
		}
		t.control, k.reused = k, true
		t.leash.hold(k.conn)
	}
	if t.control == nil {
		k, err := s.client.open(ctx, t.leash, s.account, s.policy)
		if err != nil {
			t.stop()
			return nil, err
		}
		t.control = k
	}
	if s.older.Load() {
		t.control.older = true
	}
	return t, nil
}

// A sinkError is an error of the sink, not of the server.
type sinkError struct{ err error }

func (e *sinkError) Error() string { return e.err.Error() }

// judge makes from err the error that Fetch returns.
func (s *Source) judge(ctx context.Context, err error) error {
	var sink *sinkError
	var done *source.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &sink):
		return sink.err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &done):
		return err
	}
	fault, retry := classify(err)
	return s.fail(fault, retry, err)
}

func (s *Source) fail(f source.Fault, retry bool, err error) *source.Error {
	return &source.Error{
		URL: source.Mask(s.url), Host: s.account.host, Fault: f, Retry: retry, Err: source.Plain(err),
		Told: f == source.FaultAuth && !s.account.anonymous(),
	}
}

// answer returns the answer from the facts known before the first byte.
func (s *Source) answer(k *control, size int64) source.Answer {
	a := source.Answer{
		Host: s.account.host, URL: s.url, RTT: k.rtt, End: size, Size: size,
		Hops: []metalink.Hop{{URL: s.url}},
	}
	if t := s.modified.Load(); t != nil {
		a.LastModified = *t
	}
	return a
}

// A leash closes the connections of a fetch once the context of the fetch is done.
type leash struct {
	mu    sync.Mutex
	conns []io.Closer
	cut   bool
}

func (l *leash) hold(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		c.Close()
		return
	}
	l.conns = append(l.conns, c)
}

func (l *leash) pull() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	for _, c := range l.conns {
		c.Close()
	}
}
