package httpsource

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"braid/byterange"
	"braid/internal/web"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// ErrDowngrade is the error for a redirect from https to http that is not followed. See Client.AllowDowngrade.
var ErrDowngrade = web.ErrDowngrade

// A chain is a request with its redirects.
type chain struct {
	s       *Source
	method  string
	body    []byte // of a POST
	part    byterange.Range
	whole   bool // no range is requested
	ifMatch string

	trail   web.Trail // of the current request
	hops    []metalink.Hop
	vouched bool  // the asked server sent a strong digest over https (rule 26)
	digest  error // error of a malformed digest (rule 31)
	failed  bool  // If-Match failed (rule 35)

	challenges int // number of answered authentication challenges
}

var errRedirect = errors.New("unexpected redirect")

func (s *Source) chain(method string, r byterange.Range) *chain {
	return &chain{
		s: s, method: method, part: r, whole: r.Start == 0 && r.End == byterange.Unbounded,
		ifMatch: s.opts.IfMatch, trail: web.Trail{URL: s.url, Named: s.opts.Named, Away: s.opts.Mirror},
	}
}

// follow sends the request and follows redirects to the final response.
func (c *chain) follow(ctx context.Context) (*web.Exchange, error) {
	for {
		r, x, err := c.request(ctx)
		if err != nil {
			return nil, err
		}
		// Rule 35: the mirror has no version with this ETag. The mirror is asked again without If-Match, because a
		// digest in its response may show that it has the file.
		if x.StatusCode == http.StatusPreconditionFailed && c.ifMatch != "" {
			c.ifMatch, c.failed = "", true
			x.Finish()
			continue
		}
		if c.s.client.client().Challenged(r, x, c.challenges) {
			c.challenges++
			x.Finish()
			continue
		}
		c.note(x)
		if !web.IsRedirect(x.StatusCode) {
			return x, nil
		}
		if c.s.opts.NoRedirect {
			x.Finish()
			return nil, c.fail(x, source.FaultRefused, errRedirect)
		}
		next, err := c.trail.Redirect(x, c.mayDowngrade())
		x.Finish()
		if err != nil {
			return nil, c.fail(x, source.FaultRefused, err)
		}
		c.trail = next
	}
}

// request sends one request.
func (c *chain) request(ctx context.Context) (*web.Request, *web.Exchange, error) {
	if ctx.Err() != nil {
		return nil, nil, c.givenUp(ctx)
	}
	if !web.IsHTTP(c.trail.URL.Scheme) || c.trail.URL.Hostname() == "" {
		return nil, nil, c.fail(nil, source.FaultRefused, fmt.Errorf("not an http or https URL"))
	}
	if err := c.turn(ctx); err != nil {
		return nil, nil, err
	}
	r := &web.Request{Method: c.method, Trail: c.trail, Header: c.header(), Body: c.body, User: c.s.user, Not: c.s.opts.Not}
	x, err := c.s.client.client().Do(ctx, r)
	switch {
	case err == nil:
		return r, x, nil
	case ctx.Err() != nil:
		return nil, nil, c.givenUp(ctx)
	}
	fault, retry := classify(err)
	e := c.fail(nil, fault, source.Plain(err))
	e.Retry = retry
	if fault == source.FaultAuth { // from a proxy; servers' responses are judged elsewhere
		e.Status = http.StatusProxyAuthRequired
	}
	return nil, nil, e
}

// givenUp returns the error of a chain whose ctx has ended. It has the responses so far.
func (c *chain) givenUp(ctx context.Context) error {
	if len(c.hops) == 0 {
		return ctx.Err()
	}
	return c.fail(nil, source.FaultNetwork, ctx.Err())
}

// note records the response x as a hop.
func (c *chain) note(x *web.Exchange) {
	verify.DropPartial(x.Header, x.StatusCode)
	h := metalink.Hop{
		URL: c.trail.URL, From: x.From, Status: x.StatusCode, Header: kept(x.Header, c.s.opts.Mirror),
		Unproven: c.trail.URL.Scheme == "https" && !c.s.client.client().Proven(c.trail.URL),
	}
	c.hops = append(c.hops, h)
	claims, err := verify.FromHeader(x.Header, c.channel())
	if err != nil {
		c.digest = errors.Join(c.digest, err)
	}
	own := !c.s.opts.Mirror && metalink.Own(c.hops) == len(c.hops) // a mirror's digest is no evidence (C2)
	c.vouched = c.vouched || own && h.Proven() && verify.Strong(claims)
}

// channel returns the trust in the last response. If any response so far came over http or from a server whose
// certificate was not checked, an attacker may have changed the last response.
func (c *chain) channel() verify.Channel {
	for _, h := range c.hops {
		if !h.Proven() {
			return verify.HTTP
		}
	}
	return verify.HTTPS
}

// mayDowngrade reports whether a redirect from https to http is harmless, because a strong digest is known, or allowed
// by the user.
func (c *chain) mayDowngrade() bool {
	return c.vouched || c.s.opts.Trusted || c.s.client.AllowDowngrade
}

// fail returns an error about the current request. x is its exchange, or nil without a response.
func (c *chain) fail(x *web.Exchange, f source.Fault, err error) *source.Error {
	e := &source.Error{URL: source.Mask(c.trail.URL), Host: source.HostPort(c.trail.URL), Fault: f, Hops: c.hops, Err: err}
	if x != nil {
		e.Status = x.StatusCode
	}
	return e
}
