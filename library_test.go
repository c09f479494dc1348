package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// commandOnly are the packages that are of no use without the command: nobody imports them for themselves.
var commandOnly = []string{".", "cli"}

// TestExamples: who imports a package finds a story at its beginning, and an example that runs.
func TestExamples(t *testing.T) {
	for pkg := range houses {
		if !importable(pkg) {
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
	for _, name := range goFiles(t, pkg) {
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

// TestExportedTypes: what a program can set or call it can also name, so nothing exported is of an internal type.
func TestExportedTypes(t *testing.T) {
	for pkg := range houses {
		if !importable(pkg) {
			continue
		}
		for _, name := range goFiles(t, pkg) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range exportedInternals(t, src) {
				t.Errorf("%s: exports something of type %s, which nobody outside can name", name, found)
			}
		}
	}
}

// TestExportedTypesCatches shows where such a type is found.
func TestExportedTypesCatches(t *testing.T) {
	for src, want := range map[string]string{
		"type T struct{ F *mask.M }":                        "mask.M",
		"type T struct{ M map[string][]mask.M }":            "mask.M",
		"type T interface{ Do(mask.M) }":                    "mask.M",
		"type T = mask.M":                                   "mask.M",
		"func F(io.Reader) (mask.M, error) { panic(0) }":    "mask.M",
		"type T int\nfunc (*T) F(f func(mask.M)) {}":        "mask.M",
		"var V mask.M":                                      "mask.M",
		"type T struct{ F fsys.FS; f mask.M; io.Reader }":   "fsys.FS",
		"type T struct{ f mask.M; io.Reader }":              "",
		"type t struct{ F mask.M }\nfunc (*t) M(mask.M) {}": "",
		"func f(mask.M) {}\nfunc F() { var m mask.M; _=m }": "",
		"var V = mask.New()":                                "",
	} {
		file := "package a\nimport (\"braid/internal/fsys\"; \"braid/internal/mask\"; \"io\")\n" + src
		if got := strings.Join(exportedInternals(t, []byte(file)), " "); got != want {
			t.Errorf("%s: found %q, want %q", src, got, want)
		}
	}
}

// exportedInternals is what a file exports that is of a type of an internal package.
func exportedInternals(t *testing.T, src []byte) (found []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	internal := map[string]bool{}
	for _, spec := range f.Imports {
		if p := strings.Trim(spec.Path.Value, `"`); strings.HasPrefix(p, module+"/internal/") {
			internal[path.Base(p)] = true
		}
	}
	ast.FileExports(f)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl: // what it does is its own matter, and so is what nobody can call
			n.Body = nil
			return n.Recv == nil || ast.IsExported(receiver(n.Recv.List[0].Type))
		case *ast.ValueSpec:
			n.Values = nil
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if name := fmt.Sprint(n.X, ".", n.Sel.Name); ok && internal[x.Name] {
				found = append(found, name)
			}
		}
		return true
	})
	return found
}

// receiver is the name of the type of a method.
func receiver(recv ast.Expr) string {
	for {
		switch x := recv.(type) {
		case *ast.StarExpr:
			recv = x.X
		case *ast.IndexExpr:
			recv = x.X
		case *ast.IndexListExpr:
			recv = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// houseRules are words that mean nothing to a reader of go doc: numbers of doc/rules.md.
var houseRules = regexp.MustCompile(`\brules? [0-9]+|\b[CSV][0-9]+\b`)

// TestExportedComments: the comment of an exported name says what holds or cites an RFC. Rule numbers of this project
// are for tests.
func TestExportedComments(t *testing.T) {
	for pkg := range houses {
		for _, name := range goFiles(t, pkg) {
			if !strings.HasSuffix(name, "_test.go") {
				checkComments(t, name, nil)
			}
		}
	}
}

// checkComments reports exported names whose comment has a rule number.
func checkComments(t *testing.T, name string, src any) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.FileExports(f)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			return false
		case *ast.CommentGroup:
			if found := houseRules.FindString(n.Text()); found != "" {
				t.Errorf("%v: %q in the comment of an exported name", fset.Position(n.Pos()), found)
			}
		}
		return true
	})
}

// importable says that a package is of use to programs of others.
func importable(pkg string) bool {
	return !slices.Contains(commandOnly, pkg) && !strings.HasPrefix(pkg, "internal/")
}

// goFiles are the files of a package.
func goFiles(t *testing.T, pkg string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// clockUses reports each function of the clock that file names; timeName is what package time is called there.
func clockUses(name string, file *ast.File, timeName string) (problems []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == timeName && slices.Contains(clock, sel.Sel.Name) {
			problems = append(problems, fmt.Sprintf("%s: pure, must not use time.%s", name, sel.Sel.Name))
		}
		return true
	})
	return problems
}
