package serve

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/linkheader"
	"braid/verify"
)

// longAgo is a modification time that needs no wait before hashing.
var longAgo = time.Date(2020, 2, 29, 12, 34, 56, 123456789, time.UTC)

// site is a server on loopback and the folder behind it.
type site struct {
	t   *testing.T
	s   *Server
	dir string
	url string
	log *book
}

// book is a log that tests read: a channel of messages with their attributes.
type book struct {
	slog.Handler
	lines chan map[string]string
}

func newBook() *book { return &book{slog.DiscardHandler, make(chan map[string]string, 1000)} }

func (b *book) Enabled(context.Context, slog.Level) bool { return true }

func (b *book) Handle(_ context.Context, r slog.Record) error {
	line := map[string]string{"": r.Message}
	r.Attrs(func(a slog.Attr) bool { line[a.Key] = a.Value.String(); return true })
	b.lines <- line
	return nil
}

// next returns the next line with a message; it skips others.
func (b *book) next(t *testing.T, message string) map[string]string {
	t.Helper()
	for {
		select {
		case line := <-b.lines:
			if line[""] == message {
				return line
			}
		case <-t.Context().Done():
			t.Fatal("no line in the log")
		case <-time.After(time.Minute):
			t.Fatalf("no line %q in the log", message)
		}
	}
}

// count empties the log and returns the number of lines with a message.
func (b *book) count(message string) (n int) {
	for {
		select {
		case line := <-b.lines:
			if line[""] == message {
				n++
			}
		default:
			return n
		}
	}
}

// put writes a file with the time longAgo. A name with a slash at the end is a folder.
func put(t *testing.T, dir, name, content string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, "/") {
		if err := os.MkdirAll(file, 0o755); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, longAgo, longAgo); err != nil {
		t.Fatal(err)
	}
}

// start serves files until the end of the test.
func start(t *testing.T, files map[string]string, o Options) *site {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		put(t, dir, name, content)
	}
	return open(t, dir, o, nil)
}

// open serves a folder; setUp may modify the server before it answers.
func open(t *testing.T, dir string, o Options, setUp func(*Server)) *site {
	t.Helper()
	log := newBook()
	if o.Log == nil {
		o.Log = slog.New(log)
	}
	s, err := New(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if setUp != nil {
		setUp(s)
	}
	web := httptest.NewUnstartedServer(nil)
	web.Config = HTTPServer(s)
	web.Start()
	t.Cleanup(func() {
		web.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &site{t, s, dir, web.URL, log}
}

// client adds no header fields of its own and follows no redirects.
var client = &http.Client{
	Transport:     &http.Transport{DisableCompression: true, DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// answer is a response with its body.
type answer struct {
	status int
	header http.Header
	body   string
	err    error // of the body
}

// ask sends a request. fields alternates between names and values.
func (w *site) ask(method, path string, fields ...string) answer {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(fields); i += 2 {
		req.Header.Set(fields[i], fields[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(body), err}
}

func (w *site) get(path string, fields ...string) answer {
	w.t.Helper()
	return w.ask(http.MethodGet, path, fields...)
}

// want fails the test unless the answer has this status and body.
func (a answer) want(t *testing.T, status int, body string) {
	t.Helper()
	if a.err != nil || a.status != status || a.body != body {
		t.Errorf("answer is %d %q, %v, want %d %q", a.status, clip(a.body), a.err, status, clip(body))
	}
}

func clip(s string) string { return s[:min(len(s), 200)] }

// links returns the links of an answer with a relation.
func (a answer) links(t *testing.T, relation string) (links []linkheader.Link) {
	t.Helper()
	all, problems := linkheader.Parse(a.header["Link"])
	if len(problems) > 0 {
		t.Errorf("Link is %q: %v", a.header["Link"], problems)
	}
	for _, l := range all {
		if l.Rel(relation) {
			links = append(links, l)
		}
	}
	return links
}

// targets returns the targets of those links.
func (a answer) targets(t *testing.T, relation string) (targets []string) {
	t.Helper()
	for _, l := range a.links(t, relation) {
		targets = append(targets, l.Target)
	}
	return targets
}

// digest returns the SHA-256 that all digest fields of an answer state.
func (a answer) digest(t *testing.T) verify.Digest {
	t.Helper()
	var found verify.Digest
	for _, field := range []string{"Digest", "Repr-Digest"} {
		claims, err := verify.FromHeader(http.Header{field: a.header[field]}, verify.HTTP)
		if err != nil || len(claims) != 1 || claims[0].Digest.Algorithm() != verify.SHA256 {
			t.Fatalf("%s is %q: claims %v, %v, want one SHA-256", field, a.header[field], claims, err)
		}
		if !found.IsZero() && found != claims[0].Digest {
			t.Fatalf("digests differ: %v and %v", found, claims[0].Digest)
		}
		found = claims[0].Digest
	}
	return found
}

// mirror parses a valid mirror.
func mirror(t testing.TB, spec string) Mirror {
	t.Helper()
	m, err := ParseMirror(spec)
	if err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	return m
}

func mustURL(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "file", "x")
	for _, tt := range []struct {
		name, dir string
		o         Options
	}{
		{"no such folder", filepath.Join(dir, "none"), Options{}},
		{"a file", filepath.Join(dir, "file"), Options{}},
		{"negative rate", dir, Options{Rate: -1}},
		{"mirror without URL", dir, Options{Mirrors: []Mirror{{}}}},
		{"mirror with a bad pri", dir, Options{Mirrors: []Mirror{{URL: mustURL(t, "http://h/"), Pri: 1_000_000}}}},
		{"mirror with a bad geo", dir, Options{Mirrors: []Mirror{{URL: mustURL(t, "http://h/"), Geo: ">x"}}}},
		{"mirror with a negative depth", dir, Options{Mirrors: []Mirror{{URL: mustURL(t, "http://h/"), Depth: -1}}}},
		{"origin without host", dir, Options{MirrorOf: mustURL(t, "/pub/")}},
		{"origin by ftp", dir, Options{MirrorOf: mustURL(t, "ftp://h/pub/")}},
		{"both mirror and Metalink server", dir, Options{
			MirrorOf: mustURL(t, "http://o/"), Mirrors: []Mirror{{URL: mustURL(t, "http://h/")}}}},
	} {
		s, err := New(tt.dir, tt.o)
		if err == nil {
			s.Close()
			t.Errorf("%s: no error", tt.name)
		}
	}
}
