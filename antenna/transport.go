package antenna

import (
	"net"
	"net/http"
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
// Control is that of a net.Dialer: it sees the address before anything is sent there (rule 63). It may be nil.
func NewTransport(control func(network, address string, c syscall.RawConn) error) *http.Transport {
	dialer := &net.Dialer{Timeout: connectTimeout, Control: control}
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
