package httpsource

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"braid/address"
	"braid/byterange"
	"braid/internal/web"
	"braid/source"
)

// Options say what is special about one source. The zero value is a server that the user named, without
// credentials.
type Options struct {
	// Header has fields that the user wants sent. They go to the exact origin only, but for Accept, Accept-Charset,
	// Accept-Language and User-Agent; fields that would change what is asked for are left out.
	Header map[string][]string
	// HeaderTo are servers that get Header as well, but for Host and Referer: a "host:port", or a "host" with any port,
	// in lower case.
	HeaderTo []string
	// Secure says that the user asked over https: HeaderTo then counts only over https.
	Secure bool
	// User is the name and password for the origin. If nil, those in its URL count.
	User *url.Userinfo
	// Referer is the URL that the user asked for, for requests to its mirrors. Its scheme, host and path
	// are sent; nothing from https to http, and nothing if it has a secret.
	Referer *url.URL
	// IfMatch is the strong ETag that the origin and this mirror share.
	IfMatch string
	// IfNoneMatch and IfModifiedSince make requests for the whole file conditional.
	IfNoneMatch     string
	IfModifiedSince time.Time
	// Mirror says that not the user's URL named this server, but a server or document. It gets no credentials.
	Mirror bool
	// Named says that not the user named this URL, but a server or document, and to where it may lead: address.Public
	// and where those are who named it (metalink.Hop.From). If zero, the user named it, and it may lead anywhere.
	Named address.Scope
	// Not are hosts that no request may lead to, that of the URL included.
	Not *address.Exclusion
	// Returns says that the caller comes back with a request whose turn is not soon (source.Error.Held). Else it is waited for.
	Returns bool
	// Gzip says that the caller reads gzip where it finds it, as those of feeds do: the whole file may come compressed,
	// as it is then given to the sink. Sizes and digests of the answer are then not those of the file.
	Gzip bool
	// Trusted says that a strong digest is known from the user or over https: redirects from https to http
	// can then do no harm.
	Trusted bool
}

// A Source is the file at one URL.
type Source struct {
	client *Client
	url    *url.URL // without user info and fragment
	user   web.Credentials
	opts   Options
	turns  turns
}

// Source makes a source of the file at u.
func (c *Client) Source(u *url.URL, o Options) *Source {
	s := &Source{client: c, url: web.Plain(u), opts: o}
	s.user = web.Credentials{Fields: o.Header, HeaderTo: o.HeaderTo, Secure: o.Secure, User: o.User, Cookies: c.Cookies}
	if o.User == nil && !o.Mirror {
		s.user.User = u.User
	}
	return s
}

// Traits implements source.Source.
func (s *Source) Traits() source.Traits {
	return source.Traits{Align: 1, Validators: true, InOrder: true}
}

// Fetch implements source.Source. An answer that is the whole file instead of r is offered to w with Ranged
// false, and delivered from 0 if w takes it.
//
// Where an answer has a malformed digest and no strong one that is not, w sees the answer and can refuse it; if it does
// not, Fetch does, unless a strong digest is known from elsewhere (Options.Trusted).
func (s *Source) Fetch(ctx context.Context, r byterange.Range, w source.Sink) error {
	if r.Empty() {
		return nil
	}
	c := s.chain(http.MethodGet, r)
	x, err := c.follow(ctx)
	if err != nil {
		return err
	}
	a, err := c.judge(x)
	if err != nil {
		x.Finish()
		return err
	}
	if err := w.Answer(a); err != nil {
		x.Leave(a.End - a.Start)
		return err
	}
	if c.digest != nil && !s.opts.Trusted {
		x.Close()
		return c.fail(x, source.FaultProtocol, c.digest)
	}
	return c.deliver(ctx, x, a, w)
}

// Head asks for the header section of the file at u.
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
