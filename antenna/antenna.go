// Package antenna keeps files up to date by what feeds say of them: it polls feeds politely, remembers what was handled, and
// hands updates to a handler, at least once each.
//
//	a := &antenna.Antenna{Feeds: feeds, Watches: watches, Store: store}
//	err := a.Watch(ctx, func(ctx context.Context, u antenna.Update) (antenna.Outcome, error) {
//		return download(ctx, u.URL, u.Last.ETag) // conditional, and verified by its own means
//	})
//
// A feed is a hint and never more: it marks a configured URL, and what is requested is that URL. The package refuses to
// download and to verify: that is for the handler.
package antenna

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"braid/address"
	"braid/antenna/feed"
	"braid/internal/fsys"
)

// An Antenna watches feeds. It is not changed after use, and used by one Watch or Once at a time.
type Antenna struct {
	Feeds   []Feed
	Watches []Watch
	// Store keeps what is known from one run to the next. If nil, nothing does.
	Store *Store
	// AllowHosts are internal hosts that feeds and redirects may name. Addresses in the URLs of feeds and watches always are.
	AllowHosts address.Hosts
	// Proxy chooses the proxy for a URL. If nil, the environment does, by the same variables as for a download.
	Proxy func(*url.URL) (*url.URL, error)
	// TLS says whom connections trust; nil is the system's word. TLSFor says so for servers that TLS is not for: a
	// "host:port", or a "host" with any port, in lower case. Their certificates are shown only to the servers that the
	// user named.
	TLS    *tls.Config
	TLSFor map[string]*tls.Config
	// Wrap puts something around the antenna's own connections, to count requests, say, to log, trace or sign them: it
	// gets what makes them and returns what is asked instead, which passes the context of requests on, follows no
	// redirects and decodes nothing. In each Watch and Once it is called once for each kind of connections: those that
	// show a certificate of TLS or TLSFor, and others.
	Wrap func(own http.RoundTripper) http.RoundTripper
	// Transport makes the requests in place of the antenna's own connections, as Wrap does not: in a test, say. Its addresses are
	// not checked then, how long it waits for a connection or a header section is its own matter, and Proxy is not asked.
	Transport http.RoundTripper
	// UserAgent is sent with requests, and AgentURL is where this antenna publishes, for Publish.
	UserAgent, AgentURL string

	// Polls is how many requests run at once. If zero, it is 32. One host has one at a time, and HostGap between two; if zero,
	// that is a second.
	Polls   int
	HostGap time.Duration
	// Handlers is how many updates are handled at once. If zero, it is 4.
	Handlers int
	// Round is how often what is known is written and published, if anything has changed. If zero, it is a minute.
	Round time.Duration

	// Wants reports whether an update is wanted without news, as the last one was handled by another configuration. It is
	// asked when a run begins, of the one URL of each watch that was handled before, and must not block. If nil, none is.
	Wants func(Update) bool
	// Judge says what an error is, of the handler or a *PollError. The code is kept with what failed and shown by
	// Status: an exit code, say. An update whose error lasts, as time alone does not mend it, comes again once a day in
	// the end. If nil, codes are 0 and no error lasts.
	Judge func(error) (code int, lasting bool)
	// Observe is told what happens, one event after the other. It must not block. It may be nil.
	Observe func(Event)
	// Hide takes secrets out of what errors say, before that is stored or shown: a server may send back what it was
	// told. If nil, nothing is taken out.
	Hide func(string) string
	// Publish gets what is known after each round in which it changed, and at the end; one call at a time. If nil,
	// nothing is published.
	Publish func(context.Context, feed.Snapshot) error

	files    fsys.FS // where antenna.lirs is; nil: that of the system. Tests have others.
	mu       sync.Mutex
	requests chan<- message // of the loop that runs
	ended    <-chan struct{}
}

// Watch polls until ctx ends and calls handle for each update. When ctx has ended and what is known is stored, it returns
// ctx.Err(), as Once does; another error is one of configuration or of the store.
func (a *Antenna) Watch(ctx context.Context, handle Handler) error {
	if err := a.run(ctx, handle, nil); err != nil {
		return err
	}
	return ctx.Err()
}

// Once is one round, for cron: it polls what is due, hands on what that brings and what is left of earlier rounds, and
// returns the errors of both, joined: each is a *PollError, a *HandleError, a *PublishError or of the store. With names
// of feeds or watches it is about these only, due or not: for a watch, its feeds are polled.
func (a *Antenna) Once(ctx context.Context, handle Handler, names ...string) error {
	r := &round{names: names}
	err := a.run(ctx, handle, r)
	return errors.Join(append(r.errs, err, ctx.Err())...)
}

// run is Watch, or Once if there is a round.
func (a *Antenna) run(ctx context.Context, handle Handler, r *round) error {
	l, cleanup, err := a.prepare(handle, r)
	if err != nil {
		return err
	}
	defer cleanup()
	requests, ended := make(chan message), make(chan struct{})
	a.mu.Lock()
	a.requests, a.ended = requests, ended
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.requests, a.ended = nil, nil
		a.mu.Unlock()
		close(ended)
	}()
	return l.run(ctx, requests)
}

// prepare makes a loop that knows what the store knows.
func (a *Antenna) prepare(handle Handler, r *round) (l *loop, cleanup func(), err error) {
	if l, err = a.newLoop(); err != nil {
		return nil, nil, err
	}
	l.handle, l.round = handle, r
	return l, l.poller.web.CloseIdle, (&loader{loop: l}).start(time.Now())
}

// A PollError says that a feed could not be polled. The URL is masked.
type PollError struct {
	Feed, URL string
	// Status is that of the server's answer; 0 if there was none.
	Status int
	Err    error
}

func (e *PollError) Error() string { return "feed " + e.Feed + ": " + e.Err.Error() }

func (e *PollError) Unwrap() error { return e.Err }

// A PublishError says that what is known could not be published, or that the cache beside the store could not be written.
type PublishError struct{ Err error }

func (e *PublishError) Error() string { return "publish: " + e.Err.Error() }

func (e *PublishError) Unwrap() error { return e.Err }

// A HandleError says that a handler did not acknowledge an update.
type HandleError struct {
	Watch, URL string
	Err        error
}

func (e *HandleError) Error() string { return "watch " + e.Watch + ": " + e.Err.Error() }

func (e *HandleError) Unwrap() error { return e.Err }
