// Package page serves the web page of a daemon. It shows the downloads, their progress, what proved each file and why a
// download is slow.
//
// A [Handler] is mounted at /. The page sends its commands to the remote control, which is mounted at /jsonrpc:
//
//	control := rpc.New(engine, options)
//	mux.Handle("/jsonrpc", control)
//	mux.Handle("/", page.New(engine, page.Options{Admit: control.Admit}))
//
// The page consists of ES modules and a style sheet that are embedded in the program. Its Content-Security-Policy
// forbids loading anything from other servers. Text from outside is always displayed as text. The page gets its data
// from one stream of events, which begins with all entries and continues with changes. Options.Admit decides who may
// read the stream and the drawings. The files of the page contain no secrets and are served to every client.
//
// The files: stream.go has the events, row.go the form of an entry, fleet.go and watches.go the states of a fleet and of a
// watcher, and files the page.
package page

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"braid/daemon/queue"
	"braid/internal/report"
)

// An Engine is the daemon that owns the queue.
type Engine interface {
	// Do calls f, which has exclusive use of the queue during the call.
	Do(ctx context.Context, f func(q *queue.Queue) error) error
	// Draw returns a drawing of the entry's current or last download, made by internal/report, or nil without such a download.
	Draw(ctx context.Context, g queue.GID) ([]byte, error)
}

// Options configures a [Handler].
type Options struct {
	// Admit reports whether the sender of r may see the queue. If not, Admit has sent a response. It must check the
	// token in the Authorization field, and the Host and Origin fields.
	Admit func(w http.ResponseWriter, r *http.Request) bool
	// Every is the interval at which a stream looks for changes. If zero, it is half a second.
	Every time.Duration
	// MostStreams limits the number of open streams. If zero, it is 64.
	MostStreams int
	// Token is the command or option that prints the token, for the page's users. If empty, it is "braid daemon token".
	Token string
	// Folder is the folder for downloads without the option dir. If empty, the page shows no folder for them.
	Folder string
	// Fleet is the job queue with workers that download the entries. If nil, the daemon downloads them itself.
	Fleet Fleet
	// Watches returns the states of the daemon's watches, sorted by name. If nil, the daemon has no watcher.
	Watches func(ctx context.Context) ([]Watch, error)
}

// A Handler serves the page. [New] returns one. Each stream of events ends with the context of its request, so a server
// that shuts down must cancel its BaseContext.
type Handler struct {
	Options
	engine  Engine
	mux     *http.ServeMux
	epoch   string        // part of the IDs of events; differs for each process
	streams chan struct{} // holds one value for each open stream
}

//go:embed files
var files embed.FS

// policy allows only resources from this server. Only the drawings, which the program makes, may be inserted as HTML.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types picture"

// New returns a handler for the queue of engine.
func New(engine Engine, o Options) *Handler {
	if o.Every == 0 {
		o.Every = 500 * time.Millisecond
	}
	if o.MostStreams == 0 {
		o.MostStreams = 64
	}
	o.Token = cmp.Or(o.Token, "braid daemon token")
	h := &Handler{Options: o, engine: engine, mux: http.NewServeMux(), epoch: newEpoch(),
		streams: make(chan struct{}, o.MostStreams)}
	h.mux.HandleFunc("GET /events", h.events)
	h.mux.HandleFunc("GET /picture/{gid}", h.picture)
	if h.Fleet != nil {
		h.mux.HandleFunc("GET /fleet", h.look)
		h.mux.HandleFunc("POST /fleet/retry", h.retry)
	}
	if h.Watches != nil {
		h.mux.HandleFunc("GET /watches", h.watches)
	}
	h.serveFiles()
	return h
}

// ServeHTTP answers a request for the page, its files, its data or a drawing.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
	} {
		w.Header().Set(name, value)
	}
	h.mux.ServeHTTP(w, r)
}

// serveFiles registers the files of the page. Browsers may cache the files but must revalidate them.
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
		panic("page: " + err.Error()) // cannot happen: the pattern is valid
	}
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			panic("page: " + err.Error()) // cannot happen: the file is embedded
		}
		if base := path.Base(name); base == "index.html" {
			add("/{$}", base, []byte(strings.NewReplacer("$TOKEN", html.EscapeString(h.Token),
				"$FLEET", yes(h.Fleet != nil), "$WATCHES", yes(h.Watches != nil)).Replace(string(data))))
		} else {
			add("/page/"+base, base, data)
		}
	}
	add("/page/picture.css", "picture.css", report.Style())
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// picture answers with a drawing of the download of an entry.
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
