package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A patch breaks a rule, or several that are one demand (C7 and 38, say): the tests of each have to notice.
//
// In the folder patches it is written as
//
//	rule 13: where Content-Range begins is not compared
//	in source/httpsource content.judge
//	- got.Start != want.Start
//	+ false
//	tests source/httpsource testdata/script
//
// where "in" names a package and a function of it, a method after its type, or a constant, variable or type. The Go of
// the lines of - is there once, and that of the lines of + comes in its place. Tokens are compared: files, comments,
// spaces and the ends of lines do not matter. Further lines of - after them, or another "in", are a further
// replacement. The tests are asked folder by folder, so the cheapest is named first; those of real:objectstore are the
// tests there that need real servers.
type patch struct {
	rules   []string
	title   string
	edits   []replacement
	folders []string
	at      string // file and line of the patch itself
}

// A replacement is made once in its declaration.
type replacement struct{ folder, name, old, new string }

// readPatches reads all of a folder.
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
	last := "" // the word that the line before began with
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

// take takes one line, and says whether it may stand there.
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

// place is where the first replacement is made, with the line if it can be.
func (p patch) place(t *tree) string {
	first := p.edits[0]
	at, err := t.find(first.folder, first.name, first.old)
	if err != nil {
		return first.folder
	}
	return fmt.Sprintf("%s:%d", at.file, bytes.Count(at.source[:at.from], []byte("\n"))+1)
}

// apply returns the files of a patch as it changes them, by their paths below the root. All replacements are found
// before one is made.
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
	slices.SortFunc(parts, func(a, b part) int { return b.from - a.from }) // from the end, as offsets before it stay
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
