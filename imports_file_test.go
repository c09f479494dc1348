package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// checkFile reports what a file that is not a test imports or uses against its row, and notes in used what it imports.
func checkFile(name string, src []byte, row house, used map[string]bool) (problems []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	timeName := ""
	for _, spec := range file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if p == "time" {
			timeName = "time"
			if spec.Name != nil {
				timeName = spec.Name.Name
			}
		}
		used[path.Dir(name)+" "+strings.TrimPrefix(p, module+"/")] = true
		if !isStandard(p) && !slices.Contains(row.imports, strings.TrimPrefix(p, module+"/")) {
			problems = append(problems, fmt.Sprintf("%s: must not import %s", name, p))
		}
		if row.pure && isImpure(p) && !slices.Contains(row.but, p) {
			problems = append(problems, fmt.Sprintf("%s: pure, must not import %s", name, p))
		}
	}
	if row.pure && timeName != "" {
		problems = append(problems, clockUses(name, file, timeName)...)
	}
	return problems, nil
}

// isStandard tells packages of the standard library by their first element, which has no dot.
func isStandard(p string) bool {
	first, _, _ := strings.Cut(p, "/")
	return first != module && !strings.Contains(first, ".")
}

func isImpure(p string) bool {
	if slices.Contains(pureAnyway, p) {
		return false
	}
	return slices.ContainsFunc(impure, func(root string) bool {
		return p == root || strings.HasPrefix(p, root+"/")
	})
}
