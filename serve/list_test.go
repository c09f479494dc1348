package serve

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The list of a large folder is made once for many requests, and again when an entry is added; HEAD does not make it.
func TestListOfLargeFolder(t *testing.T) {
	dir := t.TempDir()
	for i := range largeFolder {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := open(t, dir, Options{}, nil)
	kept := func() *page {
		w.s.pages.mu.Lock()
		defer w.s.pages.mu.Unlock()
		if w.s.pages.made == nil {
			return nil
		}
		p, _ := w.s.pages.made.get(".")
		return p
	}
	if a := w.ask(http.MethodHead, "/"); a.status != 200 || kept() != nil {
		t.Errorf("HEAD: %d, and a page was made: %v", a.status, kept() != nil)
	}
	body := w.get("/").body
	if n := strings.Count(body, "<a href="); n != largeFolder+1 { // and SHA256SUMS
		t.Fatalf("%d entries", n)
	}
	first := kept()
	if first == nil {
		t.Fatal("no page is kept")
	}
	w.s.pages.mu.Lock()
	first.until = time.Now().Add(time.Hour) // however slow this machine is
	w.s.pages.mu.Unlock()
	w.get("/").want(t, 200, body)
	if kept() != first {
		t.Error("the page was made twice")
	}
	put(t, dir, "new", "1")
	if a := w.get("/"); !strings.Contains(a.body, `<a href="new">new</a> 1`) {
		t.Error("a new file is not in the list")
	}
	second := kept()
	w.s.pages.mu.Lock()
	second.until = time.Now().Add(-1)
	w.s.pages.mu.Unlock()
	put(t, dir, "new", "22")
	if a := w.get("/"); !strings.Contains(a.body, `<a href="new">new</a> 2`) {
		t.Error("the page is kept for ever")
	}
}

// The page of a small folder is not kept.
func TestListOfSmallFolder(t *testing.T) {
	w := start(t, map[string]string{"a": "1"}, Options{})
	w.get("/")
	if _, ok := w.s.pages.made.get("."); ok {
		t.Error("a page is kept")
	}
}

func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	for i := range 50_000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d", i)), nil, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	s, err := New(dir, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for b.Loop() {
		if _, _, err := s.page("."); err != nil {
			b.Fatal(err)
		}
	}
}
