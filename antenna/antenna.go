// Package antenna keeps files up to date with the help of feeds. It polls feeds politely, remembers which changes were
// handled, and passes updates to a handler, each at least once.
//
//	a := &antenna.Antenna{Feeds: feeds, Watches: watches, Store: store}
//	err := a.Watch(ctx, func(ctx context.Context, u antenna.Update) (antenna.Outcome, error) {
//		return download(ctx, u.URL, u.Last.ETag) // conditional, and verified by its own means
//	})
//
// A feed is only a hint. It selects a configured URL, and only that URL is requested. The package does not download or
// verify files. The handler does.
package antenna

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/url"
	"time"

	"braid/address"
	"braid/antenna/feed"
	"braid/internal/fsys"
)

// An Antenna watches feeds. It must not be changed after its first use. Only one Watch or Once may run at a time.
type Antenna struct {
	Feeds   []Feed
	Watches []Watch
	// Store keeps the state between runs. If nil, the state is lost at the end of a run.
	Store *Store
	// AllowHosts lists internal hosts to which the URLs of feeds and redirects may lead. Addresses in the URLs of Feeds
	// and Watches are always allowed.
	AllowHosts address.Hosts
	// Proxy returns the proxy for a URL. If nil, the environment variables for downloads are used.
	Proxy func(*url.URL) (*url.URL, error)
	// TLS configures connections. If nil, the defaults of the system apply. TLSFor has configurations for single
	// servers: a key is "host:port", or "host" for any port, in lower case. Client certificates are sent only to
	// servers that the user named.
	TLS    *tls.Config
	TLSFor map[string]*tls.Config
	// Wrap wraps the antenna's own transport, for example to count, log, trace or sign requests. The returned
	// RoundTripper must pass on the context of requests, and must not follow redirects or decode bodies. Each Watch and
	// Once calls Wrap once for connections with a client certificate of TLS or TLSFor, and once for other connections.
	Wrap func(own http.RoundTripper) http.RoundTripper
	// Transport replaces the antenna's own transport, for example in a test. With a Transport, the addresses of
	// connections are not checked, Proxy is not used, and only the Transport's own timeouts apply.
	Transport http.RoundTripper
	// UserAgent is sent with requests. AgentURL is the URL where this antenna publishes, for Publish.
	UserAgent, AgentURL string

	// Polls is the number of concurrent requests. If zero, it is 32. A host gets only one request at a time. HostGap is
	// the pause between two requests to a host. If zero, it is a second.
	Polls   int
	HostGap time.Duration
	// Handlers is the number of updates that are handled concurrently. If zero, it is 4.
	Handlers int
	// Round is the interval at which changed state is stored and published. If zero, it is a minute.
	Round time.Duration

	// Wants reports whether a file must be updated although no feed reports a change, because its last update was
	// handled with another configuration. At the beginning of a run, Wants is called for the URL of each watch without
	// a glob whose file was updated before. It must not block. If nil, no such update is made.
	Wants func(Update) bool
	// Judge classifies an error of the handler or a *PollError. The code, for example an exit code, is stored and shown
	// by Status. An update with a lasting error, which does not go away by itself, is eventually repeated only once a
	// day. If nil, codes are 0 and no error is lasting.
	Judge func(error) (code int, lasting bool)
	// Observe is called for each event, one after the other. It must not block. It may be nil.
	Observe func(Event)
	// Hide removes secrets from the text of an error before it is stored or shown, because a server may repeat the
	// secrets of a request in its response. If nil, nothing is removed.
	Hide func(string) string
	// Publish is called after each round that changed the state, and at the end, one call at a time. If nil, nothing is
	// published.
	Publish func(context.Context, feed.Snapshot) error

	files fsys.FS // file system of antenna.lirs for tests; nil: the system's
	own   access  // without a Store
}

// Watch polls until ctx is done, and calls handle for each update. It stores the state and returns ctx.Err(). Any other
// error concerns the configuration or the store.
func (a *Antenna) Watch(ctx context.Context, handle Handler) error {
	if err := a.run(ctx, handle, nil); err != nil {
		return err
	}
	return ctx.Err()
}

// Once runs one round, for cron. It polls the feeds that are due, handles their updates and those of earlier rounds,
// and returns the joined errors: each is a *PollError, a *HandleError, a *PublishError or an error of the store. If
// names of feeds or watches are given, it handles only these, even if they are not due, and polls the feeds of a named
// watch.
func (a *Antenna) Once(ctx context.Context, handle Handler, names ...string) error {
	r := &round{names: names}
	err := a.run(ctx, handle, r)
	return errors.Join(append(r.errs, err, ctx.Err())...)
}

// run implements Watch, and Once if r is not nil.
func (a *Antenna) run(ctx context.Context, handle Handler, r *round) error {
	requests, leave := a.access().enter()
	defer leave()
	l, cleanup, err := a.prepare(handle, r)
	if err != nil {
		return err
	}
	defer cleanup()
	return l.work(ctx, requests)
}

// prepare returns a loop with the state from the store.
func (a *Antenna) prepare(handle Handler, r *round) (l *loop, cleanup func(), err error) {
	if l, err = a.newLoop(); err != nil {
		return nil, nil, err
	}
	l.updates.handle, l.run.round = handle, r
	return l, l.poller.web.CloseIdle, newLoader(l).start(time.Now())
}

// A PollError reports that a feed could not be polled. The URL is without secrets.
type PollError struct {
	Feed, URL string
	// Status is the HTTP status of the response, or 0 without one.
	Status int
	Err    error
}

func (e *PollError) Error() string { return "feed " + e.Feed + ": " + e.Err.Error() }

func (e *PollError) Unwrap() error { return e.Err }

// A PublishError reports that the state could not be published, or that the cache beside the store was not written.
type PublishError struct{ Err error }

func (e *PublishError) Error() string { return "publish: " + e.Err.Error() }

func (e *PublishError) Unwrap() error { return e.Err }

// A HandleError reports that the handler returned an error for an update.
type HandleError struct {
	Watch, URL string
	Err        error
}

func (e *HandleError) Error() string { return "watch " + e.Watch + ": " + e.Err.Error() }

func (e *HandleError) Unwrap() error { return e.Err }
