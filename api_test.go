//go:build api

package main

import (
	"bytes"
	"flag"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/api.txt")

// promised are the packages of doc/promises.md.
var promised = []string{"download", "linkheader", "metalink", "verify", "scheduler", "antenna", "source", "byterange", "address"}

// TestAPI: each name that the last release offered to other programs (testdata/api.txt) still exists. A name that goes
// or changes breaks them, and needs a line below "Breaking" in the CHANGELOG.
func TestAPI(t *testing.T) {
	var lines []string
	for _, pkg := range promised {
		lines = append(lines, exported(t, pkg)...)
	}
	slices.Sort(lines)
	if *update {
		if err := os.WriteFile("testdata/api.txt", []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile("testdata/api.txt")
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for _, line := range listed {
		if _, there := slices.BinarySearch(lines, line); !there {
			t.Errorf("- %s", line)
		}
	}
	if t.Failed() {
		t.Log("if it may be so, and after a release: go test -tags api -run TestAPI . -update")
	}
}

// exported returns a line for each exported name of a package: "PACKAGE: DECLARATION".
func exported(t *testing.T, pkg string) (lines []string) {
	t.Helper()
	add := func(prefix string, node any) {
		var b bytes.Buffer
		if err := format.Node(&b, token.NewFileSet(), node); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, pkg+": "+prefix+strings.Join(strings.Fields(b.String()), " "))
	}
	for _, name := range goFiles(t, pkg) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.FileExports(f)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				d.Body = nil
				if d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)) {
					add("", d)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					addSpec(spec, add)
				}
			}
		}
	}
	return lines
}

// addSpec adds the lines of a declaration: for a struct or an interface one for each field or method.
func addSpec(spec ast.Spec, add func(prefix string, node any)) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			if name.IsExported() {
				add("value ", name)
			}
		}
	case *ast.TypeSpec:
		switch of := spec.Type.(type) {
		case *ast.StructType:
			add("type struct ", spec.Name)
			for _, field := range of.Fields.List {
				field.Tag = nil
				if len(field.Names) == 0 {
					add("type "+spec.Name.Name+" ", field.Type)
				}
				for _, name := range field.Names {
					add("type "+spec.Name.Name+"."+name.Name+" ", field.Type)
				}
			}
		default:
			add("type ", spec)
		}
	}
}
