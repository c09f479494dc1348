// Package news reads what sites publish about themselves as records of a feed: RSS 0.9 to 2.0, Atom and JSON Feed
// (Decoder) and sitemaps (SitemapDecoder). It writes Atom.
//
//	for r, err := range news.NewDecoder(body, feed.Options{}).Records() { ... }
//
// An item becomes a record for its link and one for each enclosure. Documents are split into items while they are read,
// so that only one item is in memory. gofeed parses the necessary parts of each item. Entities are not expanded: a
// document that declares entities is refused.
//
// These formats do not state when a time was obtained, by which agent, or how long it is valid. They are hints by the
// site itself. The package does not keep the content of items.
package news

import (
	"bytes"
	"io"
	"iter"
	"net/url"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// A Decoder reads one RSS, Atom or JSON feed, in constant memory.
type Decoder struct {
	reader
	next  func() (feed.Record, error)
	queue []feed.Record // records of the current item
}

// NewDecoder returns a Decoder that reads from r. It detects the format from the content.
func NewDecoder(r io.Reader, o feed.Options) *Decoder {
	d := &Decoder{reader: newReader(r, o)}
	d.next = d.open
	return d
}

// Records returns an iterator over the records. If the feed is invalid, of another format or rejected, the last pair
// has an error and no record. The records before it are valid.
func (d *Decoder) Records() iter.Seq2[feed.Record, error] {
	return feedtext.Sequence(func() (feed.Record, error) { return d.next() })
}

// open detects the format.
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

// A reader is the common part of the decoders: the input, the limits and the reports.
type reader struct {
	reading feedtext.Reading
	in      *input
	stopped error    // error of Options.Stop
	base    *url.URL // base of relative links, or nil
}

func newReader(r io.Reader, o feed.Options) reader {
	d := reader{reading: feedtext.NewReading(o), in: newInput(r, o.Limits, o.Stop)}
	if u, err := url.Parse(o.Base); err == nil && u.Host != "" {
		d.base = u
	}
	return d
}

// Input describes the encoding of the part of the feed that was read.
func (d *reader) Input() feed.Input { return d.in.describe() }

func (d *reader) count(line int) error {
	if d.stopped = d.reading.Stopped(); d.stopped != nil {
		return d.stopped
	}
	return d.reading.Count(line, "entries")
}
