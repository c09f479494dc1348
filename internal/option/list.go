package option

import (
	"fmt"
	"iter"
	"strings"
)

// A list of files to download has the form that aria2 gave it: a line has the URIs of one file, separated by tabs, and indented lines
// after it are options of that file.
//
//	# a comment
//	https://example.org/a.iso	https://mirror.example.net/a.iso
//	https://example.org/latest
//	  out=b.iso
//	  checksum=sha-256=9f86d0...
//	{"url": "https://example.org/c.iso", "out": "c.iso"}
//
// The last of these is a line of JSON, which is a file as well.

// MaxLine is the most bytes that a line may have.
const MaxLine = 64 << 10

// An Entry is one file of a list.
type Entry struct {
	Line    int       // of the URIs, counted from 1
	URIs    []string  // at least one; none is empty
	Options []Setting // in order, with duplicates
}

// A Setting is what an indented line says about the file before it.
type Setting struct {
	Line        int
	Name, Value string // without space around; Name is not empty
}

// Entries reads a list. It ends with the first error, which is an *Error; what came before it was right.
func Entries(list string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var e Entry
		for l := range lines(list) {
			switch began, err := e.take(l); {
			case err != nil:
				yield(Entry{}, err)
				return
			case began && e.Line > 0:
				if !yield(e, nil) {
					return
				}
				fallthrough
			case began:
				if e, err = begin(l); err != nil {
					yield(Entry{}, err)
					return
				}
			}
		}
		if e.Line > 0 {
			yield(e, nil)
		}
	}
}

// begin reads the line that begins an entry.
func begin(l line) (Entry, error) {
	if text := strings.TrimSpace(l.text); isJSON(text) {
		return parseJSON(text, l.number)
	}
	return Entry{Line: l.number, URIs: uris(l.text)}, nil
}

// take reads a line after the URIs of e. It says that the line began another entry, which is not in e then.
func (e *Entry) take(l line) (another bool, err error) {
	text := strings.TrimSpace(l.text)
	switch {
	case len(l.text) > MaxLine:
		return false, &Error{Line: l.number, Why: fmt.Sprintf("longer than %d bytes", MaxLine)}
	case text == "" || text[0] == '#':
		return false, nil
	case l.text[0] != ' ' && l.text[0] != '\t':
		return true, nil
	case e.Line == 0:
		return false, &Error{Line: l.number, Why: "an option (the line is indented) before any URL"}
	}
	name, value, ok := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return false, &Error{Line: l.number, Why: "an option (the line is indented) without NAME=VALUE"}
	}
	e.Options = append(e.Options, Setting{l.number, name, strings.TrimSpace(value)})
	return false, nil
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

// uris takes a line apart at its tabs.
func uris(text string) (list []string) {
	for uri := range strings.SplitSeq(text, "\t") {
		if uri = strings.TrimSpace(uri); uri != "" {
			list = append(list, uri)
		}
	}
	return list
}
