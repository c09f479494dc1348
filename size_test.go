package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

const (
	packages = "packages of the product"
	maxFiles = 6 // with methods of one type
)

// sizes are what is still too large, and how large: the packages of the product, and in how many files the types have
// methods that have them in more than maxFiles. A number may only go down, to that of the goal, and a row may only go; a
// commit that raises a number says why.
var sizes = map[string]int{
	packages: 77,
}

// shapes lists what exceeds a limit of TestShapes, and how far. A number may only fall, and a row only go; a commit that raises
// one says why.
var shapes = map[string]int{
	"lines of the product":                    123451,
	"lines of tests of more than 130 columns": 148,
}

// TestSizes: nothing of the table grows, and what has become smaller is smaller in the table, too.
func TestSizes(t *testing.T) {
	is := map[string]int{}
	for pkg := range houses {
		if strings.HasPrefix(pkg, "internal/test/") {
			continue
		}
		is[packages]++
		for receiver, files := range methodFiles(t, pkg) {
			if files > maxFiles {
				is[pkg+"."+receiver] = files
			}
		}
	}
	for _, problem := range compareSizes(is, sizes) {
		t.Error(problem)
	}
}

// TestSizesCatches shows that both directions bite.
func TestSizesCatches(t *testing.T) {
	want := map[string]int{"a": 7, "b": 8}
	for _, tt := range []struct {
		is      map[string]int
		problem string
	}{
		{map[string]int{"a": 7, "b": 8}, ""},
		{map[string]int{"a": 7, "b": 9}, "b: 9, and the table allows 8"},
		{map[string]int{"a": 6, "b": 8}, "a: 6 now: lower the 7 of the table"},
		{map[string]int{"a": 7}, "b: 0 now: lower the 8 of the table"},
		{map[string]int{"a": 7, "b": 8, "c": 7}, "c: 7, and the table allows 0"},
	} {
		if got := strings.Join(compareSizes(tt.is, want), "; "); got != tt.problem {
			t.Errorf("%v: %q, want %q", tt.is, got, tt.problem)
		}
	}
}

func compareSizes(is, want map[string]int) (problems []string) {
	all := maps.Clone(want)
	maps.Copy(all, is)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch {
		case is[name] > want[name]:
			problems = append(problems, fmt.Sprintf("%s: %d, and the table allows %d", name, is[name], want[name]))
		case is[name] < want[name]:
			problems = append(problems, fmt.Sprintf("%s: %d now: lower the %d of the table", name, is[name], want[name]))
		}
	}
	return problems
}

// methodFiles returns in how many files of a package its types have methods.
func methodFiles(t *testing.T, pkg string) map[string]int {
	t.Helper()
	files := map[string]int{}
	for _, name := range goFiles(t, pkg) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		here := map[string]bool{}
		for _, d := range f.Decls {
			if method, ok := d.(*ast.FuncDecl); ok && method.Recv != nil {
				here[receiver(method.Recv.List[0].Type)] = true
			}
		}
		for receiver := range here {
			files[receiver]++
		}
	}
	return files
}
