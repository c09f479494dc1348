package httpsource

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"braid/address"
	"braid/byterange"
	"braid/internal/web"
	"braid/source"
)

// Options are the options of one source. The zero value is for a server that the user named, without credentials.
type Options struct {
	// Header has fields given by the user. They are sent only to the exact origin. Only Accept, Accept-Charset,
	// Accept-Language and User-Agent are sent to other servers, too. Fields that would change the requested content are
	// omitted.
	Header map[string][]string
	// HeaderTo are servers that also get Header, but not its Host and Referer: a "host:port", or a "host" with any
	// port, in lower case.
	HeaderTo []string
	// Secure limits HeaderTo to https, because the user's URL is https.
	Secure bool
	// User is the name and password for the origin. If nil, the name and password in the URL of the source are used.
	User *url.Userinfo
	// Referer is the user's URL, for requests to its mirrors. Its scheme, host and path are sent. It is not sent from
	// https to http, or if it contains a secret.
	Referer *url.URL
	// IfMatch is the strong ETag that the origin and this mirror share.
	IfMatch string
	// IfNoneMatch and IfModifiedSince make requests for the whole file conditional.
	IfNoneMatch     string
	IfModifiedSince time.Time
	// Mirror means that a server or document named this server, not the user. The server gets no credentials.
	Mirror bool
	// Apart means that the user named this server, but not as the origin. It gets User and Header, and neither cookies
	// nor the client certificate.
	Apart bool
	// Named has the scopes of addresses to which connections are allowed, if a server or document named the URL:
	// address.Public and the scope of that server (metalink.Hop.From). If zero, the user named the URL, and all
	// addresses are allowed.
	Named address.Scope
	// Not are hosts that no request may go to, including the host of the URL.
	Not *address.Exclusion
	// Returns means that Fetch returns an error if the turn of its request is later (source.Error.Held), and the caller
	// retries. Otherwise Fetch waits for the turn.
	Returns bool
	// Unheeded means that a Retry-After in a response to this source does not delay requests of other sources to the
	// host, because this request is optional. Delays that the host demanded in other responses apply to this source.
	Unheeded bool
	// Gzip means that the caller accepts gzip, as readers of feeds do: the whole file may be compressed, and the sink
	// gets the compressed bytes. Sizes and digests of the answer are then not those of the file.
	Gzip bool
	// NoRedirect follows no redirect.
	NoRedirect bool
	// Trusted means that a strong digest is known from the user or over https, so redirects from https to http are
	// harmless.
	Trusted bool
}

// A Source is the file at one URL.
type Source struct {
	client *Client
	url    *url.URL // without user info and fragment
	user   web.Credentials
	opts   Options
	turns  turns
	// noRanges is set once the server has refused a range of its own file. Later requests are for the whole file.
	noRanges atomic.Bool
}

// Source returns a source of the file at u.
func (c *Client) Source(u *url.URL, o Options) *Source {
	s := &Source{client: c, url: web.Plain(u), opts: o}
	s.user = web.Credentials{Fields: o.Header, HeaderTo: o.HeaderTo, Secure: o.Secure, User: o.User, Cookies: c.Cookies}
	if o.Apart {
		s.user.Cookies, s.user.NoCertificate = nil, true
	}
	if o.User == nil && !o.Mirror {
		s.user.User = u.User
	}
	return s
}

// Traits implements source.Source.
func (s *Source) Traits() source.Traits {
	return source.Traits{Align: 1, Validators: true, InOrder: true}
}

// Fetch implements source.Source. If the answer is the whole file instead of r, w gets an Answer with Ranged false and,
// if it accepts, the bytes from 0.
//
// If an answer has a malformed digest and no valid strong digest, w gets the answer and may refuse it. If w accepts it,
// Fetch fails, unless a strong digest is known from elsewhere (Options.Trusted). If the source is a mirror, w does not
// get the answer.
func (s *Source) Fetch(ctx context.Context, r byterange.Range, w source.Sink) error {
	if r.Empty() {
		return nil
	}
	c := s.chain(http.MethodGet, r)
	c.whole = c.whole || s.noRanges.Load()
	x, a, err := c.get(ctx)
	if c.refusesRanges(err) {
		s.noRanges.Store(true)
		c = s.chain(http.MethodGet, byterange.Range{End: byterange.Unbounded})
		x, a, err = c.get(ctx)
	}
	if err != nil {
		return err
	}
	malformed := c.digest != nil && !s.opts.Trusted
	if !malformed || !s.opts.Mirror {
		if err := w.Answer(a); err != nil {
			x.Leave(a.End - a.Start)
			return err
		}
	}
	if malformed {
		x.Close()
		return c.fail(x, source.FaultProtocol, c.digest)
	}
	return c.deliver(ctx, x, a, w)
}

func (c *chain) get(ctx context.Context) (x *web.Exchange, a source.Answer, err error) {
	if x, err = c.follow(ctx); err != nil {
		return nil, a, err
	}
	if a, err = c.judge(x); err != nil {
		x.Finish()
	}
	return x, a, err
}

// refusesRanges reports whether err means that the server refuses a range that is within the size that it states.
func (c *chain) refusesRanges(err error) bool {
	e, ok := errors.AsType[*source.Error](err)
	return ok && !c.whole && e.Status == http.StatusRequestedRangeNotSatisfiable && e.Fault == source.FaultProtocol
}

// Head requests the header section of the file at u.
func (c *Client) Head(ctx context.Context, u *url.URL, o Options) (source.Answer, error) {
	k := c.Source(u, o).chain(http.MethodHead, byterange.Range{End: byterange.Unbounded})
	x, err := k.follow(ctx)
	if err != nil {
		return source.Answer{}, err
	}
	defer x.Finish()
	a, err := k.judge(x)
	if err == nil && k.digest != nil && !o.Trusted {
		err = k.fail(x, source.FaultProtocol, k.digest)
	}
	return a, err
}
