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

// An Engine owns the queue.
type Engine interface {
	// Do calls f with exclusive use of the queue, and returns when the changes of f are stored. The error is an error
	// of f or of the store.
	Do(ctx context.Context, f func(q *queue.Queue) error) error
	// Subscribe returns a channel of future notices, until cancel is called. The channel is closed when the engine ends
	// and when its reader falls behind.
	Subscribe() (notices <-chan queue.Notice, cancel func())
}

// Options configures a [Handler]. Only Root is required.
type Options struct {
	Root  string // absolute path of the folder that contains all downloads
	Token string // required by each call; if empty, no token is required
	// Hosts lists further names of the server that the Host field may have. The names of loopback and the address that
	// the client connected to are always allowed.
	Hosts []string
	// Origins lists origins of pages that may use the server. The server's own pages always may. "*" allows any origin.
	Origins []string
	// Given holds the options that the daemon was started with, by aria2's names. Without dir, downloads go to Root.
	Given   map[string]string
	Version string // version of braid
	// MostBytes limits the size of a request. If zero, it is 4 MiB: twice aria2's limit, because each of 10,000 calls
	// in one request carries a token of 64 digits.
	MostBytes int64
	// Shutdown is called after the answer to aria2.shutdown has been sent. If nil, the method is refused.
	Shutdown func()
	// SaveSession writes the session (aria2.saveSession) to the file that --save-session or a client names. The file of
	// a client is below Root, and SaveSession must not overwrite a file that is not a session. If nil, clients cannot
	// name a file, and aria2.saveSession does nothing.
	SaveSession func(file string, text []byte) error
	// Listed reports whether a session may contain an option. If nil, it may contain any.
	Listed func(name, value string) bool
	// Limit returns the current limit of all downloads together in bytes per second, if no client has set one; 0 is no
	// limit. It may be nil.
	Limit func() int64
	// Now returns the current time. If nil, time.Now is used.
	Now func() time.Time
	// Wait blocks for d or until ctx ends, to delay the answer to a wrong token. If nil, a timer is used.
	Wait func(ctx context.Context, d time.Duration)
}

// A Handler answers requests. [New] returns one. Its WebSockets end with the contexts of their requests and with the
// engine. Shutting a server down does not close them, so the server's BaseContext must be canceled.
type Handler struct {
	Options
	engine    Engine
	session   string
	busy      chan struct{} // limits the long requests that are parsed at once
	intake    intake        // of long requests with the token
	wrong     chan struct{} // limits the delayed answers to one at a time
	waiting   chan struct{} // limits the requests with a wrong token that wait
	documents documents
	patience  time.Duration // how long a client may take to send or receive one message
}

const (
	mostBusy   = 2
	mostUnread = 24 << 20 // bytes of incomplete long requests
	mostWrong  = 16
	mostCalls  = 20_000  // in a request, with the calls of each system.multicall
	mostValues = 600_000 // in a request; a call of aria2's clients has about twenty
	mostDepth  = 32      // nesting of lists and objects
	mostTold   = 50_000  // entries, results and KiB of long ones in one answer
	mostFree   = 64      // mostTold of a request without the token
	penalty    = time.Second
)

// New returns a handler for the queue of an engine.
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
	rand.Read(id[:]) // never fails
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

// A guess records which tokens a request has shown.
type guess struct{ right, wrong bool }

// authorized removes the token from the parameters of a call and reports whether the call may be carried out. The
// methods that list names of methods or notifications need no token.
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

// isToken reports whether a word is the token. Its running time does not depend on the token.
func (h *Handler) isToken(word string) bool {
	got, want := sha256.Sum256([]byte(word)), sha256.Sum256([]byte(h.Token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

const tokenPrefix = "token:"

// punish delays the answer to a wrong token. Further requests with a wrong token wait until the delay is over; other
// requests do not wait. It reports false without a delay if too many requests already wait.
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
