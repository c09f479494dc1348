package watch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"braid/antenna"
	"braid/antenna/feed"
	"braid/download"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/internal/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// origin is a server with one file, which changes.
type origin struct {
	*httptest.Server
	mu       sync.Mutex
	body     string
	modified time.Time
	etag     string
	digest   bool
	status   int
	requests []string
}

func newOrigin(t *testing.T, body string) *origin {
	o := &origin{body: body, modified: date(1), digest: true}
	o.Server = httptest.NewServer(http.HandlerFunc(o.serve))
	t.Cleanup(o.Close)
	return o
}

func date(day int) time.Time { return time.Date(2026, 11, day, 10, 0, 0, 0, time.UTC) }

func (o *origin) serve(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests = append(o.requests, r.Method+" "+r.Header.Get("If-None-Match")+r.Header.Get("If-Modified-Since"))
	if o.status != 0 {
		w.WriteHeader(o.status)
		return
	}
	if o.digest {
		sum := sha256.Sum256([]byte(o.body))
		w.Header().Set("Digest", "SHA-256="+base64.StdEncoding.EncodeToString(sum[:]))
	}
	if o.etag != "" {
		w.Header().Set("ETag", o.etag)
	}
	http.ServeContent(w, r, "file", o.modified, strings.NewReader(o.body))
}

func (o *origin) set(f func(o *origin)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests = nil
	f(o)
}

func (o *origin) asked() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.requests)
}

// world is an Updater with one watch, and its log.
type world struct {
	t       *testing.T
	dir     string
	files   fsys.FS // nil for the operating system's
	origin  *origin
	rule    *Rule
	updater *Updater
	log     bytes.Buffer
	hooks   []hook
	fail    error // returned by hooks
	last    antenna.Outcome
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, dir: t.TempDir(), origin: newOrigin(t, "one")}
	w.rule = &Rule{Watch: &Watch{Dir: filepath.Join(w.dir, "files")}, Request: download.Request{
		Trust: download.Trust{Require: download.RequireDigest},
	}}
	w.template("", false)
	w.start()
	return w
}

func (w *world) template(text string, glob bool) {
	w.t.Helper()
	var err error
	if w.rule.File, err = parseTemplate(text, w.origin.URL+"/pub/**", glob); err != nil {
		w.t.Fatal(err)
	}
}

// start creates an Updater with the state on disk.
func (w *world) start() {
	w.t.Helper()
	rules := map[string]*Rule{"w": w.rule}
	memory, err := openMemory(w.files, filepath.Join(w.dir, "memory"), rules)
	if err != nil {
		w.t.Fatal(err)
	}
	key := filepath.Join(w.dir, "journal-key")
	memory.key = partfile.OpenKey(nil, key)
	w.updater = &Updater{
		Client: &download.Client{RetryWait: time.Millisecond, Tries: 1, JournalKey: key}, Rules: rules, Memory: memory,
		Log:     slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelInfo})),
		runHook: func(_ context.Context, h hook) error { w.hooks = append(w.hooks, h); return w.fail },
	}
}

func (w *world) update() antenna.Update {
	return antenna.Update{Watch: "w", URL: w.origin.URL + "/pub/file", Action: feed.Download, Reason: feed.Modified,
		Last: w.last, Try: 1}
}

func (w *world) handle(u antenna.Update) (antenna.Outcome, error) {
	w.t.Helper()
	o, err := w.updater.Handle(fsys.With(w.t.Context(), w.files), u)
	if err == nil {
		w.last = o
	}
	return o, err
}

// does handles an update, which must succeed.
func (w *world) does() antenna.Outcome {
	w.t.Helper()
	o, err := w.handle(w.update())
	if err != nil {
		w.t.Fatalf("handle: %v\n%s", err, w.log.String())
	}
	return o
}

func (w *world) path() string { return filepath.Join(w.rule.Dir, "file") }

func (w *world) holds(path, want string) {
	w.t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		w.t.Errorf("%s has %q, %v, want %q", path, got, err, want)
	}
}

// old returns the contents of old versions.
func (w *world) old() (contents []string) {
	w.t.Helper()
	names, err := filepath.Glob(filepath.Join(w.rule.Dir, oldFolder, "*"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			w.t.Fatal(err)
		}
		contents = append(contents, string(data))
	}
	return contents
}
