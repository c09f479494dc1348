package cli

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"braid/download"
	"braid/internal/hint"
	"braid/internal/problem"
	"braid/internal/render"
)

const (
	messagesFile = "testdata/messages.txt"
	messagesHead = "The messages of all packages, so that a change of words is seen as one. They are collected from\n" +
		"the code: go test ./cli -run TestMessages -update. {} stands for what only a run knows, as %s does.\n"
)

// TestMessages compares the messages of all packages with the golden file.
func TestMessages(t *testing.T) {
	made := messagesHead + kindMessages() + hintMessages(t)
	texts := messagesOf(t, "..")
	for _, pkg := range slices.Sorted(maps.Keys(texts)) {
		made += "\n== " + pkg + "\n"
		for _, text := range slices.Sorted(maps.Keys(texts[pkg])) {
			made += text + "\n"
		}
	}
	if *update {
		if err := os.WriteFile(messagesFile, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(messagesFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range changedLines(strings.ReplaceAll(string(golden), "\r\n", "\n"), made) {
		t.Error(line)
	}
	if t.Failed() {
		t.Error("if these are the words: go test ./cli -run TestMessages -update")
	}
}

// changedLines returns the lines that only one of two texts has, with the section that they are in.
func changedLines(golden, made string) (changed []string) {
	lines := func(text string) map[string]bool {
		all, section := map[string]bool{}, ""
		for line := range strings.Lines(text) {
			if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "== ") {
				section = strings.TrimPrefix(line, "== ")
			}
			all[section+": "+line] = true
		}
		return all
	}
	old, now := lines(golden), lines(made)
	for _, line := range slices.Sorted(maps.Keys(old)) {
		if !now[line] {
			changed = append(changed, "- "+line)
		}
	}
	for _, line := range slices.Sorted(maps.Keys(now)) {
		if !old[line] {
			changed = append(changed, "+ "+line)
		}
	}
	return changed
}

// kindMessages has the message of each kind of errors, if nothing was kept and if a part was.
func kindMessages() string {
	var b strings.Builder
	b.WriteString("\n== kinds of errors\n")
	for k := range download.BadSignature + 1 {
		e := &download.Error{Kind: k, What: "download", Where: "https://example.org/a.iso", Err: errors.New("REASON")}
		fmt.Fprintf(&b, "%s, exit code %d, %d to aria2\n", k, kindCode(k), problem.Aria2Code(e))
		fmt.Fprintf(&b, "  %s\n", render.ErrorLine(hint.Problem(e)))
		e.Kept, e.Part = 5<<20, "a.iso.part"
		fmt.Fprintf(&b, "  %s\n", render.ErrorLine(hint.Problem(e)))
	}
	return b.String()
}

// hintMessages has each hint of package download, in its words and in those of the command.
func hintMessages(t *testing.T) string {
	var b strings.Builder
	b.WriteString("\n== hints\n")
	for text := range stringsIn(t, filepath.FromSlash("../download/hint.go")) {
		e := &download.Error{Hint: download.Hint(text), Part: "folder/a.iso.part"}
		fmt.Fprintf(&b, "%s\n  %s\n", text, hint.Of(e))
	}
	return b.String()
}

// messagesOf returns the texts in the packages below root, by package.
func messagesOf(t *testing.T, root string) map[string]map[string]bool {
	t.Helper()
	all := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "testdata" || name == "scripts" || name == "test" || name != root && name[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		pkg := filepath.ToSlash(dir)
		for text := range stringsIn(t, path) {
			if !isMessage(text) {
				continue
			}
			if all[pkg] == nil {
				all[pkg] = map[string]bool{}
			}
			all[pkg][strings.Trim(strconv.Quote(text), `"`)] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// word matches a word of a sentence, of two letters or more.
var word = regexp.MustCompile(`^["'(]*[A-Za-z][a-z']+[,.;:?)"']*$`)

// isMessage reports whether a text has two words of a sentence.
func isMessage(text string) bool {
	words := slices.DeleteFunc(strings.Fields(text), func(w string) bool { return !word.MatchString(w) })
	return len(words) >= 2
}

// stringsIn yields the strings in a file. Strings that are added are one, with {} for operands of other kinds.
func stringsIn(t *testing.T, name string) func(yield func(string) bool) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(string) bool) {
		more := true
		var visit func(n ast.Node) bool
		visit = func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field: // without its tag
				ast.Inspect(n.Type, visit)
				return false
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok &&
					(fmt.Sprint(s.X) == "regexp" || fmt.Sprint(s.X, s.Sel) == "once Pattern") {
					return false
				}
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					more = more && yield(unquoted(n))
				}
			case *ast.BinaryExpr:
				if n.Op != token.ADD {
					break
				}
				text, operands := added(n)
				more = more && yield(text)
				for _, o := range operands {
					ast.Inspect(o, visit)
				}
				return false
			}
			return more
		}
		ast.Inspect(f, visit)
	}
}

// added returns the text of a sum, and its operands that are no strings.
func added(e ast.Expr) (text string, operands []ast.Expr) {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			x, first := added(e.X)
			y, second := added(e.Y)
			return x + y, append(first, second...)
		}
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return unquoted(e), nil
		}
	}
	return "{}", []ast.Expr{e}
}

func unquoted(lit *ast.BasicLit) string {
	text, _ := strconv.Unquote(lit.Value)
	return text
}

// TestMessagesCatches checks what counts as a message, and that a changed one is found.
func TestMessagesCatches(t *testing.T) {
	for text, want := range map[string]bool{
		"%s: wrong digest": true, "is a folder": true, "the file is kept": true,
		"limit-rate max-rate": false, "it's {}": false, "application/octet-stream": false,
		"Content-Type": false, "out o": false, "GET {} HTTP/1.1": false, "": false,
	} {
		if isMessage(text) != want {
			t.Errorf("%q is a message: %t", text, !want)
		}
	}
	name := filepath.Join(t.TempDir(), "a.go")
	source := "package a\nimport _ \"b\"\ntype t struct { a string `json:\"a\"` }\n" +
		"var x = f(\"one \" + y(\"two\") + \" three\" +\n\t\" four\", regexp.MustCompile(\"five\"))\n"
	if err := os.WriteFile(name, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := slices.Collect(stringsIn(t, name)); !slices.Equal(got, []string{"one {} three four", "two"}) {
		t.Errorf("%q", got)
	}
	got := changedLines("== a\nsame\nold\n== b\nsame\n", "== a\nsame\nnew\n== b\nsame\n")
	if !slices.Equal(got, []string{"- a: old", "+ a: new"}) {
		t.Errorf("%q", got)
	}
}
