package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A guard is one condition. Its number switches it.
type guard struct {
	number int
	pkg    string // the folder, as "verify/smime"
	file   string
	line   int
	within string // the function
	text   string // the condition, on one line
}

// place returns the guard's place for output.
func (g guard) place() string { return g.file + ":" + g.within + ": " + g.text }

// name returns a name of the guard that does not change with edits elsewhere in its package.
func (g guard) name() string { return g.pkg + " " + g.within + ": " + g.text }

// An edit inserts text before and after a condition.
type edit struct {
	at   int
	text string
}

// A mutator rewrites packages so that each of their conditions can be switched from outside. One build then serves all
// guards.
type mutator struct {
	off    bool // conditions are never true, instead of negated
	guards []guard
}

// rewrite returns the files of a package with switchable conditions, by absolute path, and a file with the switch
// itself.
func (m *mutator) rewrite(root, pkg string) (map[string][]byte, error) {
	dir := filepath.Join(root, pkg)
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{
		filepath.Join(dir, "zz_guard_switch.go"): fmt.Appendf(nil, switchSource, p.Name),
	}
	for _, name := range p.GoFiles {
		if only := guardedFiles[pkg]; only != nil && !slices.Contains(only, name) {
			continue
		}
		text, err := m.rewriteFile(filepath.Join(dir, name), pkg+"/"+name, pkg)
		if err != nil {
			return nil, err
		}
		files[filepath.Join(dir, name)] = text
	}
	return files, nil
}

// switchSource looks for the file beside the program and in the parent folder. Some processes started by tests do not
// inherit the environment, and a file name in the source would require a rebuild for each run.
const switchSource = `package %s

import (
	"os"
	"path/filepath"
)

// The number of the switched guard.
var guardSwitched = func() (n int) {
	program, _ := os.Executable()
	dir := filepath.Dir(program)
	text, err := os.ReadFile(filepath.Join(dir, "switch"))
	if err != nil {
		text, _ = os.ReadFile(filepath.Join(filepath.Dir(dir), "switch"))
	}
	for _, c := range text {
		n = 10*n + int(c-'0')
	}
	return n
}()
`

func (m *mutator) rewriteFile(path, shown, pkg string) ([]byte, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var edits []edit
	for _, decl := range file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		for _, cond := range conditions(function.Body) {
			m.guards = append(m.guards, guard{
				number: len(m.guards) + 1, pkg: pkg, file: shown, line: set.Position(cond.Pos()).Line,
				within: functionName(function), text: oneLine(set, cond),
			})
			edits = append(edits, m.edits(len(m.guards), set.Position(cond.Pos()).Offset, set.Position(cond.End()).Offset)...)
		}
	}
	return apply(source, edits), nil
}

func (m *mutator) edits(number, from, to int) []edit {
	if m.off {
		return []edit{{from, fmt.Sprintf("guardSwitched != %d && (", number)}, {to, ")"}}
	}
	return []edit{{from, "("}, {to, fmt.Sprintf(") != (guardSwitched == %d)", number)}}
}

// conditions returns the conditions of if statements, and of cases in a switch without a value.
func conditions(body *ast.BlockStmt) (found []ast.Expr) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			found = append(found, n.Cond)
		case *ast.SwitchStmt:
			if n.Tag == nil {
				for _, clause := range n.Body.List {
					found = append(found, clause.(*ast.CaseClause).List...)
				}
			}
		}
		return true
	})
	return found
}

// apply applies the edits to the source. Conditions nest (a function literal in one has its own), so edits are not in
// order.
func apply(source []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at - b.at })
	var out bytes.Buffer
	done := 0
	for _, e := range edits {
		out.Write(source[done:e.at])
		out.WriteString(e.text)
		done = e.at
	}
	out.Write(source[done:])
	return out.Bytes()
}

func oneLine(set *token.FileSet, e ast.Expr) string {
	var b strings.Builder
	if err := format.Node(&b, set, e); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
