package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"braid/download"
)

// Every step that the library names has words here, in flags; and the library names none.
func TestFlagHints(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../download/hint.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	hints := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			hints++
			text := download.Hint(strings.Trim(lit.Value, `"`))
			got := hintOf(&download.Error{Hint: text, Part: "d/f.part"})
			if got == string(text) || !regexp.MustCompile(`(^|\W)--?[a-z]|braid get`).MatchString(got) {
				t.Errorf("%q is told as %q", text, got)
			}
			if strings.Contains(string(text), "--") {
				t.Errorf("%q names a flag", text)
			}
		}
		return true
	})
	if hints < len(flagHints) {
		t.Errorf("%d hints of %d", hints, len(flagHints))
	}
}
