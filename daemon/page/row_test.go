package page

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"braid/daemon/queue"
)

// TestRow_Rule61_Rule62 checks that a row has the name that the user knows the entry by, hides secrets in URLs, and
// escapes control characters.
func TestRow_Rule61_Rule62(t *testing.T) {
	for _, tt := range []struct {
		entry     queue.Entry
		name, url string
	}{
		{queue.Entry{URIs: []string{"https://example.org/d/x.iso?token=abcdef"}}, "x.iso",
			"https://example.org/d/x.iso?token=***"},
		{queue.Entry{URIs: []string{"https://user:secret@example.org/x"}}, "x", "https://user:***@example.org/x"},
		{queue.Entry{URIs: []string{"https://example.org/"}}, "example.org", "https://example.org/"},
		{queue.Entry{URIs: []string{"https://example.org/x"}, Options: map[string]string{"out": "y"}}, "y",
			"https://example.org/x"},
		{queue.Entry{URIs: []string{"https://example.org/x"}, Options: map[string]string{"out": "y"}, Path: "/srv/z"},
			"z", "https://example.org/x"},
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
		r := rowOf(&tt.entry, "")
		if r.Name != tt.name || tt.url != "" && r.URL != tt.url {
			t.Errorf("%.80v: %q at %q, want %q at %q", tt.entry, r.Name, r.URL, tt.name, tt.url)
		}
	}
}

// TestReason checks that the reason of a failure omits the URL and shortens digests, whether it comes from Reason or
// from Message.
func TestReason(t *testing.T) {
	const at = "https://example.org/x.iso"
	for _, tt := range []struct {
		o    queue.Outcome
		want string
	}{
		{queue.Outcome{}, ""},
		{queue.Outcome{Kind: "refused", Reason: "404 Not Found",
			Message: "download " + at + ": example.org: status 404 Not Found"}, "404 Not Found"},
		{queue.Outcome{Kind: "refused", Message: "download " + at + ": example.org: status 404 Not Found"},
			"status 404 Not Found"},
		{queue.Outcome{Kind: "mismatch", Message: "download " + at + ": sha-256 is " + strings.Repeat("ab", 32) +
			", want " + strings.Repeat("cd", 32)}, "sha-256 is abababab..., want cdcdcdcd..."},
		{queue.Outcome{Kind: "local", Message: "part file: no space left"}, "part file: no space left"},
		{queue.Outcome{Kind: "other"}, ""},
	} {
		if got := rowOf(&queue.Entry{URIs: []string{at}, Outcome: tt.o}, "").Reason; got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.o, got, tt.want)
		}
	}
}

// TestFolder checks that a row names the folder of its file, also before the file exists.
func TestFolder(t *testing.T) {
	for _, tt := range []struct {
		entry queue.Entry
		want  string
	}{
		{queue.Entry{}, "/srv/files"},
		{queue.Entry{Options: map[string]string{"dir": "/srv/isos"}}, "/srv/isos"},
		{queue.Entry{Path: "/srv/docs/a/x.iso", Options: map[string]string{"dir": "/srv/isos"}}, "/srv/docs/a"},
		{queue.Entry{Options: map[string]string{"dir": "/srv/\u202ex"}}, `/srv/\u202ex`},
	} {
		if got := rowOf(&tt.entry, "/srv/files").Folder; got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.entry, got, tt.want)
		}
	}
}

// idle implements Engine with a queue in which nothing changes.
type idle struct{ q *queue.Queue }

func (i idle) Do(_ context.Context, f func(q *queue.Queue) error) error { return f(i.q) }
func (i idle) Draw(context.Context, queue.GID) ([]byte, error)          { return nil, nil }

// TestHeartbeat checks that a stream without events gets a comment every five seconds.
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

// FuzzRow checks that every text of a row is valid UTF-8, is short, and has only graphic characters, whatever clients
// and servers wrote.
func FuzzRow(f *testing.F) {
	f.Add("https://user:secret@example.org/a.iso?token=x", "/srv/a.iso", "", "wrong digest")
	f.Add("magnet:?dn=\u202e", "", "<b>", "\x00\x1b[31m")
	f.Add("%", "a\\b/..", "\xff", "\u2066")
	f.Fuzz(func(t *testing.T, uri, path, out, message string) {
		e := queue.Entry{
			URIs: []string{uri}, Path: path, Options: map[string]string{"out": out, "max-download-limit": out},
			Outcome: queue.Outcome{Kind: "refused", Message: message, Hint: message, Verified: message},
		}
		r := rowOf(&e, out)
		if r.Name == "" {
			t.Errorf("%q, %q and %q make no name", uri, path, out)
		}
		for _, text := range []string{r.Name, r.URL, r.Path, r.Message, r.Reason, r.Folder, r.Hint, r.Verified, r.Limit} {
			if !utf8.ValidString(text) || len(text) > 10*mostText+10 || strings.ContainsFunc(text,
				func(c rune) bool { return !unicode.IsGraphic(c) || unicode.Is(unicode.Bidi_Control, c) }) {
				t.Errorf("%q is shown", text)
			}
		}
	})
}
