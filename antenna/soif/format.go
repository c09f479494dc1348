package soif

import (
	"encoding/base64"
	"io"
	"iter"
	"regexp"

	"braid/antenna/feed"
)

// Format is SOIF, which may come as a MIME entity.
var Format = feed.Format{
	ID: feed.SOIF, Name: "soif", Agents: true,
	Types:  []feed.MediaType{{Type: "application/x-soif"}, {Type: "application/index.obj.harvest-soif-1"}},
	Begins: []string{"@", "content-type:", "content-transfer-encoding:", "mime-version:"},
	Sniff:  sniff,
	Decode: func(r io.Reader, o feed.Options) feed.Decoder { return NewDecoder(r, o) },
	Writing: &feed.Writing{
		Name: "soif", File: "antenna.soif", Mark: "@",
		Check:  check,
		Encode: func(w io.Writer, _ feed.Heading, records iter.Seq[feed.Record]) error { return Encode(w, records) },
	},
}

func check(r feed.Record) error {
	_, err := Append(nil, r)
	if err == ErrNoWord {
		return feed.ErrNoPlace
	}
	return err
}

// beginning is where an object begins, or a wrapper around objects. There may be any text before it; what style sheets have looks
// like it up to the brace.
const beginning = `@[A-Za-z0-9_-]+\s*\{\s*` +
	`(?:(?:-|[A-Za-z][A-Za-z0-9+.-]*://[^\s{}]+)\s*(?:\}|[A-Za-z0-9_<>-]+\{[0-9]*\}:\t)|@[A-Za-z0-9_-]+\s*\{)`

// sniff is Format.Sniff: an object in base64, or one behind some text. The expression is compiled only
// where nothing else fits.
func sniff(head, first []byte) bool {
	if len(first) >= 4 {
		if start, err := base64.StdEncoding.DecodeString(string(first[:4])); err == nil && start[0] == '@' {
			return true
		}
	}
	return regexp.MustCompile(beginning).Match(head)
}
