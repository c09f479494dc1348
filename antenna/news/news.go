// Package news reads what sites publish about themselves, as records of a feed: RSS 0.9 to 2.0, Atom and JSON Feed (a Decoder),
// and sitemaps (a SitemapDecoder). It writes Atom.
//
//	for r, err := range news.NewDecoder(body, feed.Options{}).Records() { ... }
//
// An item becomes a record of its link and one of each enclosure. Documents are split into items while they are read, in memory
// for one item; what an item says is read by gofeed, of which it gets no more than what is needed. Nothing is expanded: a
// document that declares entities is refused.
//
// These formats do not say when a time was obtained, by whom, or how long it is good for: they are hints of the site itself. The
// package fetches nothing, resolves no relative URL against where a feed was, and keeps no content of items.
package news

import (
	"bytes"
	"io"
	"iter"
	"net/url"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// A Decoder reads one RSS, Atom or JSON feed, in memory that does not grow with it.
type Decoder struct {
	reader
	next  func() (feed.Record, error)
	queue []feed.Record // of the item at hand
}

// NewDecoder returns a Decoder of what r has. Which of the formats it is, its content says.
func NewDecoder(r io.Reader, o feed.Options) *Decoder {
	d := &Decoder{reader: newReader(r, o)}
	d.next = d.open
	return d
}

// Records returns the records of the feed, one after the other, as they are read. The last pair has an error, and no record,
// if the feed was broken, is none or is rejected: what came before it is good.
func (d *Decoder) Records() iter.Seq2[feed.Record, error] {
	return feedtext.Sequence(func() (feed.Record, error) { return d.next() })
}

// open finds out which format it is.
func (d *Decoder) open() (feed.Record, error) {
	head, err := d.in.start()
	if err != nil {
		return feed.Record{}, err
	}
	var more func() error
	switch text := bytes.TrimLeft(head, " \t\r\n"); {
	case len(text) > 0 && text[0] == '{':
		more = newJSONItems(d).next
	case len(text) > 0 && text[0] == '<':
		more = (&xmlItems{d: d, walker: newWalker(d.in)}).next
	default:
		return feed.Record{}, codeForeign.Reject(1)
	}
	d.next = func() (feed.Record, error) {
		for len(d.queue) == 0 {
			if err := more(); err != nil {
				return feed.Record{}, err
			}
		}
		r := d.queue[0]
		d.queue = d.queue[1:]
		return r, nil
	}
	return d.next()
}

// A reader is what decoders have in common: the input, the limits, and how things are reported.
type reader struct {
	reading feedtext.Reading
	in      *input
	stopped error    // why nothing more is read
	base    *url.URL // of relative links; nil: there is none
}

func newReader(r io.Reader, o feed.Options) reader {
	d := reader{reading: feedtext.NewReading(o), in: newInput(r, o.Limits, o.Stop)}
	if u, err := url.Parse(o.Base); err == nil && u.Host != "" {
		d.base = u
	}
	return d
}

// Input says what the feed looked like on the outside, so far.
func (d *reader) Input() feed.Input { return d.in.describe() }

// count counts an entry.
func (d *reader) count(line int) error {
	if d.stopped = d.reading.Stopped(); d.stopped != nil {
		return d.stopped
	}
	return d.reading.Count(line, "entries")
}
