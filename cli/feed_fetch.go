package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"braid/download"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/stream"
	"braid/source"
	"braid/source/httpsource"
)

// A pipe is the body of a response that is being received.
type pipe struct {
	*stream.Reader
	client *httpsource.Client
}

// fetch sends a request for u, follows redirects and returns the response.
func (f *feedFlags) fetch(ctx context.Context, u *url.URL) (*pipe, error) {
	user, err := f.UserFor(u)
	if err != nil {
		return nil, err
	}
	var fields download.Request
	if err := f.AddFields(&fields); err != nil {
		return nil, err
	}
	f.Sites = job.NewSites(configurationOf(ctx))
	if fields.Access.Header, err = f.Sites.Fields(fields.Access.Header, u); err != nil {
		return nil, err
	}
	bare := fields.Access.Header
	if user == nil && !f.tokenRefused {
		fields.Access.Header = job.AddForgeToken(bare, u)
	}
	client, err := f.Client(u.String())
	if err != nil {
		return nil, err
	}
	client.HeaderTimeout = time.Duration(f.Timeout)
	r, err := f.withOrWithout(fields.Access.Header, bare, u, func(h http.Header) (*stream.Reader, error) {
		src := client.Source(u, httpsource.Options{Header: h, HeaderTo: fields.Access.HeaderTo, User: user, Gzip: true})
		return stream.Open(ctx, src, stream.Limits{Silence: time.Duration(f.Timeout), Total: time.Duration(f.MaxTime)})
	})
	if err != nil {
		client.CloseIdle()
		return nil, feedFailure(ctx, source.Mask(u), err)
	}
	return &pipe{r, client}, nil
}

// withOrWithout calls open with fields, which may contain a forge's token. If the server refuses the token,
// withOrWithout prints a message and calls open with bare, the fields without the token.
func (f *feedFlags) withOrWithout(
	fields, bare http.Header, u *url.URL, open func(http.Header) (*stream.Reader, error),
) (*stream.Reader, error) {
	r, err := open(fields)
	answer, ok := errors.AsType[*source.Error](err)
	if !ok || answer.Status != http.StatusUnauthorized || fields.Get("Authorization") == bare.Get("Authorization") {
		return r, err
	}
	f.tokenRefused = true
	fmt.Fprintf(f.streams.err,
		"%s: the server rejected the token; trying without a token (%s)\n", source.Mask(u), job.TokenHint)
	return open(bare)
}

// document returns the document at u. A document of more than most bytes is an error.
func (f *feedFlags) document(ctx context.Context, u *url.URL, most int64) ([]byte, error) {
	p, err := f.fetch(ctx, u)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	data, err := io.ReadAll(io.LimitReader(p, most+1))
	if err == nil && int64(len(data)) > most {
		err = errors.New("the document is too long")
	}
	return data, err
}

// gzipped reports whether the server compressed the response for the transfer.
func (p *pipe) gzipped() bool {
	hops := p.Answer.Hops
	return len(hops) > 0 && http.Header(hops[len(hops)-1].Header).Get("Content-Encoding") != ""
}

// base returns the URL of the response, after redirects, or "" if it is unknown.
func (p *pipe) base() string {
	if p.Answer.URL == nil {
		return ""
	}
	return p.Answer.URL.String()
}

func (p *pipe) header() http.Header {
	if n := len(p.Answer.Hops); n > 0 {
		return p.Answer.Hops[n-1].Header
	}
	return http.Header{}
}

func (p *pipe) Close() {
	p.Reader.Close()
	p.client.CloseIdle()
}

func feedFailure(ctx context.Context, name string, err error) *problem.Problem {
	kinds := map[source.Fault]download.Kind{
		source.FaultNetwork: download.Network, source.FaultTLS: download.TLS, source.FaultAuth: download.Auth,
		source.FaultProtocol: download.Protocol, source.FaultRefused: download.Refused,
		source.FaultMismatch: download.Mismatch, source.FaultLimit: download.Limit,
	}
	kind, hint := download.Local, ""
	if src, ok := errors.AsType[*source.Error](err); ok {
		kind = kinds[src.Fault]
	} else if _, silent := errors.AsType[*stream.SilentError](err); silent {
		kind = download.Network
	} else if _, late := errors.AsType[*stream.LateError](err); late {
		kind, hint = download.Limit, "raise the limit with --max-time TIME"
	} else if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		kind = download.Interrupted
	}
	f := downloadProblem(ctx, &download.Error{Kind: kind, What: "feed", Where: name, Err: err, Hint: download.Hint(hint)})
	f.Kept = ""
	return f
}
