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

// beginning matches the beginning of an object, or of a wrapper around objects. More than @TYPE { must match, because
// style sheets have that, too.
const beginning = `@[A-Za-z0-9_-]+\s*\{\s*` +
	`(?:(?:-|[A-Za-z][A-Za-z0-9+.-]*://[^\s{}]+)\s*(?:\}|[A-Za-z0-9_<>-]+\{[0-9]*\}:\t)|@[A-Za-z0-9_-]+\s*\{)`

// sniff is Format.Sniff. It finds an object in base64 or behind some text. The expression is compiled only here,
// because few feeds need it.
func sniff(head, first []byte) bool {
	if len(first) >= 4 {
		if start, err := base64.StdEncoding.DecodeString(string(first[:4])); err == nil && start[0] == '@' {
			return true
		}
	}
	return regexp.MustCompile(beginning).Match(head)
}
