package soif

import (
	"io"
	"iter"

	"braid/antenna/feed"
)

// Options say how a stream is read. The zero value reads tolerantly, within the limits of rule 52.
type Options struct {
	// Strict holds the stream to the letter of RFC 2655: what would need a repair is discarded.
	Strict bool
	Limits Limits
	// Report is told of everything that is not as it should be, as it is met. If nil, nobody is.
	Report func(Violation)
	// Stop is asked before each object; an error ends the stream with it. If nil, nothing does.
	Stop func() error
}

// Limits bound what a stream may cost (rules 52 and 55). Those of feed.Limits that speak of lines have no meaning here.
type Limits struct {
	feed.Limits
	// Object limits the octets of all values of one object. If zero, it is 8 MiB, or that of one value if this is more.
	Object int
	// Attributes limits the attributes of one object. If zero, it is 10,000.
	Attributes int
}

// OrDefault returns l with the usual limits where it has none.
func (l Limits) OrDefault() Limits {
	l.Limits = l.Limits.OrDefault()
	if l.Object <= 0 {
		l.Object = max(8<<20, l.Value)
	}
	if l.Attributes <= 0 {
		l.Attributes = 10_000
	}
	// Sums of them are ints on every machine.
	l.Value, l.Object = min(l.Value, 1<<27), min(l.Object, 1<<30)
	return l
}

// A Decoder reads one stream, in memory that does not grow with it. What compresses or encodes the stream as a whole is
// taken off by what it looks like, whatever it is called.
type Decoder struct {
	in  *input
	p   *parser
	err error // of p; it sticks
}

// NewDecoder returns a Decoder of what r has, with the limits of rule 52.
func NewDecoder(r io.Reader, o feed.Options) *Decoder {
	own := Options{Strict: o.Strict, Limits: Limits{Limits: o.Limits}, Stop: o.Stop}
	if o.Report != nil {
		own.Report = func(v Violation) { o.Report(v.Violation) }
	}
	return NewObjectDecoder(r, own)
}

// NewObjectDecoder is NewDecoder for those who want to know of violations by the octet, or have limits of their own.
func NewObjectDecoder(r io.Reader, o Options) *Decoder {
	o.Limits = o.Limits.OrDefault()
	in := newInput(r, o.Limits.Limits)
	return &Decoder{in: in, p: newParser(in, o)}
}

// Objects returns the objects of the stream, one after the other, as they are read. The last pair has an error, and no
// object, if the stream broke or was rejected: what came before it is good.
func (d *Decoder) Objects() iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for d.err == nil {
			var o Object
			if o, d.err = d.p.next(); d.err == io.EOF || !yield(o, d.err) {
				return
			}
		}
	}
}

// Records returns what the objects report, in the form that all feeds have in common. Objects without a URL report nothing, nor
// do those that a gatherer no longer has: that a summary is gone is no news of a file.
func (d *Decoder) Records() iter.Seq2[feed.Record, error] {
	return func(yield func(feed.Record, error) bool) {
		for o, err := range d.Objects() {
			switch {
			case err != nil:
				yield(feed.Record{}, err)
				return
			case o.URL == "" || o.Wrapper == Delete:
				continue
			}
			if !yield(o.record(d.in.charset), nil) {
				return
			}
		}
	}
}

// Input says what the stream looked like on the outside. It is known when the first object is, or the end of the stream.
func (d *Decoder) Input() feed.Input {
	in := feed.Input{Gzip: d.in.compressed.Gzip(), Charset: d.in.charset.String(), Declared: d.in.declared}
	if d.p.open {
		in.End = feed.Open
	}
	return in
}
