// Package lirs reads and writes LIRS 2.1, the Last modified Information Relaying Specification: a line for each site, with what
// an antenna must know of it and no more.
//
//	LIRS,1794261900,1794279490,32400,0,http://example.org/,title,author,http://antenna.example.jp/,
//
// Records that are none are skipped one by one; what real agents write otherwise is repaired by a closed list, and each
// repair is reported. The package fetches nothing and decides nothing: 28800 seconds are the matter of package feed.
package lirs

import (
	"io"
	"iter"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// A Decoder reads one feed, in memory that does not grow with it.
type Decoder struct {
	reading feedtext.Reading
	lines   *feedtext.Lines
	begun   bool
	pieces  []string
	end     feed.End
}

// NewDecoder returns a Decoder of what r has.
func NewDecoder(r io.Reader, o feed.Options) *Decoder {
	return &Decoder{reading: feedtext.NewReading(o), lines: feedtext.NewLines(r, o.Limits)}
}

// Records returns the records of the feed, one after the other, as they are read. The last pair has an error, and no record,
// if the feed was broken or is rejected: what came before it is good.
func (d *Decoder) Records() iter.Seq2[feed.Record, error] { return feedtext.Sequence(d.next) }

// Input says what the feed looked like on the outside, so far.
func (d *Decoder) Input() feed.Input {
	in := d.lines.Input()
	in.End = d.end
	return in
}

// next returns the next record that is one, or io.EOF, or what ended the feed before its end.
func (d *Decoder) next() (feed.Record, error) {
	for {
		l, err := d.readLine()
		if err == nil {
			err = d.reading.Stopped()
		}
		if err != nil {
			return feed.Record{}, err
		}
		if len(l.Raw) == 0 {
			d.reading.Problem(codeBlank, l.Number, "", "")
			continue
		}
		if l.Raw[0] == '#' {
			continue
		}
		if l.End == feedtext.NoLineEnd {
			d.end = feed.Open
		}
		if err := d.reading.Count(l.Number, "records"); err != nil {
			return feed.Record{}, err
		}
		if r, ok := d.record(l); ok {
			return r, nil
		}
	}
}

// readLine returns the next line. LF and CRLF are as they should be.
func (d *Decoder) readLine() (feedtext.Line, error) {
	l, err := d.reading.ReadLine(d.lines, feedtext.CR, feedtext.MixedEnds)
	if err == nil || err == io.EOF {
		d.begin()
	}
	return l, err
}

// begin reports a feed that is not compressed. The specification wants it to be.
func (d *Decoder) begin() {
	if !d.begun && !d.lines.Input().Gzip {
		d.reading.Problem(codeNotGzip, 0, "", "")
	}
	d.begun = true
}
