package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Limits of what a reader has to keep in mind at once. The table shapes lists what still exceeds them.
const (
	maxMethods   = 40 // of a type, with the methods of types that embed it: a wrapper makes no type smaller
	minMethods   = 15 // of the type itself: a small type that others embed is not what makes them wide
	maxFields    = 30 // of a struct
	maxColumns   = 130
	maxFunction  = 60 // lines
	tabColumns   = 4
	longLines    = "lines of more than 130 columns"
	longOfTests  = "lines of tests of more than 130 columns" // of one literal: pages, documents and scripts
	locksOfCli   = "files of cli with locks"
	commandLines = "lines of cli"
	productLines = "lines of the product"
)

// TestShapes checks that no type, struct, function or line exceeds its limit unless the table shapes lists it, that nothing
// exceeds its row, and that a row whose subject has come under its limit is removed.
func TestShapes(t *testing.T) {
	s := measureShapes(t)
	limits := map[string]int{longLines: 0, longOfTests: 0, locksOfCli: 0, commandLines: 9000, productLines: 80000}
	for _, problem := range compareShapes(s.over(limits), shapes) {
		t.Error(problem)
	}
}

// TestShapesCatches checks that growth, a new subject and a row that is no longer needed are found.
func TestShapesCatches(t *testing.T) {
	table := map[string]int{"methods of a.B": 50, "lines of c": 9100}
	for _, tt := range []struct {
		is      map[string]int
		problem string
	}{
		{map[string]int{"methods of a.B": 50, "lines of c": 9001}, ""},
		{map[string]int{"methods of a.B": 51, "lines of c": 9100}, "methods of a.B: 51, and the table allows 50"},
		{map[string]int{"lines of c": 9100}, "methods of a.B is within its limit: remove its row"},
		{map[string]int{"methods of a.B": 45, "fields of d.E": 31, "lines of c": 9100},
			"fields of d.E: 31, and the table allows 0"},
	} {
		if got := strings.Join(compareShapes(tt.is, table), "; "); got != tt.problem {
			t.Errorf("%v: %q, want %q", tt.is, got, tt.problem)
		}
	}
}

// compareShapes returns the subjects of is that exceed the table, and the rows of the table that is does not have.
func compareShapes(is, table map[string]int) (problems []string) {
	for name, n := range is {
		if n > table[name] {
			problems = append(problems, fmt.Sprintf("%s: %d, and the table allows %d", name, n, table[name]))
		}
	}
	for name := range table {
		if _, exceeds := is[name]; !exceeds {
			problems = append(problems, name+" is within its limit: remove its row")
		}
	}
	slices.Sort(problems)
	return problems
}

// shapesOf are the measures of the product's packages.
type shapesOf struct {
	methods   map[string]int      // of a type, by "package.Type"
	embedders map[string][]string // types that embed a type
	fields    map[string]int
	functions map[string]int // lines
	totals    map[string]int
}

// over returns the subjects that exceed the limits.
func (s *shapesOf) over(limits map[string]int) map[string]int {
	over := map[string]int{}
	for name, own := range s.methods {
		if n := s.withEmbedders(name, nil); n > maxMethods && own >= minMethods {
			over["methods of "+name] = n
		}
	}
	for name, n := range s.fields {
		if n > maxFields {
			over["fields of "+name] = n
		}
	}
	for name, n := range s.functions {
		if n > maxFunction {
			over["lines of "+name] = n
		}
	}
	for name, n := range s.totals {
		if n > limits[name] {
			over[name] = n
		}
	}
	return over
}

// withEmbedders returns the number of methods of a type and of the types that embed it. A type that was already counted counts once.
func (s *shapesOf) withEmbedders(name string, seen map[string]bool) int {
	if seen == nil {
		seen = map[string]bool{}
	}
	if seen[name] {
		return 0
	}
	seen[name] = true
	n := s.methods[name]
	for _, e := range s.embedders[name] {
		n += s.withEmbedders(e, seen)
	}
	return n
}

func measureShapes(t *testing.T) *shapesOf {
	t.Helper()
	s := &shapesOf{
		methods: map[string]int{}, embedders: map[string][]string{}, fields: map[string]int{},
		functions: map[string]int{}, totals: map[string]int{},
	}
	for pkg := range houses {
		for _, name := range goFiles(t, pkg) {
			switch {
			case strings.HasSuffix(name, "_test.go"):
				s.totals[longOfTests] += longIn(read(t, name))
			case !strings.HasPrefix(pkg, "internal/test/"):
				s.file(t, pkg, name)
			}
		}
	}
	return s
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// longIn returns the number of long lines.
func longIn(src []byte) (n int) {
	for line := range bytes.Lines(src) {
		line = bytes.TrimRight(line, "\n")
		if utf8.RuneCount(line)+(tabColumns-1)*bytes.Count(line, []byte("\t")) > maxColumns {
			n++
		}
	}
	return n
}

// file adds a file of the product.
func (s *shapesOf) file(t *testing.T, pkg, name string) {
	t.Helper()
	src := read(t, name)
	lines := bytes.Count(src, []byte("\n"))
	if s.totals[productLines] += lines; pkg == "cli" {
		s.totals[commandLines] += lines
	}
	s.totals[longLines] += longIn(src)
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if pkg == "cli" && path.Base(name) != "signal.go" && locks(f) {
		s.totals[locksOfCli]++
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			full := pkg + "." + d.Name.Name
			if d.Recv != nil {
				of := pkg + "." + receiver(d.Recv.List[0].Type)
				s.methods[of]++
				full = of + "." + d.Name.Name
			}
			s.functions[full] = max(s.functions[full], set.Position(d.End()).Line-set.Position(d.Pos()).Line+1)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if typ, ok := spec.(*ast.TypeSpec); ok {
					s.structure(pkg, f, typ)
				}
			}
		}
	}
}

// structure adds a type's fields, and what it embeds.
func (s *shapesOf) structure(pkg string, f *ast.File, typ *ast.TypeSpec) {
	st, ok := typ.Type.(*ast.StructType)
	if !ok {
		return
	}
	name := pkg + "." + typ.Name.Name
	for _, field := range st.Fields.List {
		s.fields[name] += max(1, len(field.Names))
		if len(field.Names) == 0 {
			embedded := embeddedType(pkg, f, field.Type)
			s.embedders[embedded] = append(s.embedders[embedded], name)
		}
	}
}

// embeddedType returns "package.Type" of an embedded field.
func embeddedType(pkg string, f *ast.File, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return embeddedType(pkg, f, e.X)
	case *ast.IndexExpr:
		return embeddedType(pkg, f, e.X)
	case *ast.Ident:
		return pkg + "." + e.Name
	case *ast.SelectorExpr:
		short := e.X.(*ast.Ident).Name
		for _, i := range f.Imports {
			full := strings.TrimPrefix(strings.Trim(i.Path.Value, `"`), "braid/")
			if i.Name != nil && i.Name.Name == short || i.Name == nil && path.Base(full) == short {
				return full + "." + e.Sel.Name
			}
		}
	}
	return ""
}

// locks reports whether a file declares mutexes or wait groups.
func locks(f *ast.File) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if e, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := e.X.(*ast.Ident); ok && x.Name == "sync" {
				found = found || slices.Contains([]string{"Mutex", "RWMutex", "WaitGroup"}, e.Sel.Name)
			}
		}
		return true
	})
	return found
}
