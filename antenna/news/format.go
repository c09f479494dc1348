package news

import (
	"io"
	"iter"

	"braid/antenna/feed"
)

// Format is RSS, Atom and JSON Feed. It is written as Atom. Only the agent's own observations are published, because
// Atom cannot name another agent as their source.
var Format = feed.Format{
	ID: feed.News, Name: "news", Also: []string{"rss", "atom", "json"},
	Types: []feed.MediaType{
		{Type: "application/atom+xml", Name: "atom"}, {Type: "application/rss+xml", Name: "rss"},
		{Type: "application/rdf+xml", Name: "rss"}, {Type: "application/feed+json", Name: "json feed"},
	},
	Begins: []string{"{"}, Elements: []string{"rss", "rdf", "feed"},
	Decode: func(r io.Reader, o feed.Options) feed.Decoder { return NewDecoder(r, o) },
	Writing: &feed.Writing{
		Name: "atom", File: "atom.xml", Mark: ">braid</generator>", OwnOnly: true,
		Check: func(r feed.Record) error {
			if !Writable(r) {
				return feed.ErrNoPlace
			}
			return nil
		},
		Encode: func(w io.Writer, h feed.Heading, records iter.Seq[feed.Record]) error {
			return EncodeAtom(w, AtomHeader{
				ID: h.ID, Title: h.Title, Author: h.Agent, Self: h.Self, Site: h.Site, Updated: h.Updated, Generator: h.Generator,
			}, records)
		},
	},
}

// SitemapFormat is the format of sitemaps.org.
var SitemapFormat = feed.Format{
	ID: feed.Sitemap, Name: "sitemap",
	Elements: []string{"urlset", "sitemapindex"},
	Decode:   func(r io.Reader, o feed.Options) feed.Decoder { return NewSitemapDecoder(r, o) },
}
