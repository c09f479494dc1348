package page

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/daemon/queue"
)

// TestRow: an entry has the name that a user knows it by; what is secret in a URL is not shown, and no text is as it was sent.
func TestRow(t *testing.T) {
	for _, tt := range []struct {
		entry     queue.Entry
		name, url string
	}{
		{queue.Entry{URIs: []string{"https://example.org/d/x.iso?token=abcdef"}}, "x.iso", "https://example.org/d/x.iso?token=***"},
		{queue.Entry{URIs: []string{"https://user:secret@example.org/x"}}, "x", "https://user:***@example.org/x"},
		{queue.Entry{URIs: []string{"https://example.org/"}}, "example.org", "https://example.org/"},
		{queue.Entry{URIs: []string{"https://example.org/x"}, Options: map[string]string{"out": "y"}}, "y", "https://example.org/x"},
		{queue.Entry{URIs: []string{"https://example.org/x"}, Options: map[string]string{"out": "y"}, Path: "/srv/z"}, "z", "https://example.org/x"},
		{queue.Entry{URIs: []string{"magnet:?dn=film.mkv&xt=urn:btih:0"}}, "film.mkv", ""},
		{queue.Entry{Document: []byte("d8:announce")}, "torrent", ""},
		{queue.Entry{Document: []byte("<metalink/>")}, "Metalink document", ""},
		{queue.Entry{URIs: []string{"https://example.org/%3Cb%3Ex%3C%2Fb%3E"}}, "b>", ""},
		{queue.Entry{Path: "/d/photo\u202egpj.exe"}, `photo\u202egpj.exe`, ""},
		{queue.Entry{Path: "/d/a\x1b[31m\nb\u2066"}, `a\x1b[31m\nb\u2066`, ""},
		{queue.Entry{Path: "/d/שלום.iso"}, "שלום.iso", ""},
		{queue.Entry{Path: "/d/" + strings.Repeat("x", 4096)}, strings.Repeat("x", mostName-3) + "...", ""},
		{queue.Entry{URIs: []string{"%"}}, "download", ""},
	} {
		r := rowOf(&tt.entry)
		if r.Name != tt.name || tt.url != "" && r.URL != tt.url {
			t.Errorf("%.80v: %q at %q, want %q at %q", tt.entry, r.Name, r.URL, tt.name, tt.url)
		}
	}
}

// An idle engine has an empty queue.
type idle struct{ q *queue.Queue }

func (i idle) Do(_ context.Context, f func(q *queue.Queue) error) error { return f(i.q) }
func (i idle) Draw(context.Context, queue.GID) ([]byte, error)          { return nil, nil }

// TestHeartbeat: where nothing happens, something is sent every five seconds, and not more often.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(idle{queue.New(1)}, Options{Admit: func(http.ResponseWriter, *http.Request) bool { return true }})
		w := httptest.NewRecorder()
		ctx, cancel := context.WithTimeout(t.Context(), 21*time.Second)
		defer cancel()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/events", nil))
		if got := w.Body.String(); strings.Count(got, ": here\n\n") != 4 || strings.Count(got, "data:") != 1 {
			t.Errorf("in 21 seconds came %q", got)
		}
	})
}
