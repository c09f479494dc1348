package httpsource

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"braid/address"
	"braid/byterange"
	"braid/source"
)

// A Reply is the response to a Post.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
	From   address.Scope // scope of the server's address; see Options.Named
	Host   string        // host:port of the server, after redirects
}

// Post sends a body to the server at u and reads the response, limited to most bytes, whatever its status. It is for
// servers that return the URL of a file in this way. Redirects are followed with the body. The error is a
// *source.Error, or the error of ctx.
func (c *Client) Post(ctx context.Context, u *url.URL, o Options, body []byte, most int64) (Reply, error) {
	k := c.Source(u, o).chain(http.MethodPost, byterange.Range{End: byterange.Unbounded})
	k.body = body
	x, err := k.follow(ctx)
	if err != nil {
		return Reply{}, err
	}
	defer x.Close()
	if err := identity(x.Header); err != nil {
		return Reply{}, k.fail(x, source.FaultProtocol, err)
	}
	data, err := io.ReadAll(io.LimitReader(x, most+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return Reply{}, ctx.Err()
	case err != nil:
		e := k.fail(x, source.FaultNetwork, source.Plain(err))
		e.Retry = true
		return Reply{}, e
	case int64(len(data)) > most:
		return Reply{}, k.fail(x, source.FaultLimit, fmt.Errorf("a response of more than %d bytes", most))
	}
	return Reply{Status: x.StatusCode, Header: x.Header, Body: data, From: x.From, Host: source.HostPort(k.trail.URL)}, nil
}
