// Package rpc is aria2's remote control over the queue of a daemon: JSON-RPC 2.0 over POST, GET and WebSocket, as its
// clients speak it.
//
// A [Handler] is mounted at /jsonrpc. What a request asks for, be it one call, a batch or a system.multicall, is done
// in one visit of the queue's owner, so that ten thousand added downloads are stored at once, and an answer is sent
// after what it tells is on disk:
//
//	h := rpc.New(engine, rpc.Options{Root: "/srv/files", Token: token})
//	mux.Handle("/jsonrpc", h)
//
// It refuses to be aria2 where that is dangerous: a request needs the token, a known Host field and no foreign Origin;
// no folder outside the root is written to; no program is run, no file of the user's is named, no certificate is left
// unchecked on the word of a client; what is secret in an option or URL can be set and is never given back. XML-RPC and
// JSONP are not spoken.
//
// The files: http.go and socket.go are the transports, protocol.go and params.go the frames, methods.go, add.go,
// option.go and secret.go what can be asked for, tell.go and document.go how an entry of the queue looks to a client.
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
	// Do calls f where nothing else touches the queue, and returns when what f changed is stored. An error is that of f
	// or of the store.
	Do(ctx context.Context, f func(q *queue.Queue) error) error
	// Subscribe returns what happens from now on, until cancel is called. The channel is closed when the engine ends,
	// and when its reader falls behind.
	Subscribe() (notices <-chan queue.Notice, cancel func())
}

// Options are how a [Handler] answers. Only Root must be set.
type Options struct {
	Root    string            // absolute: the folder that no download leaves
	Token   string            // demanded by each call; if empty, none is
	Hosts   []string          // names, beside those of loopback and the address that was connected to, by which the server may be asked
	Origins []string          // origins of pages that may ask, beside those that this server sent; "*" is any
	Given   map[string]string // options that the daemon was started with, by aria2's names; without dir, downloads go to Root
	Version string            // of braid
	// MostBytes limits a request. If zero, it is 4 MiB: twice what aria2 takes, as each of 10,000 calls in one brings a
	// token of 64 digits.
	MostBytes int64
	// Shutdown is called after the answer to aria2.shutdown. If nil, the method is refused.
	Shutdown func()
	// SaveSession writes the session (aria2.saveSession) to the file that --save-session or a client names. A file of a
	// client is in Root, and what is there and is no session is to be left. If nil, clients may name none, and the
	// method does nothing.
	SaveSession func(file string, text []byte) error
	// Listed reports whether the list of a session may have an option. If nil, it may have each.
	Listed func(name, value string) bool
	// Limit is how many bytes a second all downloads may have now, where no client has said it; 0 is any. It may be nil.
	Limit func() int64
	// Now is the clock. If nil, it is time.Now.
	Now func() time.Time
	// Wait holds back the answer to a wrong token. If nil, it waits.
	Wait func(ctx context.Context, d time.Duration)
}

// A Handler answers requests. [New] makes one. Its WebSockets end with the contexts of their requests and with the
// engine: a server that is shut down leaves them open, so it ends its BaseContext.
type Handler struct {
	Options
	engine    Engine
	session   string
	busy      chan struct{} // one for each long request that is parsed; it shows the token
	intakes   [2]intake     // of requests; the second is for clients that have shown the token before
	wrong     chan struct{} // one wrong token waits its second at a time
	waiting   chan struct{} // one for each wrong token that waits
	documents documents
	patience  time.Duration // how long a client may take to send or receive one message
}

const (
	mostBusy   = 2
	mostUnread = 12 << 20 // bytes of long requests that come
	mostWrong  = 16
	mostCalls  = 20_000  // of a request: in a batch and in each system.multicall of it
	mostValues = 600_000 // of a request: a call of aria2's has some twenty
	mostDepth  = 32      // lists and objects in each other
	mostTold   = 50_000  // entries, results and KiB of long ones in one answer
	mostFree   = 64      // the same, to who shows no token
	penalty    = time.Second
)

// New makes a handler for the queue of an engine.
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
		busy:    make(chan struct{}, mostBusy),
		intakes: [2]intake{{most: mostUnread, held: map[*reading]bool{}}, {most: 2 * mostUnread, held: map[*reading]bool{}}}, wrong: make(chan struct{}, 1), waiting: make(chan struct{}, mostWrong),
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

// A guess is what a request has shown of tokens.
type guess struct{ right, wrong bool }

// authorized takes the token from the parameters of a call and reports whether it is right.
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

// isToken reports whether a word is the token. The time that this takes says nothing of it.
func (h *Handler) isToken(word string) bool {
	got, want := sha256.Sum256([]byte(word)), sha256.Sum256([]byte(h.Token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

const tokenPrefix = "token:"

// punish holds back the answer to a wrong token. Others with a wrong one wait behind it, and no other request does. It
// reports false if so many wait already that this one cannot.
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
