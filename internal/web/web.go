// Package web is the one client of HTTP below what downloads and what reads feeds: connections of HTTP/1.1 that are
// checked, TLS for each server, proxies, the addresses that a request may lead to, what of the user's may be told to
// which server, which redirects are followed, and what answers say of waiting.
//
//	t := web.Trail{URL: u}
//	x, err := client.Do(ctx, &web.Request{Method: "GET", Trail: t, Header: user.Header(&t), User: user})
//
// It sends no request a second time by its own decision and follows no redirect by itself, decodes nothing and keeps no
// cookies. No error of it quotes a word that might be a secret.
package web

import (
	"fmt"
	"net/http"
	"strings"
)

// BufferSize is the most that one Read of an Exchange is worth asking for.
const BufferSize = 256 << 10

// An AnswerError is an answer that cannot be taken, whatever it brings.
type AnswerError struct {
	why string
	// Limit: it is beyond a limit. Else it does not say clearly where it ends.
	Limit bool
}

func (e *AnswerError) Error() string { return e.why }

// A HandshakeError says that TLS could not begin.
type HandshakeError struct{ Err error }

func (e *HandshakeError) Error() string { return "TLS: " + strings.TrimPrefix(e.Err.Error(), "tls: ") }

// Unwrap returns what went wrong.
func (e *HandshakeError) Unwrap() error { return e.Err }

// A TunnelError is a proxy that does not connect us to a server.
type TunnelError struct{ Status int }

func (e *TunnelError) Error() string {
	return fmt.Sprintf("proxy: status %d %s", e.Status, http.StatusText(e.Status))
}

// A LineError is about a line that cannot be read, of a netrc or cookies file.
type LineError struct {
	Line int
	Why  string
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Why) }
