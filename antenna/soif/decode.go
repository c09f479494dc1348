package soif

import (
	"io"
	"iter"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// limits bound what a stream may cost. Those of feed.Limits that speak of lines have no meaning here.
type limits struct {
	feed.Limits
	// object bounds the octets of all values of one object, and attributes their number.
	object, attributes int
}

// limitsOf are the limits of a stream. An object may be as large as one value at least.
func limitsOf(l feed.Limits) limits {
	l = l.OrDefault()
	l.Value = min(l.Value, 1<<27) // sums of them are ints on every machine
	return limits{Limits: l, object: max(8<<20, l.Value), attributes: 10_000}
}

// A Decoder reads one stream, in memory that does not grow with it. What compresses or encodes the stream as a whole is
// taken off by what it looks like, whatever it is called.
type Decoder struct {
	in  *input
	p   *parser
	err error // of p; it sticks
}

// NewDecoder returns a Decoder of what r has.
func NewDecoder(r io.Reader, o feed.Options) *Decoder { return newDecoder(r, o, limitsOf(o.Limits)) }

func newDecoder(r io.Reader, o feed.Options, l limits) *Decoder {
	in := newInput(r, l.Limits)
	p := &parser{Reading: feedtext.NewReading(o), s: newScanner(in), limits: l, names: map[string]string{}, seen: map[string]int{}}
	return &Decoder{in: in, p: p}
}

// objects returns the objects of the stream, as Records returns what they report.
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

// Records returns what the objects of the stream report, as they are read. The last pair has an error, and no record,
// if the stream broke or was rejected: what came before it is good. Objects without a URL report nothing, nor do those
// that a gatherer no longer has: that a summary is gone is no news of a file.
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

// Input says what the stream looked like on the outside. It is known when the first object is, or the end of the stream.
func (d *Decoder) Input() feed.Input {
	in := feed.Input{Gzip: d.in.compressed.Gzip(), Charset: d.in.charset.String(), Declared: d.in.declared}
	if d.p.open {
		in.End = feed.Open
	}
	return in
}
