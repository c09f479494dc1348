// Package rpc serves aria2's remote control for the queue of a daemon: JSON-RPC 2.0 over POST, GET and WebSocket, as
// aria2's clients use it.
//
// A [Handler] is mounted at /jsonrpc. All calls of a request, be it one call, a batch or a system.multicall, are
// carried out in one visit to the queue, so that ten thousand added downloads are stored in one write. The answer is
// sent after the changes that it confirms are on disk:
//
//	h := rpc.New(engine, rpc.Options{Root: "/srv/files", Token: token})
//	mux.Handle("/jsonrpc", h)
//
// It differs from aria2 where aria2 would be dangerous. A request needs the token, a known Host field and an allowed
// Origin. A client cannot write outside the root, run a program, name a file of the user or turn off the check of
// certificates. Secrets in options and URLs can be set but are never returned. XML-RPC and JSONP are not supported.
//
// The files: http.go and socket.go have the transports, protocol.go and params.go the messages, methods.go, add.go,
// option.go and secret.go the methods, and tell.go and document.go the form in which clients see an entry.
package rpc

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"
	"time"

	"braid/daemon/queue"
)

// An Engine is the daemon that owns the queue.
type Engine interface {
	// Do calls f, which has exclusive use of the queue. Do returns when the changes that f made are stored. The error
	// is the error of f or of the store.
	Do(ctx context.Context, f func(q *queue.Queue) error) error
	// Subscribe returns a channel of future notices. cancel ends the subscription. The channel is closed when the
	// engine ends, and when too many notices are unread.
	Subscribe() (notices <-chan queue.Notice, cancel func())
}

// Options configures a [Handler]. Only Root is required.
type Options struct {
	Root  string // absolute path of the folder that contains all downloads
	Token string // required by each call; if empty, no token is required
	// Hosts lists additional server names to accept in the Host field. Loopback names, and the address that the client
	// connected to, are always accepted.
	Hosts []string
	// Origins lists the origins of web pages that may use the server, besides its own pages. "*" allows all origins.
	Origins []string
	// Given holds the options that the daemon was started with, under aria2's names. Without dir, downloads go to Root.
	Given   map[string]string
	Version string // version of braid
	// MostBytes limits the size of a request. If zero, it is 4 MiB. That is twice aria2's limit, because the token of
	// 64 digits is in each call, and a request may have 10,000 calls.
	MostBytes int64
	// Shutdown is called after the answer to aria2.shutdown has been sent. If nil, that method is refused.
	Shutdown func()
	// SaveSession writes text to file, for aria2.saveSession. --save-session or a client names the file. A client can
	// name only a file below Root, and SaveSession must not overwrite a file that is not a session. If nil, no client
	// can name a file, and aria2.saveSession does nothing.
	SaveSession func(file string, text []byte) error
	// Listed reports whether a session may contain the option name with that value. If nil, all options are allowed.
	Listed func(name, value string) bool
	// Limit returns the current limit of all downloads together, in bytes per second, for the case that no client has
	// set a limit. 0 means no limit. Limit may be nil.
	Limit func() int64
	// Now returns the current time. If nil, time.Now is used.
	Now func() time.Time
	// Wait blocks until d has passed or ctx is done. It delays answers to wrong tokens. If nil, a timer is used.
	Wait func(ctx context.Context, d time.Duration)
}

// A Handler answers requests of clients. [New] returns one. Each WebSocket ends with the context of its request and
// with the engine. http.Server.Shutdown does not close it, so the server's BaseContext must be canceled.
type Handler struct {
	Options
	engine    Engine
	session   string
	busy      chan struct{} // limits the long requests that are being parsed
	intake    intake        // holds the long requests with the token
	wrong     chan struct{} // limits the delays for wrong tokens to one at a time
	waiting   chan struct{} // limits the requests with a wrong token that wait for their delay
	documents documents
	patience  time.Duration // how long a client may take to send or read one message
}

const (
	mostBusy   = 2
	mostUnread = 24 << 20 // bytes of long requests that are incomplete or not parsed yet
	mostWrong  = 16
	mostCalls  = 20_000  // in a request, including the calls in each system.multicall
	mostValues = 600_000 // in a request; a client of aria2 sends about twenty in a call
	mostDepth  = 32      // nesting of lists and objects
	mostTold   = 50_000  // entries and results, or KiB of long ones, in one answer
	mostFree   = 64      // the same for a request without the token
	penalty    = time.Second
)

// New returns a handler for the queue of engine.
func New(engine Engine, o Options) *Handler {
	if o.MostBytes == 0 {
		o.MostBytes = 4 << 20
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	var id [20]byte
	rand.Read(id[:]) // never returns an error
	return &Handler{
		Options: o, engine: engine, session: hex.EncodeToString(id[:]),
		busy: make(chan struct{}, mostBusy), intake: intake{most: mostUnread, held: map[*reading]bool{}},
		wrong: make(chan struct{}, 1), waiting: make(chan struct{}, mostWrong),
		patience: 20 * time.Second,
	}
}

func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// A guess reports whether a request contains the right token, and whether it contains a wrong one.
type guess struct{ right, wrong bool }

// authorized removes the token from the parameters of c and reports whether c may be carried out. Two methods need no
// token: those that list the names of methods and of notifications.
func (h *Handler) authorized(c *call, g *guess) bool {
	word, given := "", false
	if len(c.params) > 0 {
		first, _ := c.params[0].(string)
		if word, given = strings.CutPrefix(first, tokenPrefix); given {
			c.params = c.params[1:]
		}
	}
	if h.Token == "" || given && h.isToken(word) {
		g.right = true
		return true
	}
	return c.method == "system.listMethods" || c.method == "system.listNotifications"
}

// isToken reports whether word is the token. Its duration does not depend on the token.
func (h *Handler) isToken(word string) bool {
	got, want := sha256.Sum256([]byte(word)), sha256.Sum256([]byte(h.Token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

const tokenPrefix = "token:"

// punish delays the answer to a wrong token. Delays follow one another, so further requests with a wrong token wait
// longer; requests with the right token do not wait. If too many requests wait already, punish returns false.
func (h *Handler) punish(ctx context.Context) bool {
	select {
	case h.waiting <- struct{}{}:
		defer func() { <-h.waiting }()
	default:
		return false
	}
	select {
	case h.wrong <- struct{}{}:
		h.Wait(ctx, penalty)
		<-h.wrong
	case <-ctx.Done():
	}
	return true
}
