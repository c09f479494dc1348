package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A patch breaks a rule, or several that express one requirement (C7 and 38, for example). The tests of each must fail.
//
// The files in folder patches have this form:
//
//	rule 13: where Content-Range begins is not compared
//	in source/httpsource content.judge
//	- got.Start != want.Start
//	+ false
//	tests source/httpsource testdata/script
//
// "in" names a package and a function, a method after its type, or a constant, variable or type. The Go code in the
// lines of - must occur once, and the code in the lines of + replaces it. Tokens are compared: files, comments, white
// space and line breaks do not matter. Further lines of -, or another "in", begin another replacement. The tests run
// folder by folder, so the fastest folder is named first; real:objectstore means the tests in objectstore that need
// real servers.
type patch struct {
	rules   []string
	title   string
	edits   []replacement
	folders []string
	at      string // file and line of the patch itself
}

// A replacement replaces code in a declaration once.
type replacement struct{ folder, name, old, new string }

// readPatches reads all patches in a folder.
func readPatches(dir string) (patches []patch, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		more, err := parsePatches(filepath.Base(name), string(text))
		if err != nil {
			return nil, err
		}
		patches = append(patches, more...)
	}
	return patches, nil
}

func parsePatches(name, text string) (patches []patch, err error) {
	last := "" // first word of the previous line
	number := 0
	for line := range strings.Lines(text) {
		number++
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if word == "rule" {
			patches = append(patches, patch{at: fmt.Sprintf("%s:%d", name, number)})
		}
		switch {
		case word == "" || word == "#":
		case len(patches) == 0 || !patches[len(patches)-1].take(word, rest, last):
			return nil, fmt.Errorf("%s:%d: no patch is written like this: %s", name, number, line)
		}
		last = word
	}
	for _, p := range patches {
		if len(p.rules) == 0 || len(p.edits) == 0 || len(p.folders) == 0 {
			return nil, fmt.Errorf("%s: a patch has rules with a title, replacements and tests", p.at)
		}
	}
	return patches, nil
}

// take parses one line, and reports whether the line is valid after the previous one.
func (p *patch) take(word, rest, last string) bool {
	edit := &replacement{}
	if n := len(p.edits); n > 0 {
		edit = &p.edits[n-1]
	}
	switch word {
	case "rule":
		numbers, title, ok := strings.Cut(rest, ": ")
		p.rules, p.title = strings.Fields(numbers), title
		return ok
	case "in":
		folder, name, ok := strings.Cut(rest, " ")
		p.edits = append(p.edits, replacement{folder: folder, name: name})
		return ok
	case "-":
		switch {
		case last == "-":
			edit.old += "\n" + rest
		case last == "+":
			p.edits = append(p.edits, replacement{folder: edit.folder, name: edit.name, old: rest})
		default:
			edit.old = rest
		}
	case "+":
		if last == "+" {
			edit.new += "\n"
		}
		edit.new += rest
		return last == "-" || last == "+"
	case "tests":
		p.folders = strings.Fields(rest)
	default:
		return false
	}
	return true
}

// place returns the place of the first replacement, with the line if known.
func (p patch) place(t *tree) string {
	first := p.edits[0]
	at, err := t.find(first.folder, first.name, first.old)
	if err != nil {
		return first.folder
	}
	return fmt.Sprintf("%s:%d", at.file, bytes.Count(at.source[:at.from], []byte("\n"))+1)
}

// apply returns the files that a patch changes, by path below the root. It finds all replacements before it makes the
// first one.
func (p patch) apply(t *tree) (map[string][]byte, error) {
	type part struct {
		span
		text string
	}
	var parts []part
	for _, e := range p.edits {
		at, err := t.find(e.folder, e.name, e.old)
		if err == nil && slices.EqualFunc(lex([]byte(e.old), 0), lex([]byte(e.new), 0), lexeme.same) {
			err = fmt.Errorf("%s in %s stays as it is: %s", e.name, e.folder, e.old)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.at, err)
		}
		parts = append(parts, part{at, e.new})
	}
	slices.SortFunc(parts, func(a, b part) int { return b.from - a.from }) // from the end, so that earlier offsets stay valid
	files := map[string][]byte{}
	for _, e := range parts {
		source, ok := files[e.file]
		if !ok {
			source = e.source
		}
		files[e.file] = slices.Concat(source[:e.from], []byte(e.text), source[e.to:])
	}
	return files, nil
}
