package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// checkHouse reads all Go files of a module and reports what breaks the table.
func checkHouse(module fs.FS, table map[string]house) (problems []string) {
	seen, used := map[string]bool{}, map[string]bool{}
	err := fs.WalkDir(module, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return enterDir(module, name, d)
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		src, err := fs.ReadFile(module, name)
		if err != nil {
			return err
		}
		if n := bytes.Count(src, []byte("\n")); n > maxFileLines {
			problems = append(problems, fmt.Sprintf("%s: %d lines, more than %d", name, n, maxFileLines))
		}
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		pkg := path.Dir(name)
		row, ok := table[pkg]
		if !ok && !seen[pkg] {
			problems = append(problems, pkg+": not in the table of imports_test.go")
		}
		seen[pkg] = true
		more, err := checkFile(name, src, row, used)
		problems = append(problems, more...)
		return err
	})
	if err != nil {
		problems = append(problems, err.Error())
	}
	problems = append(problems, emptyRows(table, seen, used)...)
	slices.Sort(problems)
	return problems
}

// emptyRows reports the rows whose packages were not seen, and what rows allow that was not used.
func emptyRows(table map[string]house, seen, used map[string]bool) (problems []string) {
	for pkg, row := range table {
		if !seen[pkg] {
			problems = append(problems, pkg+": in the table, but there is no such package")
		}
		for i, p := range row.imports {
			if !used[pkg+" "+p] || slices.Contains(row.imports[:i], p) {
				problems = append(problems, fmt.Sprintf("%s: in the table it may import %s, which it does not, or which "+
					"is there twice", pkg, p))
			}
		}
	}
	return problems
}

// enterDir skips what the go command skips: hidden folders, testdata and other modules.
func enterDir(module fs.FS, name string, d fs.DirEntry) error {
	if name == "." {
		return nil
	}
	if strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") || d.Name() == "testdata" {
		return fs.SkipDir
	}
	if _, err := fs.Stat(module, path.Join(name, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}
