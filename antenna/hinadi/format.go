package hinadi

import (
	"io"
	"iter"

	"braid/antenna/feed"
)

// Format is hina-di.
var Format = feed.Format{
	ID: feed.HinaDI, Name: "hina-di", Agents: true,
	Types:  []feed.MediaType{{Type: "application/x-hina-di"}, {Type: "text/x-hina-di"}},
	Begins: []string{"hina/", "user-agent:", "url:"}, // with and without a header
	Decode: func(r io.Reader, o feed.Options) feed.Decoder { return NewDecoder(r, o) },
	Writing: &feed.Writing{
		Name: "hina-di", File: "hina.di", Mark: "HINA/", Twice: true,
		Check: func(r feed.Record) error { _, err := Fields(r); return err },
		Encode: func(w io.Writer, h feed.Heading, records iter.Seq[feed.Record]) error {
			return Encode(w, Header{UserAgent: h.Agent, Date: h.Date}, records)
		},
	},
}
