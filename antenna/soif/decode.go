package soif

import (
	"io"
	"iter"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// A limits has the limits of a stream. The limits of lines in feed.Limits do not apply.
type limits struct {
	feed.Limits
	// object limits the total size of the values of one object. attributes limits their number.
	object, attributes int
}

// limitsOf returns the limits of a stream. An object may always be as large as one value.
func limitsOf(l feed.Limits) limits {
	l = l.OrDefault()
	l.Value = min(l.Value, 1<<27) // so that sums fit in an int on every machine
	return limits{Limits: l, object: max(8<<20, l.Value), attributes: 10_000}
}

// A Decoder reads one stream, in constant memory. Compression and encoding of the whole stream are detected from the
// content and removed.
type Decoder struct {
	in  *input
	p   *parser
	err error // first error of p
}

// NewDecoder returns a Decoder that reads from r.
func NewDecoder(r io.Reader, o feed.Options) *Decoder { return newDecoder(r, o, limitsOf(o.Limits)) }

func newDecoder(r io.Reader, o feed.Options, l limits) *Decoder {
	in := newInput(r, l.Limits)
	p := &parser{Reading: feedtext.NewReading(o), s: newScanner(in), limits: l, names: map[string]string{},
		seen: map[string]int{}}
	return &Decoder{in: in, p: p}
}

// objects returns an iterator over the objects of the stream. Errors are as in Records.
func (d *Decoder) objects() iter.Seq2[object, error] {
	return func(yield func(object, error) bool) {
		for d.err == nil {
			var o object
			if o, d.err = d.p.next(); d.err == io.EOF || !yield(o, d.err) {
				return
			}
		}
	}
}

// Records returns an iterator over the records of the objects. If the stream is invalid or rejected, the last pair has
// an error and no record. The records before it are valid. Objects without a URL have no record. Objects that a
// gatherer has deleted have none either, because the deletion of a summary is no news of a file.
func (d *Decoder) Records() iter.Seq2[feed.Record, error] {
	return func(yield func(feed.Record, error) bool) {
		for o, err := range d.objects() {
			switch {
			case err != nil:
				yield(feed.Record{}, err)
				return
			case o.URL == "" || o.Wrapper == wrapperDelete:
				continue
			}
			if !yield(o.record(d.in.charset), nil) {
				return
			}
		}
	}
}

// Input describes the encoding of the stream. The description is valid after the first object or the end of the stream.
func (d *Decoder) Input() feed.Input {
	in := feed.Input{Gzip: d.in.compressed.Gzip(), Charset: d.in.charset.String(), Declared: d.in.declared}
	if d.p.open {
		in.End = feed.Open
	}
	return in
}
