package search_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"braid/internal/lookup"
	"braid/internal/lookup/search"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A site is a web of a few pages, by their paths. It counts requests.
type site struct {
	pages map[string]string
	index bool // the folder has an index

	mu    sync.Mutex
	asked []string
}

func (w *site) Get(_ context.Context, u *url.URL, most int64) search.Answer {
	w.mu.Lock()
	w.asked = append(w.asked, strings.TrimPrefix(u.Path, "/pub/"))
	w.mu.Unlock()
	page, ok := w.pages[u.Path]
	if w.index && u.Path == "/pub/" {
		for _, at := range slices.Sorted(func(yield func(string) bool) {
			for at := range w.pages {
				if !yield(at) {
					return
				}
			}
		}) {
			name := strings.TrimPrefix(at, "/pub/")
			page += fmt.Sprintf("<a href=%q>%s</a>\n", name, name)
		}
		page, ok = "<html><head><title>Index of /pub/</title></head><body><h1>Index of /pub/</h1>\n"+page+"</body></html>", true
	}
	if !ok {
		return search.Answer{Err: &source.Error{Status: 404, Fault: source.FaultRefused}}
	}
	return search.Answer{Data: []byte(page), Hops: []metalink.Hop{{URL: u}}, Over: verify.HTTP}
}

func (w *site) Ask(context.Context, *lookup.Question) search.Answer { panic("no forge has the file") }

func (w *site) Sign(context.Context, *url.URL, []verify.Claim, []byte) error { return nil }

// take returns the requests since the last call, in order of their names, as together they have none.
func (w *site) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = nil
	slices.Sort(asked)
	return strings.Join(asked, " ")
}

func at(t *testing.T, file string) []metalink.Hop {
	t.Helper()
	u, err := url.Parse("http://a.example/pub/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return []metalink.Hop{{URL: u}}
}

func run(t *testing.T, w *site, shared *search.Folders, file, user string) verify.Finding {
	t.Helper()
	s, ok := search.New(w, shared, at(t, file), user)
	if !ok {
		t.Fatalf("nowhere to look for %s", file)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s.Found
}

// TestShared: a folder is looked at once for all files of a run, but not for those who may see something else of it.
func TestShared(t *testing.T) {
	var list strings.Builder
	for n := range 50 {
		fmt.Fprintf(&list, "%064x  file%d\n", n+1, n)
	}
	w := &site{pages: map[string]string{"/pub/SHA256SUMS": list.String()}, index: true}
	for n := range 50 {
		w.pages[fmt.Sprintf("/pub/file%d", n)] = ""
	}
	var shared search.Folders
	for n := range 50 {
		f := run(t, w, &shared, fmt.Sprintf("file%d", n), "")
		if len(f.Claims) != 1 || f.Claims[0].Digest.Hex() != fmt.Sprintf("%064x", n+1) || f.Claims[0].Channel != verify.HTTP {
			t.Fatalf("file%d: %+v", n, f)
		}
	}
	if asked := w.take(); asked != " SHA256SUMS" {
		t.Errorf("50 files asked for %q", asked)
	}
	run(t, w, &shared, "file1", "alice")
	if asked := w.take(); asked != " SHA256SUMS" {
		t.Errorf("another user's search asked for %q", asked)
	}
}

// TestTogether: without an index four names are asked for, and three files without a list of their own are enough to ask
// for those no more.
func TestTogether(t *testing.T) {
	w := &site{pages: map[string]string{}}
	var shared search.Folders
	for n := range 5 {
		own, want := fmt.Sprintf("file%d.sha256", n), ""
		switch {
		case n == 0:
			want = " SHA256SUMS checksums.txt file0.sha256 sha256sum.txt"
		case n < 3:
			want = own
		}
		f := run(t, w, &shared, fmt.Sprintf("file%d", n), "")
		if asked := w.take(); asked != want || len(f.Claims) > 0 {
			t.Errorf("file%d asked for %q, want %q; found %v", n, asked, want, f.Claims)
		}
	}
}

// TestNowhere has where nothing is looked for.
func TestNowhere(t *testing.T) {
	for _, chain := range [][]metalink.Hop{nil, {{}}, at(t, "")} {
		if _, ok := search.New(&site{}, new(search.Folders), chain, ""); ok {
			t.Errorf("a search for %v", chain)
		}
	}
}
