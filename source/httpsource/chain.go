package httpsource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"braid/address"
	"braid/byterange"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

const (
	maxRedirects = 10      // rule 26
	maxLocation  = 8 << 10 // bytes
)

// ErrDowngrade is a redirect that is not followed, see Client.AllowDowngrade.
var ErrDowngrade = errors.New("redirect from https to http")

// A chain is one request with the redirects that follow it.
type chain struct {
	s       *Source
	method  string
	part    byterange.Range
	whole   bool // no range is asked for
	ifMatch string

	url     *url.URL      // of the request at hand
	named   address.Scope // to where it may lead
	left    bool          // the exact origin was left; what is for it alone is not sent again
	tls     bool          // a request went over https; the user's fields do not go over http any more
	seen    map[string]bool
	hops    []metalink.Hop
	vouched bool  // a strong digest came over https (rule 26)
	digest  error // of a malformed digest (rule 31)
	failed  bool  // an If-Match did (rule 35)

	said       *login // who we are, in the last request
	challenges int    // that were answered
}

func (s *Source) chain(method string, r byterange.Range) *chain {
	return &chain{
		s: s, method: method, part: r, whole: r.Start == 0 && r.End == byterange.Unbounded,
		ifMatch: s.opts.IfMatch, url: s.url, named: cmp.Or(s.opts.Named, address.Anywhere), seen: map[string]bool{},
	}
}

// follow sends the request and follows redirects to an answer that is none.
func (c *chain) follow(ctx context.Context) (*exchange, error) {
	for {
		x, err := c.request(ctx)
		if err != nil {
			return nil, err
		}
		// Rule 35: the mirror has no version with that ETag. Its digest may say that it has the file.
		if x.resp.StatusCode == http.StatusPreconditionFailed && c.ifMatch != "" {
			c.ifMatch, c.failed = "", true
			x.finish()
			continue
		}
		if c.challenged(x) {
			x.finish()
			continue
		}
		c.note(x)
		if !redirects(x.resp.StatusCode) {
			return x, nil
		}
		next, err := c.target(x.resp.Header)
		x.finish()
		if err != nil {
			return nil, c.fail(x, source.FaultRefused, err)
		}
		c.left = c.left || !sameOrigin(next, c.s.url)
		c.url, c.named = next, address.Public|x.from
	}
}

// request sends one request.
func (c *chain) request(ctx context.Context) (*exchange, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !isWeb(c.url.Scheme) || c.url.Hostname() == "" {
		return nil, c.fail(nil, source.FaultRefused, fmt.Errorf("not an http or https URL"))
	}
	c.seen[c.url.String()] = true
	c.tls = c.tls || c.url.Scheme == "https"
	req := &http.Request{Method: c.method, URL: c.url, Header: c.header(), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	req.Host = c.host()
	x, err := c.s.client.exchange(req.WithContext(ctx), c.own(), c.named)
	switch {
	case err == nil:
		return x, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	fault, retry := classify(err)
	e := c.fail(nil, fault, source.Plain(err))
	e.Retry = retry
	if fault == source.FaultAuth { // of a proxy that makes no tunnel; what servers say is judged elsewhere
		e.Status = http.StatusProxyAuthRequired
	}
	return nil, e
}

// note keeps an answer as a hop.
func (c *chain) note(x *exchange) {
	h := metalink.Hop{
		URL: c.url, From: x.from, Status: x.resp.StatusCode, Header: x.resp.Header,
		Unproven: c.url.Scheme == "https" && !c.s.client.proven(c.url),
	}
	c.hops = append(c.hops, h)
	claims, err := verify.FromHeader(h.Header, c.channel())
	if err != nil {
		c.digest = errors.Join(c.digest, err)
	}
	c.vouched = c.vouched || h.Proven() && verify.Strong(claims)
}

// channel is how much the last answer is to be trusted: what came over http, from a server whose certificate nobody checked, or
// from one that was named so, anybody may have written.
func (c *chain) channel() verify.Channel {
	for _, h := range c.hops {
		if !h.Proven() {
			return verify.HTTP
		}
	}
	return verify.HTTPS
}

// redirects tells the statuses that a client may follow by itself (RFC 9110, section 15.4).
func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// target is where a redirect leads, if it is one to follow (rule 26).
func (c *chain) target(h http.Header) (*url.URL, error) {
	locations := h.Values("Location")
	if len(locations) == 0 || locations[0] == "" {
		return nil, errors.New("redirect to nowhere: no Location")
	}
	if len(locations) > 1 || len(locations[0]) > maxLocation {
		return nil, errors.New("redirect with more than one Location, or one beyond 8 KiB")
	}
	u, err := c.url.Parse(locations[0])
	if err != nil { // which quotes the URL, with what may be secret in it
		return nil, errors.New("redirect to a Location that is not a URL")
	}
	u = plain(u)
	switch {
	case !isWeb(u.Scheme):
		return nil, fmt.Errorf("redirect to scheme %.40q", u.Scheme)
	case u.Hostname() == "" || u.Opaque != "":
		return nil, errors.New("redirect to a Location without a host")
	case len(c.hops) > maxRedirects:
		return nil, fmt.Errorf("more than %d redirects", maxRedirects)
	case c.seen[u.String()]:
		return nil, fmt.Errorf("redirect loop at %s", source.Mask(u))
	case c.url.Scheme == "https" && u.Scheme == "http" && !c.mayDowngrade():
		return nil, fmt.Errorf("%w at %s", ErrDowngrade, source.Mask(u))
	}
	return u, nil
}

// mayDowngrade says that an insecure mirror can do no harm, or that the user does not mind.
func (c *chain) mayDowngrade() bool {
	return c.vouched || c.s.opts.Trusted || c.s.client.AllowDowngrade
}

func isWeb(scheme string) bool { return scheme == "http" || scheme == "https" }

// sameOrigin compares scheme, host and port (RFC 6454, section 5).
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(source.HostPort(a), source.HostPort(b))
}

// fail is an error about the request at hand; x is its exchange, if there was an answer.
func (c *chain) fail(x *exchange, f source.Fault, err error) *source.Error {
	e := &source.Error{URL: source.Mask(c.url), Host: source.HostPort(c.url), Fault: f, Hops: c.hops, Err: err}
	if x != nil {
		e.Status = x.resp.StatusCode
	}
	return e
}
