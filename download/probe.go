package download

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"braid/address"
	"braid/metalink"
	"braid/source"
	"braid/source/httpsource"
	"braid/verify"
)

// An Offer holds a server's statements about a file.
type Offer struct {
	File          metalink.File
	Hops          []metalink.Hop
	ETag          string         // of the final answer, as sent
	Size          int64          // -1: unknown
	Ranges        bool           // the final answer shows that the server supports ranges
	Wrong         error          // why the final answer is about another file than File; ETag and Size are then unknown
	Looked        verify.Finding // digests found by Request.Trust.Lookup, if no other strong digest is known
	Contradiction error          // error if the lists in Looked contradict each other
}

// probe implements Client.Probe.
func probe(ctx context.Context, hc network, req *Request) (Offer, error) {
	a, err := look(ctx, hc, req, condition{})
	if err != nil {
		return Offer{}, wrap(cmp.Or(context.Cause(ctx), err), "probe", req)
	}
	x, err := req.resolve(a.Hops, req.role(), req.Trust.footing())
	if err != nil {
		return Offer{}, wrap(err, "probe", req)
	}
	ranges := a.Ranged || http.Header(a.Hops[len(a.Hops)-1].Header).Get("Accept-Ranges") == "bytes"
	a = x.without(a)
	x.file.Size = a.Size
	o := Offer{File: x.file, Hops: a.Hops, ETag: a.ETag, Size: a.Size, Ranges: ranges, Wrong: x.wrong}
	o.Looked, o.Contradiction = lookUp(ctx, hc, req, a.Hops, x.file, join(req.Trust.Claims, x.asked),
		join(req.Trust.Claims, x.file.Claims))
	return o, nil
}

// head sends HEAD.
func head(ctx context.Context, hc network, req *Request, c condition) (source.Answer, error) {
	return hc.Head(ctx, req.URL, req.lookOptions(c))
}

// look asks the server of req for the header only: by HEAD or, if the server does not support HEAD, by glance.
func look(ctx context.Context, hc network, req *Request, c condition) (source.Answer, error) {
	if source.IsSwarm(req.URL) { // the torrent has the size
		return source.Answer{URL: req.URL, Size: req.Described.Size, End: -1, Hops: []metalink.Hop{{URL: req.URL}}}, nil
	}
	return lookAt(ctx, hc, req.URL, req.lookOptions(c))
}

// lookAt is look for any URL.
func lookAt(ctx context.Context, hc network, u *url.URL, o httpsource.Options) (source.Answer, error) {
	if address.SchemeOf(u).NoHead {
		return glanceAt(ctx, hc, u, o)
	}
	a, err := hc.Head(ctx, u, o)
	var e *source.Error
	if !errors.As(err, &e) || e.Status != http.StatusMethodNotAllowed && e.Status != http.StatusNotImplemented {
		return a, err
	}
	before := e.Hops[:max(0, len(e.Hops)-1)] // the redirects of u's server before the refusal are its statements, too
	before = before[:metalink.First(before)]
	if _, wrong := metalink.FromHops(before, false); is[*verify.DigestError](wrong) {
		before = nil // a malformed digest in a redirect of HEAD must not hide the answer to GET
	}
	a, err = glanceAt(ctx, hc, u, o)
	if err != nil {
		told := &source.Error{URL: e.URL, Host: e.Host, Fault: source.FaultNetwork, Err: err} // replaced, unless ctx has ended
		errors.As(err, &told)
		told.Hops, err = slices.Concat(before, told.Hops), told
	}
	a.Hops = slices.Concat(before, a.Hops)
	return a, err
}

// glance begins a fetch from req.URL and refuses the body.
func glance(ctx context.Context, hc network, req *Request, c condition) (source.Answer, error) {
	return glanceAt(ctx, hc, req.URL, req.lookOptions(c))
}

// glanceAt is glance for any URL.
func glanceAt(ctx context.Context, hc network, u *url.URL, o httpsource.Options) (source.Answer, error) {
	var k peek
	err := hc.Source(u, o).Fetch(ctx, whole, &k)
	if errors.Is(err, errRefused) {
		err = nil
	}
	return k.answer, err
}

// A peek is a sink that stores the answer and refuses the body.
type peek struct{ answer source.Answer }

func (k *peek) Answer(a source.Answer) error {
	k.answer = a
	return errRefused
}

func (k *peek) WriteAt([]byte, int64) (int, error) { return 0, source.ErrEnough }
