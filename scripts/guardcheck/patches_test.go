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
	for _, p := range allPatches(t) {
		files, err := p.apply(root)
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

// A patch that is not as it must be is refused, before anything is built.
func TestParsePatchesRefuses(t *testing.T) {
	const good = "rule C7 38: two at once\nfile patches.go\n- package main\n+ package none\n\n# a word\ntests download testdata/script\n"
	patches, err := parsePatches("x.txt", good)
	if err != nil || len(patches) != 1 {
		t.Fatalf("%v, %v", patches, err)
	}
	if p := patches[0]; !slices.Equal(p.rules, []string{"C7", "38"}) || p.title != "two at once" || len(p.edits) != 1 ||
		!slices.Equal(p.folders, []string{"download", scripts}) || p.edits[0] != (replacement{"patches.go", "package main", "package none"}) {
		t.Errorf("%+v", p)
	}
	for _, tt := range []struct{ name, text string }{
		{"no title", strings.Replace(good, ": two at once", "", 1)},
		{"no rule before", strings.Replace(good, "rule C7 38: two at once\n", "", 1)},
		{"no replacement", "rule 1: nothing\ntests download\n"},
		{"no tests", strings.Replace(good, "tests download testdata/script\n", "", 1)},
		{"an addition to nothing", strings.Replace(good, "- package main\n", "", 1)},
		{"a word that means nothing", good + "really\n"},
	} {
		if patches, err := parsePatches("x.txt", tt.text); err == nil {
			t.Errorf("%s: %+v", tt.name, patches)
		}
	}
}

// Replacements are made one after the other, each where its text stands once, also when an earlier one of the patch made that so.
func TestApply(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("one\n\ttwo\nthree\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	parse := func(body string) patch {
		t.Helper()
		patches, err := parsePatches("x.txt", "rule 1: it\nfile a.go\n"+body+"tests download\n")
		if err != nil {
			t.Fatal(err)
		}
		return patches[0]
	}
	p := parse("- one\n- \ttwo\n+ 1\n+ 2\n- three\n")
	files, err := p.apply(dir)
	if got := string(files["a.go"]); err != nil || got != "1\n2\n\ntwo\n" {
		t.Errorf("%q, %v", got, err)
	}
	if place := parse("- three\n").place(dir); place != "a.go:3" {
		t.Errorf("it is at %s", place)
	}
	for name, body := range map[string]string{
		"what is there twice":     "- two\n+ 2\n",
		"what is not there":       "- four\n+ 4\n",
		"what would be as before": "- one\n+ one\n",
	} {
		if files, err := parse(body).apply(dir); err == nil {
			t.Errorf("%s is replaced: %q", name, files)
		}
	}
}
