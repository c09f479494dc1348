// Package lirs reads and writes LIRS 2.1, the Last modified Information Relaying Specification. A feed has a line for
// each site.
//
//	LIRS,1794261900,1794279490,32400,0,http://example.org/,title,author,http://antenna.example.jp/,
//
// Invalid records are skipped. Known deviations of real agents are repaired by a fixed list, and each repair is
// reported. The package does not apply the validity of 28800 seconds. Package feed does.
package lirs

import (
	"io"
	"iter"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// A Decoder reads one feed, in constant memory.
type Decoder struct {
	reading feedtext.Reading
	lines   *feedtext.Lines
	begun   bool
	pieces  []string
	end     feed.End
}

// NewDecoder returns a Decoder that reads from r.
func NewDecoder(r io.Reader, o feed.Options) *Decoder {
	return &Decoder{reading: feedtext.NewReading(o), lines: feedtext.NewLines(r, o.Limits)}
}

// Records returns an iterator over the records. If the feed is invalid or rejected, the last pair has an error and no
// record. The records before it are valid.
func (d *Decoder) Records() iter.Seq2[feed.Record, error] { return feedtext.Sequence(d.next) }

// Input describes the encoding of the part of the feed that was read.
func (d *Decoder) Input() feed.Input {
	in := d.lines.Input()
	in.End = d.end
	return in
}

// next returns the next valid record, or io.EOF, or the error that ended the feed.
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

// readLine returns the next line. LF and CRLF are regular line ends.
func (d *Decoder) readLine() (feedtext.Line, error) {
	l, err := d.reading.ReadLine(d.lines, feedtext.CR, feedtext.MixedEnds)
	if err == nil || err == io.EOF {
		d.begin()
	}
	return l, err
}

// begin reports a feed that is not compressed, because the specification requires compression.
func (d *Decoder) begin() {
	if !d.begun && !d.lines.Input().Gzip {
		d.reading.Problem(codeNotGzip, 0, "", "")
	}
	d.begun = true
}
