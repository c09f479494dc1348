package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const grafted = `package a

const most = 3

type T struct{}

func (t *T) Few(n int, more ...string) (int, error) {
	if n > most {
		return 0, nil
	}
	return n, nil
}

func (*T) Nameless(n int) { println(n) }

func unnamed(int) { println("x") }

func Generic[X any](x X) { println("y") }

func plain(a, b string) { println(a + b) }
`

// What patches bodies of functions is put beside them, and is called when its number is switched on. Anything else is
// built alone.
func TestGraft(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte(grafted), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, body, call string }{
		{"a method", "in . T.Few\n- n > most\n+ false\n", "return t.Few#(n, more...)"},
		{"a function without results", "in . plain\n- println(a + b)\n+ println(b + a)\n", "plain#(a, b); return"},
		{"a constant", "in . most\n- most = 3\n+ most = 4\n", ""},
		{"a receiver without a name", "in . T.Nameless\n- println(n)\n+ println(n + 1)\n", ""},
		{"a parameter without a name", "in . unnamed\n- println(\"x\")\n+ println(\"z\")\n", ""},
		{"a generic function", "in . Generic\n- println(\"y\")\n+ println(\"z\")\n", ""},
		{"a parameter more", "in . plain\n- plain(a, b string)\n+ plain(a, b, c string)\n", ""},
		{"a function less", "in . unnamed\n- func unnamed(int) { println(\"x\") }\n", ""},
	} {
		patches, err := parsePatches("x.txt", "rule 1: it\n"+tt.body+"tests a\n")
		if err != nil {
			t.Fatal(err)
		}
		files, alone, err := graft(newTree(dir), patches)
		if err != nil {
			t.Fatal(err)
		}
		p := patches[0]
		if alone[p.number()] != (tt.call == "") {
			t.Errorf("%s: alone is %v", tt.name, alone[p.number()])
		}
		text := string(files[filepath.Join(dir, "a.go")])
		if tt.call == "" {
			if text != "" {
				t.Errorf("%s is grafted:\n%s", tt.name, text)
			}
			continue
		}
		n := strconv.Itoa(p.number())
		want := "{ if guardSwitched == " + n + " { " + strings.ReplaceAll(tt.call, "#", n) + " }; "
		if !strings.Contains(text, want) || !strings.Contains(text, strings.TrimPrefix(strings.Split(tt.body, "\n")[2], "+ ")) {
			t.Errorf("%s: want %q in\n%s", tt.name, want, text)
		}
		for path, text := range files {
			if _, err := parser.ParseFile(token.NewFileSet(), path, text, 0); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
	}
}
