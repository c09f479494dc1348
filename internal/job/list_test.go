package job

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
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
	d := &Defaults{}
	d.HTTP.Sites = NewSites(&Settings{})
	client, err := d.Client()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Prepare(client); err != nil {
		t.Fatal(err)
	}
	if err := d.ReadSums(t.Context(), client, nil); err != nil {
		t.Fatal(err)
	}
	list := &List{of: d}
	o, err := list.operand(t.Context(), client, document)
	if err != nil {
		t.Fatal(err)
	}
	made := 0 // each request asks once where its only place is
	o.request.Near.Locations, o.request.Near.Country = []string{"DE"},
		func(context.Context, *url.URL) string { made++; return "" }
	list.add(o)
	if list.Files != files {
		t.Fatalf("%d files", list.Files)
	}
	if err := list.check(); err != nil || made != files {
		t.Fatalf("%d requests were checked, %v", made, err)
	}
	made = 0
	next, stop := iter.Pull(list.All())
	defer stop()
	for i := range taken {
		if r, ok := next(); !ok || r.Name != fmt.Sprintf("f%d", i) || r.URL.Host != fmt.Sprintf("h%d", i) ||
			len(r.Trust.Claims) != 1 {
			t.Fatalf("request %d is %+v", i, r)
		}
	}
	if made != taken {
		t.Errorf("%d requests were made for %d files", made, taken)
	}
}

func TestListCannotBeRead(t *testing.T) {
	list := Input{InputFile: "-", Stdin: strings.NewReader("http://h/a\n")}
	if _, err := list.Read(10); err == nil || err.Error() != "usage standard input: is larger than 10 B (split the list)" {
		t.Error(err)
	}
	list.Stdin = iotest.ErrReader(errors.New("broken"))
	if _, err := list.Read(10); err == nil || problem.Of(err).Kind != download.Local {
		t.Error(err)
	}
}

// TestManualNamesListOptions: all options of lists stand in the table and in the manual, as only the manual can tell before
// the first mistake.
func TestManualNamesListOptions(t *testing.T) {
	manual, err := os.ReadFile("../../doc/manual.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range entryOptions {
		if _, ok := option.InList(name); !ok {
			t.Errorf("lists cannot have %s", name)
		}
		if !strings.Contains(string(manual), "`"+name+"`") {
			t.Errorf("no %s", name)
		}
	}
}
func TestOfOperand(t *testing.T) {
	for _, tt := range []struct{ dir, out, wantDir, wantName string }{
		{"", "", "", ""}, {"d", "", "d", ""}, {"", "n", ".", "n"}, {"", "a/n", "a", "n"}, {"d", "a/n", "d/a", "n"},
		{"d", "/a/n", "/a", "n"}, {"", "../n", "..", "n"},
	} {
		g := &Defaults{Options: Options{Dir: tt.dir, Out: tt.out}}
		if r := g.ofOperand(); r.Dir != tt.wantDir || r.Name != tt.wantName || r.Stream != nil {
			t.Errorf("-d %q -o %q: %q, %q, %v", tt.dir, tt.out, r.Dir, r.Name, r.Stream)
		}
	}
}
