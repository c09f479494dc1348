package main

import (
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// commandOnly are the packages that are of no use without the command: nobody imports them for themselves.
var commandOnly = []string{".", "cli", "watch", "watch/config", "watch/control", "watch/metrics"}

// TestExamples: who imports a package finds a story at its beginning, and an example that runs.
func TestExamples(t *testing.T) {
	for pkg := range houses {
		if slices.Contains(commandOnly, pkg) || strings.HasPrefix(pkg, "internal/") || strings.HasPrefix(pkg, "scripts/") {
			continue
		}
		story, examples := storyOf(t, pkg)
		if !strings.HasPrefix(story, "Package "+path.Base(pkg)+" ") || strings.Count(story, "\n\n") < 1 {
			t.Errorf("%s: its comment has no story, but %q", pkg, story)
		}
		if examples == 0 {
			t.Errorf("%s: has no example with output", pkg)
		}
	}
}

// storyOf is the comment of a package, and how many examples run.
func storyOf(t *testing.T, pkg string) (story string, examples int) {
	t.Helper()
	names, err := fs.Glob(os.DirFS("."), pkg+"/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") {
			story += f.Doc.Text()
			continue
		}
		for _, e := range doc.Examples(f) {
			if e.Output != "" {
				examples++
			}
		}
	}
	return story, examples
}
