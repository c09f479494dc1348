package sums

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"braid/verify/signify"
)

// Read parses a list. The name is the file name of the list without folders, or empty if unknown. The name implies the
// algorithm of lines that do not name an algorithm (B2SUMS is not a list of SHA-512), and the file of a digest without
// a name (disk.iso.sha256). An unreadable line is not an error of the whole list, unless it shows that data is not a
// list. It affects only its file; see [List.Find] and [List.Lines]. The error is an *Error or a *LimitError.
func Read(name string, data []byte) (List, error) {
	if len(data) > MaxSize {
		return List{}, &LimitError{0, MaxSize, "bytes"}
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return List{}, &Error{0, "the list is UTF-16 instead of UTF-8: convert it to UTF-8"}
	}
	p, text, first := parser{hint: hintOf(name)}, data, 1
	var signed Message
	signature, embeddedText, embedded := signify.Split(data)
	if embedded {
		signed, text, first = Message{Text: embeddedText, Signature: signature}, embeddedText, 3
	}
	for l := range lines(string(text), first) {
		if err := p.take(l); err != nil {
			return List{}, err
		}
	}
	if err := p.end(); err != nil {
		return List{}, err
	}
	switch {
	case embedded && p.envelope.wrapped():
		return List{}, &Error{first, "a signed message is inside a signed message"}
	case !embedded:
		signed = p.envelope.message()
	}
	return List{p.rows, index(p.rows), p.lost, about(name), signed}, nil
}

type parser struct {
	hint     hint
	envelope envelope
	rows     []row
	lost     []*Error // unreadable lines that may be about any file
}

// A line is one line of a list, without its line ending.
type line struct {
	number int
	text   string
}

// lines splits a list into lines, numbered from first. It removes a byte order mark, and carriage returns at the ends
// of lines.
func lines(list string, first int) iter.Seq[line] {
	return func(yield func(line) bool) {
		rest := strings.TrimPrefix(list, "\ufeff")
		for n := first; rest != ""; n++ {
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

// end returns an error if the list as a whole cannot be used.
func (p *parser) end() error {
	if why := p.envelope.unfinished(); why != "" {
		return &Error{0, why}
	}
	if !slices.ContainsFunc(p.rows, func(r row) bool { return r.wrong == "" }) { // names of unreadable lines are guesses
		p.lost, p.rows = List{rows: p.rows, lost: p.lost}.malformed(), nil
	}
	if len(p.rows)+len(p.lost) == 0 {
		return &Error{0, "the list has no digest"}
	}
	named := func(r row) bool { return r.Name != "" }
	alone := slices.IndexFunc(p.rows, func(r row) bool { return !named(r) })
	if alone >= 0 && slices.ContainsFunc(p.rows, named) {
		return &Error{p.rows[alone].Line, "the digest has no file name, but other digests of the list have one"}
	}
	return nil
}

// index maps the last segment of each name to the indexes of its rows.
func index(rows []row) map[string][]int {
	byBase := map[string][]int{}
	for i, r := range rows {
		if !r.nameless() {
			byBase[base(r.Name)] = append(byBase[base(r.Name)], i)
		}
	}
	return byBase
}
