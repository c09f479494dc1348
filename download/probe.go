package download

import (
	"braid/address"
	"braid/metalink"
	"braid/source"
	"braid/verify"
	"context"
	"errors"
	"net/http"
)

// An Offer holds a server's statements about a file.
type Offer struct {
	File   metalink.File
	Hops   []metalink.Hop
	ETag   string // of the final answer, as sent
	Size   int64  // -1: unknown
	Ranges bool   // the final answer states that ranges work
	Wrong  error  // why the final answer is of another file than the server's; ETag and Size are then unknown
}

// probe implements Client.Probe.
func probe(ctx context.Context, hc network, req *Request) (Offer, error) {
	a, err := look(ctx, hc, req, condition{})
	if err != nil {
		return Offer{}, wrap(err, "probe", req)
	}
	x, err := req.resolve(a.Hops, req.role(), verify.Strong(req.Claims))
	if err != nil {
		return Offer{}, wrap(err, "probe", req)
	}
	ranges := a.Ranged || http.Header(a.Hops[len(a.Hops)-1].Header).Get("Accept-Ranges") == "bytes"
	a = x.without(a)
	x.file.Size = a.Size
	return Offer{File: x.file, Hops: a.Hops, ETag: a.ETag, Size: a.Size, Ranges: ranges, Wrong: x.wrong}, nil
}

// head sends HEAD.
func head(ctx context.Context, hc network, req *Request, c condition) (source.Answer, error) {
	return hc.Head(ctx, req.URL, req.lookOptions(c))
}

// look asks for the header only: by HEAD, or by a fetch whose body is refused if the server does not know
// HEAD.
func look(ctx context.Context, hc network, req *Request, c condition) (source.Answer, error) {
	if source.IsSwarm(req.URL) { // the torrent has the answer
		return source.Answer{URL: req.URL, Size: req.Described.Size, End: -1, Hops: []metalink.Hop{{URL: req.URL}}}, nil
	}
	if address.SchemeOf(req.URL).NoHead {
		return glance(ctx, hc, req, c)
	}
	a, err := head(ctx, hc, req, c)
	var e *source.Error
	if !errors.As(err, &e) || e.Status != http.StatusMethodNotAllowed && e.Status != http.StatusNotImplemented {
		return a, err
	}
	return glance(ctx, hc, req, c)
}

// glance begins a fetch and refuses the body.
func glance(ctx context.Context, hc network, req *Request, c condition) (source.Answer, error) {
	var k peek
	err := hc.Source(req.URL, req.lookOptions(c)).Fetch(ctx, whole, &k)
	if errors.Is(err, errRefused) {
		err = nil
	}
	return k.answer, err
}

// A peek is a sink that takes the header only.
type peek struct{ answer source.Answer }

func (k *peek) Answer(a source.Answer) error {
	k.answer = a
	return errRefused
}

func (k *peek) WriteAt([]byte, int64) (int, error) { return 0, source.ErrEnough }
