package sums

import (
	"bytes"
	"iter"
	"slices"
	"strings"
)

// Read reads a list. The name is what the list is called, without folders, or empty if that is not known: it says which
// algorithm the lines are of that do not say it themselves (B2SUMS is no list of SHA-512), and which file a digest
// alone is of (disk.iso.sha256). A line that cannot be read is no error as long as it could be one of a list, and ends
// what is said of its file only: see Find and Lines. The error is an *Error or a *LimitError.
func Read(name string, data []byte) (List, error) {
	if len(data) > MaxSize {
		return List{}, &LimitError{0, MaxSize, "bytes"}
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return List{}, &Error{0, "UTF-16, and not UTF-8: write the list anew in UTF-8"}
	}
	p := parser{hint: hintOf(name)}
	for l := range lines(string(data)) {
		if err := p.take(l); err != nil {
			return List{}, err
		}
	}
	if err := p.end(); err != nil {
		return List{}, err
	}
	return List{p.rows, index(p.rows), p.lost, about(name), p.envelope.wrapped(), p.envelope.message()}, nil
}

// A parser is one call of Read.
type parser struct {
	hint     hint
	envelope envelope
	rows     []row
	lost     []*Error // lines that cannot be read, and that may be about any file
}

// A line is one of a list, without its end.
type line struct {
	number int
	text   string
}

// lines takes a list apart. A byte order mark, and a carriage return at the end of a line, are left out.
func lines(list string) iter.Seq[line] {
	return func(yield func(line) bool) {
		rest := strings.TrimPrefix(list, "\ufeff")
		for n := 1; rest != ""; n++ {
			var text string
			text, rest, _ = strings.Cut(rest, "\n")
			if !yield(line{n, strings.TrimSuffix(text, "\r")}) {
				return
			}
		}
	}
}

func (p *parser) take(l line) error {
	if len(l.text) > maxLine {
		return &LimitError{l.number, maxLine, "bytes"}
	}
	if strings.IndexByte(l.text, 0) >= 0 {
		return &Error{l.number, "this is not text"}
	}
	text, why := p.envelope.open(l.text)
	if why != "" {
		return &Error{l.number, why}
	}
	text = strings.TrimLeft(text, " \t")
	if text == "" || text[0] == '#' {
		return nil
	}
	r, why := p.hint.row(text)
	if why != "" && text[0] == '<' {
		return &Error{l.number, why}
	}
	if len(p.rows)+len(p.lost) == maxEntries {
		return &LimitError{l.number, maxEntries, "digests"}
	}
	if r.Line, r.wrong = l.number, why; why != "" && r.Name == "" {
		p.lost = append(p.lost, &Error{l.number, why})
		return nil
	}
	p.rows = append(p.rows, r)
	return nil
}

// end looks at the list as a whole.
func (p *parser) end() error {
	if why := p.envelope.unfinished(); why != "" {
		return &Error{0, why}
	}
	if !slices.ContainsFunc(p.rows, func(r row) bool { return r.wrong == "" }) { // then what the lines are about is a guess
		p.lost, p.rows = List{rows: p.rows, lost: p.lost}.malformed(), nil
	}
	if len(p.rows)+len(p.lost) == 0 {
		return &Error{0, "no digest in it"}
	}
	named := func(r row) bool { return r.Name != "" }
	alone := slices.IndexFunc(p.rows, func(r row) bool { return !named(r) })
	if alone >= 0 && slices.ContainsFunc(p.rows, named) {
		return &Error{p.rows[alone].Line, "a digest without a file name, in a list that has names"}
	}
	return nil
}

// index finds rows by the last segment of their names.
func index(rows []row) map[string][]int {
	byBase := map[string][]int{}
	for i, r := range rows {
		if !r.nameless() {
			byBase[base(r.Name)] = append(byBase[base(r.Name)], i)
		}
	}
	return byBase
}
