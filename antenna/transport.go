package antenna

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

const (
	connectTimeout = 10 * time.Second
	// silence is how long there may be no byte (rules 21 and 52).
	silence = 30 * time.Second
	// maxHead bounds the header section of an answer (rule 20).
	maxHead = 256 << 10
)

// NewTransport makes what an Antenna asks through if it has no Transport: HTTP/1.1 without the habits of net/http that are wrong here.
// Control is the ControlContext of a net.Dialer: it sees the address before anything is sent there (rule 63), and NamedBy tells it who
// wants that. It may be nil.
func NewTransport(control func(ctx context.Context, network, address string, c syscall.RawConn) error) *http.Transport {
	dialer := &net.Dialer{Timeout: connectTimeout, ControlContext: control}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    connectTimeout,
		Protocols:              protocols,
		DisableCompression:     true, // bodies are bounded where they are decoded
		MaxResponseHeaderBytes: maxHead,
		ResponseHeaderTimeout:  silence,
		// Polls of a host are minutes apart. What waits is for redirects and for hosts with many feeds.
		MaxIdleConns:        32,
		MaxIdleConnsPerHost: 1,
		IdleConnTimeout:     15 * time.Second,
	}
}

// namedBy is the key of NamedBy.
type namedBy struct{}

// NamedBy returns who named the URL of a request of an Antenna, by the request's context: the URL that redirected there, or nil if it is
// the URL of a feed or a watch, which the user named.
func NamedBy(ctx context.Context) *url.URL {
	u, _ := ctx.Value(namedBy{}).(*url.URL)
	return u
}
