package cli

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/metalink"
)

// writeDocument writes a document of n files, each at a server of its own.
func writeDocument(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(`<metalink xmlns="urn:ietf:params:xml:ns:metalink">`)
	for i := range n {
		fmt.Fprintf(&b, `<file name="f%d"><hash type="sha-256">%064x</hash><url>http://h%d/f</url></file>`, i, i, i)
	}
	b.WriteString("</metalink>")
	name := filepath.Join(t.TempDir(), "list.meta4")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestRequestsOfDocument: a request of a file of a document is made when its turn comes, and none before. Proves rule 20.
func TestRequestsOfDocument(t *testing.T) {
	const files, taken = 10_000, 3
	document := writeDocument(t, files)
	g, _, err := parse(t, document)
	if err != nil {
		t.Fatal(err)
	}
	o, err := g.operand(t.Context(), clientOf(t, g), document)
	if err != nil {
		t.Fatal(err)
	}
	made := 0 // each request asks once where its only place is
	o.request.Locations, o.request.Country = []string{"DE"}, func(context.Context, *url.URL) string { made++; return "" }
	list := worklistOf(g, o)
	if list.files != files {
		t.Fatalf("%d files", list.files)
	}
	if err := list.check(); err != nil || made != files {
		t.Fatalf("%d requests were checked, %v", made, err)
	}
	made = 0
	next, stop := iter.Pull(list.all())
	defer stop()
	for i := range taken {
		if r, ok := next(); !ok || r.Name != fmt.Sprintf("f%d", i) || r.URL.Host != fmt.Sprintf("h%d", i) || len(r.Claims) != 1 {
			t.Fatalf("request %d is %+v", i, r)
		}
	}
	if made != taken {
		t.Errorf("%d requests were made for %d files", made, taken)
	}
}

// TestRequestFailsInTurn: what cannot be made a request any more when its turn comes is an error of the run.
func TestRequestFailsInTurn(t *testing.T) {
	s := mirrortest.New(t, []byte("a"))
	for n := range 2 { // files before it
		g, _, err := parse(t, "-q", "-d", t.TempDir(), s.URL)
		if err != nil {
			t.Fatal(err)
		}
		g.screen = g.outputFlags.screen(g.streams)
		client := clientOf(t, g)
		o, err := g.operand(t.Context(), client, s.URL)
		if err != nil {
			t.Fatal(err)
		}
		list := worklistOf(g, append(slices.Repeat([]operand{o}, n), operand{document: gone(), files: []int{0}})...)
		if code := g.all(t.Context(), client, list); code != exitNetwork {
			t.Errorf("after %d files: exit code %d, want %d", n, code, exitNetwork)
		}
	}
}

// gone is a document whose only file has no place.
func gone() *download.Document {
	d := &download.Document{Name: "x.meta4"}
	d.Files.Add(metalink.File{Name: "f"})
	return d
}
