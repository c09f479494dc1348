package option

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A list of files to download has the format of aria2. A line contains the URIs of one file, separated by tabs. The
// indented lines after it are options of that file.
//
//	# a comment
//	https://example.org/a.iso	https://mirror.example.net/a.iso
//	https://example.org/latest
//	  out=b.iso
//	  checksum=sha-256=9f86d0...
//	{"url": "https://example.org/c.iso", "out": "c.iso"}
//
// The last line describes a file in JSON.

// MaxLine is the maximum length of a line in bytes.
const MaxLine = 64 << 10

// Entry is one file of a list.
type Entry struct {
	Line    int       // number of the line with the URIs; the first line is 1
	URIs    []string  // at least one; none is empty
	Options []Setting // in order, including duplicates
}

// Setting is an option of a file, from an indented line.
type Setting struct {
	Line        int
	Name, Value string // without surrounding space; Name is not empty
}

// Entries returns the entries of list. It stops after the first error, which is an *Error. Entries before it are valid.
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

// begin parses l, the line that begins an entry.
func begin(l line) (Entry, error) {
	if text := strings.TrimSpace(l.text); isJSON(text) {
		return parseJSON(text, l.number)
	}
	return Entry{Line: l.number, URIs: uris(l.text)}, nil
}

// take parses l, a line after the URIs of e. another reports that l begins another entry; l is then not parsed.
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

// line is a line of a list, without its end.
type line struct {
	number int
	text   string
}

// lines splits list into lines. It removes a byte order mark, and the carriage return at the end of a line.
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

// uris returns the URIs in a line, which are separated by tabs.
func uris(text string) (list []string) {
	for uri := range strings.SplitSeq(text, "\t") {
		if uri = strings.TrimSpace(uri); uri != "" {
			list = append(list, uri)
		}
	}
	return list
}

// A line of a list may also be a JSON object that describes one file and its options:
//
//	{"url": "https://example.org/a.iso", "mirrors": ["https://m.example.net/a.iso"], "out": "a.iso", "overwrite": true}
//
// "url" is one URI or a list of URIs, and "mirrors" adds more URIs. The other keys are options. A list of values
// repeats the option. Lines in both formats may be in the same list.
func isJSON(text string) bool { return strings.HasPrefix(text, "{") }

// parseJSON parses text, a JSON object, into an entry.
func parseJSON(text string, line int) (Entry, error) {
	e := Entry{Line: line}
	wrong := func(why string) (Entry, error) { return Entry{}, &Error{Line: line, Why: why} }
	var object map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&object); err != nil {
		return wrong("not an object of JSON: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return wrong("more than one object of JSON")
	}
	for _, key := range []string{"url", "mirrors"} {
		words, why := wordsOf(object[key])
		if _, given := object[key]; why != "" && given {
			return wrong(key + ": " + why)
		}
		e.URIs = append(e.URIs, words...)
	}
	if object["url"] == nil || len(e.URIs) == 0 {
		return wrong(`an object without "url"`)
	}
	if strings.ContainsAny(e.URIs[0][:1], "#{") {
		return wrong("url: not a URL")
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if key == "url" || key == "mirrors" {
			continue
		}
		words, why := wordsOf(object[key])
		if why == "" && (key == "" || strings.TrimSpace(key) != key || strings.ContainsAny(key, "=#\n\r\t")) {
			why = "not the name of an option"
		}
		if why != "" {
			return wrong(fmt.Sprintf("%+q: %s", key, why))
		}
		for _, w := range words {
			e.Options = append(e.Options, Setting{line, key, w})
		}
	}
	return e, nil
}

// wordsOf converts v to words. v must be a string, a number, true or false, or a list of these; otherwise why is the error.
func wordsOf(v any) (words []string, why string) {
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	for _, v := range list {
		word := ""
		switch v := v.(type) {
		case string:
			word = strings.TrimSpace(v)
		case bool:
			word = strconv.FormatBool(v)
		case json.Number:
			word = v.String()
		default:
			return nil, "write a string, a number, true, false or a list of these"
		}
		if strings.ContainsAny(word, "\n\r\t") {
			return nil, "the value has a line break or a tab"
		}
		if word == "" {
			return nil, "the value is empty"
		}
		words = append(words, word)
	}
	return words, ""
}
