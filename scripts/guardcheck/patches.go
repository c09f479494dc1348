package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A patch breaks a rule, or several that are one demand (C7 and 38, say): the tests of each have to notice.
//
// In the folder patches it is written as
//
//	rule 13: where Content-Range begins is not compared
//	file source/httpsource/judge.go
//	- if got.Start != want.Start {
//	+ if false {
//	tests source/httpsource testdata/script
//
// where lines of - stand together in the file, once, and those of + come in their place. Further lines of - after them, or another
// file, are a further replacement. The tests are asked folder by folder, so the cheapest is named first.
type patch struct {
	rules   []string
	title   string
	edits   []replacement
	folders []string
	at      string // file and line of the patch itself
}

// A replacement is made once in its file.
type replacement struct{ file, old, new string }

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
	case "file":
		p.edits = append(p.edits, replacement{file: rest})
	case "-":
		switch {
		case last == "-":
			edit.old += "\n" + rest
		case last == "+":
			p.edits = append(p.edits, replacement{file: edit.file, old: rest})
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

// place is where the first replacement is made, with the line if the file is there.
func (p patch) place(root string) string {
	first := p.edits[0]
	source, err := os.ReadFile(filepath.Join(root, first.file))
	before, _, found := strings.Cut(string(source), first.old)
	if err != nil || !found {
		return first.file
	}
	return fmt.Sprintf("%s:%d", first.file, strings.Count(before, "\n")+1)
}

// apply returns the files of a patch as it changes them, by their paths below root.
func (p patch) apply(root string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, e := range p.edits {
		source, ok := files[e.file]
		if !ok {
			var err error
			if source, err = os.ReadFile(filepath.Join(root, e.file)); err != nil {
				return nil, fmt.Errorf("%s: %w", p.at, err)
			}
		}
		if n := strings.Count(string(source), e.old); n != 1 || e.old == e.new {
			return nil, fmt.Errorf("%s: in %s this is there %d times, and is to be %q:\n%s", p.at, e.file, n, e.new, e.old)
		}
		files[e.file] = []byte(strings.Replace(string(source), e.old, e.new, 1))
	}
	return files, nil
}
