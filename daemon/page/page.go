// Package page is the page of a daemon: what it downloads, how far it is, what proved it, and why it is slow.
//
// A [Handler] is mounted at /, beside the one of the remote control at /jsonrpc, which the page sends commands to:
//
//	control := rpc.New(engine, options)
//	mux.Handle("/jsonrpc", control)
//	mux.Handle("/", page.New(engine, page.Options{Admit: control.Admit}))
//
// The page is plain ES modules and a style sheet, in the program itself. It loads nothing from elsewhere, which its
// Content-Security-Policy holds it to, and every text from outside is shown as text. What it knows comes as one stream
// of events: first all entries, then what changes. The stream and the pictures are given to those only whom
// Options.Admit lets in; the files of the page have no secrets.
//
// The files: stream.go is the events, row.go what an entry looks like, files the page.
package page

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html"
	"io/fs"
	"net/http"
	"path"
	"time"

	"braid/daemon/queue"
	"braid/internal/report"
)

// An Engine owns the queue.
type Engine interface {
	// Do calls f where nothing else touches the queue.
	Do(ctx context.Context, f func(q *queue.Queue) error) error
	// Draw returns what internal/report draws of the download of an entry, and nil if nothing is known of it.
	Draw(ctx context.Context, g queue.GID) ([]byte, error)
}

// Options are how a [Handler] answers.
type Options struct {
	// Admit reports whether a request may see the queue. If not, it has answered. It must look at the token in the
	// Authorization field, and at Host and Origin.
	Admit func(w http.ResponseWriter, r *http.Request) bool
	// Every is how often a stream looks for changes. If zero, it is half a second.
	Every time.Duration
	// MostStreams limits them. If zero, it is 64.
	MostStreams int
	// Token is the command or option that gives the token, for the form that asks for it. If empty, it is "braid daemon token".
	Token string
	// Folder is where the files go of which a client names no folder. If empty, the page does not say.
	Folder string
	// Fleet is the queue that downloads go to. If nil, the daemon downloads itself.
	Fleet Fleet
}

// A Handler answers requests. [New] makes one. Its streams end with the contexts of their requests: whoever shuts a
// server down ends its BaseContext.
type Handler struct {
	Options
	engine  Engine
	mux     *http.ServeMux
	epoch   string        // of the versions of the queue: those of another process mean nothing
	streams chan struct{} // one for each that is open
}

//go:embed files
var files embed.FS

// policy has the page load what this server sends, and no text be taken for a part of it but the pictures, which are drawn here.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types picture"

// New makes a handler for the queue of an engine.
func New(engine Engine, o Options) *Handler {
	if o.Every == 0 {
		o.Every = 500 * time.Millisecond
	}
	if o.MostStreams == 0 {
		o.MostStreams = 64
	}
	o.Token = cmp.Or(o.Token, "braid daemon token")
	h := &Handler{Options: o, engine: engine, mux: http.NewServeMux(), epoch: newEpoch(), streams: make(chan struct{}, o.MostStreams)}
	h.mux.HandleFunc("GET /events", h.events)
	h.mux.HandleFunc("GET /picture/{gid}", h.picture)
	if h.Fleet != nil {
		h.mux.HandleFunc("GET /fleet", h.look)
		h.mux.HandleFunc("POST /fleet/retry", h.retry)
	}
	h.serveFiles()
	return h
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
	} {
		w.Header().Set(name, value)
	}
	h.mux.ServeHTTP(w, r)
}

// serveFiles registers the files of the page, which a browser may keep as long as it asks whether they are still the same.
func (h *Handler) serveFiles() {
	add := func(pattern, name string, data []byte) {
		sum := sha256.Sum256(data)
		tag := `"` + hex.EncodeToString(sum[:12]) + `"`
		kind := map[string]string{
			".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml",
		}[path.Ext(name)] + "; charset=utf-8"
		h.mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-cache")
			w.Header().Set("ETag", tag)
			if r.Header.Get("If-None-Match") == tag {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			w.Header().Set("Content-Type", kind)
			w.Write(data)
		})
	}
	names, err := fs.Glob(files, "files/*")
	if err != nil {
		panic("page: " + err.Error()) // the pattern is right
	}
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			panic("page: " + err.Error()) // it is in the program
		}
		if base := path.Base(name); base == "index.html" {
			is := "no"
			if h.Fleet != nil {
				is = "yes"
			}
			data = bytes.Replace(data, []byte("$FLEET"), []byte(is), 1)
			add("/{$}", base, bytes.Replace(data, []byte("$TOKEN"), []byte(html.EscapeString(h.Token)), 1))
		} else {
			add("/page/"+base, base, data)
		}
	}
	add("/page/picture.css", "picture.css", report.Style())
}

// picture answers with what is drawn of a download.
func (h *Handler) picture(w http.ResponseWriter, r *http.Request) {
	if !h.Admit(w, r) {
		return
	}
	g, ok := queue.ParseGID(r.PathValue("gid"))
	if !ok {
		http.Error(w, "no such download", http.StatusNotFound)
		return
	}
	picture, err := h.engine.Draw(r.Context(), g)
	switch {
	case err != nil:
		http.Error(w, "the download cannot be drawn now", http.StatusServiceUnavailable)
	case picture == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(picture)
	}
}
