package download_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"braid/download"
	"braid/download/state"
)

// A server redirects to one host and later to another. The tag of the first does not identify the file of the
// second, even if both are the same by chance (RFC 9110, section 8.8.3). Proves rule 54.
func TestTagOfAnotherHost_Rule54(t *testing.T) {
	first, second := newShelf(t, "one"), newShelf(t, "two")
	first.etag, second.etag = `"1"`, `"1"`
	var to atomic.Pointer[shelf]
	to.Store(first)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to.Load().URL+"/f", http.StatusFound)
	}))
	defer front.Close()
	req := download.Request{
		URL: parse(t, front.URL+"/f"), Dir: t.TempDir(), Name: "f",
		IfExists: download.IfExists{IfNewer: true},
	}
	ask := func(unmodified bool, content string) {
		t.Helper()
		res, err := (&download.Client{}).Get(t.Context(), req)
		if err != nil || res.NotModified != unmodified {
			t.Fatalf("%+v, %v", res, err)
		}
		if got, err := os.ReadFile(filepath.Join(req.Dir, "f")); err != nil || string(got) != content {
			t.Errorf("%q, %v", got, err)
		}
		req.IfExists.Known = &state.Version{ETag: res.ETag, Host: res.Host}
	}
	ask(false, "one")
	ask(true, "one")
	to.Store(second)
	ask(false, "two")
	ask(true, "two")
}

// A server leads to a newer file of another host by a redirect with the digest, and later serves an older file itself. The
// date of the other host counts for nothing, but its file is no older than the one that it replaced. Proves rule 54.
func TestOlderThanBeforeAnotherHost_Rule54(t *testing.T) {
	other := newShelf(t, "two")
	dates := []string{"Fri, 02 Jan 2026 00:00:00 GMT", "", "Thu, 01 Jan 2026 00:00:00 GMT"}
	contents := []string{"one", "two", "old"}
	turn := 0
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.Sum256([]byte(contents[turn]))
		w.Header().Set("Digest", "SHA-256="+base64.StdEncoding.EncodeToString(sum[:]))
		if turn == 1 {
			http.Redirect(w, r, other.URL+"/f", http.StatusFound)
			return
		}
		w.Header().Set("Last-Modified", dates[turn])
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(contents[turn]))
	}))
	defer front.Close()
	req := download.Request{
		URL: parse(t, front.URL+"/f"), Dir: t.TempDir(), Name: "f",
		IfExists: download.IfExists{IfNewer: true},
	}
	for _, want := range []string{"one", "two", "two"} {
		res, err := new(download.Client).Get(t.Context(), req)
		if err != nil || res.NotModified != (turn == 2) {
			t.Fatalf("turn %d: %+v, %v", turn, res, err)
		}
		if got, err := os.ReadFile(filepath.Join(req.Dir, "f")); err != nil || string(got) != want {
			t.Errorf("turn %d: %q, %v", turn, got, err)
		}
		req.IfExists.Known = &state.Version{ETag: res.ETag, LastModified: res.LastModified, Host: res.Host}
		turn++
	}
}
