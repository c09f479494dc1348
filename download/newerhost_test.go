package download_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

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
