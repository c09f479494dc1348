package lirs

import (
	"io"
	"iter"

	"braid/antenna/feed"
)

// Format is LIRS. A compressed copy is written, as the specification requires, and an uncompressed one for other
// readers.
var Format = feed.Format{
	ID: feed.LIRS, Name: "lirs", Agents: true,
	Types:  []feed.MediaType{{Type: "application/x-lirs"}, {Type: "text/x-lirs"}},
	Begins: []string{"lirs,"}, Comments: true,
	Decode: func(r io.Reader, o feed.Options) feed.Decoder { return NewDecoder(r, o) },
	Writing: &feed.Writing{
		Name: "lirs", File: "antenna.lirs", Mark: "LIRS,", Gzip: true,
		Check:  func(r feed.Record) error { _, err := Append(nil, r); return err },
		Encode: func(w io.Writer, _ feed.Heading, records iter.Seq[feed.Record]) error { return Encode(w, records) },
	},
}
