package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"braid/scripts/rulebook"
)

const root = "../.."

func allPatches(t *testing.T) []patch {
	t.Helper()
	patches, err := readPatches("patches")
	if err != nil {
		t.Fatal(err)
	}
	return patches
}

// Every patch is still one: what it replaces is there, once, and what comes of it can be parsed.
func TestPatchesApply(t *testing.T) {
	tree := newTree(root)
	for _, p := range allPatches(t) {
		files, err := p.apply(tree)
		if err != nil {
			t.Error(err)
		}
		for name, text := range files {
			if _, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution); err != nil {
				t.Errorf("%s: %v", p.at, err)
			}
		}
	}
}

// Every rule is broken by a patch, and every folder that a patch names has tests of its rules.
func TestEveryRuleHasAPatch(t *testing.T) {
	rules, err := rulebook.Read(filepath.Join(root, "doc/rules.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests, err := rulebook.Tests(root)
	if err != nil {
		t.Fatal(err)
	}
	c := court{tests: tests}
	broken := map[string]bool{}
	for _, p := range allPatches(t) {
		for _, rule := range p.rules {
			broken[rule] = true
			if !slices.ContainsFunc(p.folders, func(folder string) bool { return c.names(folder, rule) != "" }) {
				t.Errorf("%s: %q have no test that carries the number %s", p.at, p.folders, rule)
			}
		}
		for _, folder := range p.folders {
			if !slices.ContainsFunc(p.rules, func(rule string) bool { return c.names(folder, rule) != "" }) {
				t.Errorf("%s: %s has no test that carries one of the numbers %q", p.at, folder, p.rules)
			}
		}
	}
	for _, r := range rules {
		if !r.Later && !broken[r.Number] {
			t.Errorf("no patch breaks rule %s", r.Number)
		}
	}
	for rule := range broken {
		if !slices.ContainsFunc(rules, func(r rulebook.Rule) bool { return r.Number == rule }) {
			t.Errorf("there is no rule %s", rule)
		}
	}
}

// Every guard that is argued for is there.
func TestArgued(t *testing.T) {
	argued, err := readArgued("argued.txt")
	if err != nil || len(argued) == 0 {
		t.Fatalf("%v, %v", argued, err)
	}
	m := &mutator{}
	for name := range argued {
		folder, _, _ := strings.Cut(name, " ")
		if _, err := m.rewrite(root, folder); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(m.guards, func(g guard) bool { return g.name() == name }) {
			t.Errorf("argued.txt: there is no %s", name)
		}
	}
}

// A patch that is not as it must be is refused, before anything is built.
func TestParsePatchesRefuses(t *testing.T) {
	const good = "rule C7 38: two at once\nin . main\n- 1\n+ 2\n\n# a word\ntests download testdata/script\n"
	patches, err := parsePatches("x.txt", good)
	if err != nil || len(patches) != 1 {
		t.Fatalf("%v, %v", patches, err)
	}
	if p := patches[0]; !slices.Equal(p.rules, []string{"C7", "38"}) || p.title != "two at once" || len(p.edits) != 1 ||
		!slices.Equal(p.folders, []string{"download", scripts}) || p.edits[0] != (replacement{".", "main", "1", "2"}) {
		t.Errorf("%+v", p)
	}
	for _, tt := range []struct{ name, text string }{
		{"no title", strings.Replace(good, ": two at once", "", 1)},
		{"no rule before", strings.Replace(good, "rule C7 38: two at once\n", "", 1)},
		{"no replacement", "rule 1: nothing\ntests download\n"},
		{"no declaration", strings.Replace(good, "in . main", "in main", 1)},
		{"no tests", strings.Replace(good, "tests download testdata/script\n", "", 1)},
		{"an addition to nothing", strings.Replace(good, "- 1\n", "", 1)},
		{"a word that means nothing", good + "really\n"},
	} {
		if patches, err := parsePatches("x.txt", tt.text); err == nil {
			t.Errorf("%s: %+v", tt.name, patches)
		}
	}
}

const town = `package town

// two is one of the words that the tests look for.
const two, three = 2, "three"

type T[X any] struct {
	A int ` + "`json:\"a\"`" + `
}

func (t *T[X]) count(n int) int {
	if n > two { // as always
		return n -
			two
	}
	return t.sum(
		n, 1,
	)
}

func (t T[X]) sum(n ...int) int { return n[0] }

func count(n int) (int, int) { return n, n }
`

// writeTown writes a package into a folder below a new root.
func writeTown(t *testing.T) *tree {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "town"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.go": town,
		"b_windows.go": "package town\n\nfunc here() { println(1) }\n", "b_other.go": `//go:build !windows

package town

func here() { println(1) }
`} {
		if err := os.WriteFile(filepath.Join(dir, "town", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return newTree(dir)
}

func parsePatch(t *testing.T, body string) patch {
	t.Helper()
	patches, err := parsePatches("x.txt", "rule 1: it\n"+body+"tests town\n")
	if err != nil {
		t.Fatal(err)
	}
	return patches[0]
}

// A replacement is found in its declaration, however it is written there.
func TestApply(t *testing.T) {
	tree := writeTown(t)
	for _, tt := range []struct{ name, body, old, new string }{
		{"a condition", "in town T.count\n- n>two\n+ false\n", "n > two {", "false {"},
		{"lines that are one", "in town T.count\n- return n - two\n+ return 0\n", "n -\n\t\t\ttwo", "0"},
		{"a line that is several", "in town T.count\n- t.sum(n, 1)\n+ 0\n", "t.sum(\n\t\tn, 1,\n\t)", "0"},
		{"a statement that goes", "in town T.count\n- if n > two {\n- \treturn n - two\n- }\n",
			town[strings.Index(town, "if n"):strings.Index(town, "\n\treturn t.sum")], ""},
		{"a constant", "in town three\n- \"three\"\n+ \"\"\n", `"three"`, `""`},
		{"a tag", "in town T\n- `json:\"a\"`\n", "`json:\"a\"`", ""},
		{"the other function of the name", "in town count\n- n, n\n+ 1, 2\n", "return n, n }", "return 1, 2 }"},
		{"two replacements, the first one behind", "in town T.sum\n- n[0]\n+ 7\nin town two\n- 2\n+ 3\n", "n[0]", "7"},
	} {
		files, err := parsePatch(t, tt.body).apply(tree)
		want := strings.Replace(town, tt.old, tt.new, 1)
		if strings.HasPrefix(tt.name, "two ") {
			want = strings.Replace(want, "= 2", "= 3", 1)
		}
		if got := string(files["town/a.go"]); err != nil || len(files) != 1 || got != want {
			t.Errorf("%s: %v\n%s", tt.name, err, got)
		}
	}
	if place := parsePatch(t, "in town T.count\n- t.sum\n").place(tree); place != "town/a.go:15" {
		t.Errorf("it is at %s", place)
	}
	if files, err := parsePatch(t, "in town here\n- 1\n+ 2\n").apply(tree); err != nil || len(files) != 1 ||
		files["town/b_other.go"] == nil {
		t.Errorf("of two systems: %v, %q", err, files)
	}
}

func TestApplyRefuses(t *testing.T) {
	tree := writeTown(t)
	for name, body := range map[string]string{
		"what is there twice":         "in town T.count\n- n\n+ 2\n",
		"what is not there":           "in town T.count\n- four\n+ 4\n",
		"what another function has":   "in town T.sum\n- n > two\n+ false\n",
		"a part of a name":            "in town T.count\n- tw\n+ one\n",
		"a comment":                   "in town T.count\n- // as always\n+ // as never\n",
		"what would be as before":     "in town T.count\n- n > two\n+ n>two\n",
		"a function that is not":      "in town T.mean\n- n > two\n+ false\n",
		"a folder without a function": "in village T.count\n- n > two\n+ false\n",
	} {
		if files, err := parsePatch(t, body).apply(tree); err == nil {
			t.Errorf("%s is replaced: %q", name, files)
		}
	}
}
