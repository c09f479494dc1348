// Package web is the only HTTP client of the program, used for downloads and feeds. It provides checked HTTP/1.1
// connections, TLS settings for each server, proxies, limits on the addresses that a request may reach, the choice of
// secrets that each server receives, the rules for redirects, and Retry-After.
//
//	t := web.Trail{URL: u}
//	x, err := client.Do(ctx, &web.Request{Method: "GET", Trail: t, Header: user.Header(&t), User: user})
//
// The package does not repeat requests or follow redirects by itself, decodes nothing and stores no cookies. Its errors
// do not quote values that may be secret.
package web

import (
	"fmt"
	"net/http"
	"strings"
)

// BufferSize is the largest useful size of the buffer for one Read of an Exchange.
const BufferSize = 256 << 10

// AnswerError reports an answer that cannot be accepted, whatever its content.
type AnswerError struct {
	why string
	// Limit is set if the answer exceeds a limit. Otherwise the end of the answer is ambiguous.
	Limit bool
}

func (e *AnswerError) Error() string { return e.why }

// HandshakeError reports a failed TLS handshake.
type HandshakeError struct{ Err error }

func (e *HandshakeError) Error() string { return "TLS: " + strings.TrimPrefix(e.Err.Error(), "tls: ") }

// Unwrap returns the cause.
func (e *HandshakeError) Unwrap() error { return e.Err }

// TunnelError reports a proxy that refused to connect to a server.
type TunnelError struct{ Status int }

func (e *TunnelError) Error() string {
	return fmt.Sprintf("proxy: status %d %s", e.Status, http.StatusText(e.Status))
}

// LineError reports an invalid line of a netrc or cookies file.
type LineError struct {
	Line int
	Why  string
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Why) }
