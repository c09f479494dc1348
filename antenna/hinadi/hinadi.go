// Package hinadi reads and writes hina-di, the format in which Asahina antennas pass on what they know of pages
// (HINA/2.2, document revision 0.13): a header block and then a block of fields for each URL.
//
//	HINA/2.2beta
//	User-Agent: antenna/1.0
//
//	URL: http://example.org/dist/a.tar.xz
//	Last-Modified: Mon, 09 Nov 2026 22:05:00 GMT
//	Method: REMOTE/HEAD/200
//
// Blocks that break a MUST of the specification (a field twice, a line that is no field, a value that is none) are
// discarded one by one in both modes. What real agents write otherwise is repaired by a closed list, and each repair is
// reported. The package fetches nothing, decides nothing, and never mixes two blocks.
package hinadi

import (
	"io"
	"iter"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// A Header is the header block of a feed (section 4.2), which is about the feed itself.
type Header struct {
	// Version is what follows HINA/ in the first line, or empty if there is no such line.
	Version     string
	UserAgent   string
	Date        feed.Time
	ContentType string
	// Other are fields that do not belong there.
	Other []feed.Field
}

// A Decoder reads one feed, in memory that does not grow with it.
type Decoder struct {
	reading feedtext.Reading
	lines   *feedtext.Lines
	// again is a line that was read too early.
	again *textLine

	header   Header
	begun    bool
	lastEnd  feedtext.LineEnd
	lastLine int
	block    block
	end      feed.End
}

// A textLine is a line that was decoded.
type textLine struct {
	text   string
	clean  bool // all of it was text
	number int
}

// NewDecoder returns a Decoder of what r has.
func NewDecoder(r io.Reader, o feed.Options) *Decoder {
	d := &Decoder{reading: feedtext.NewReading(o), lines: feedtext.NewLines(r, o.Limits)}
	d.block.in = &d.reading
	return d
}

// Records returns the records of the feed, one after the other, as they are read. The last pair has an error, and no record,
// if the feed was broken, is none or is rejected: what came before it is good.
func (d *Decoder) Records() iter.Seq2[feed.Record, error] { return feedtext.Sequence(d.next) }

// Header returns the header block. It is known when the first record is, or the end of the feed.
func (d *Decoder) Header() Header { return d.header }

// Input says what the feed looked like on the outside, so far.
func (d *Decoder) Input() feed.Input {
	in := d.lines.Input()
	in.End = d.end
	return in
}

// next returns the next record that is one, or io.EOF, or what ended the feed before its end.
func (d *Decoder) next() (feed.Record, error) {
	if !d.begun {
		d.begun = true
		if err := d.readHeader(); err != nil {
			return feed.Record{}, err
		}
	}
	for {
		whole, err := d.readBlock()
		if err == nil {
			err = d.reading.Stopped()
		}
		if err != nil {
			return feed.Record{}, err
		}
		d.end = ends[whole]
		if err := d.reading.Count(d.block.first, "blocks"); err != nil {
			return feed.Record{}, err
		}
		if r, ok := d.judge(whole); ok {
			return r, nil
		}
	}
}

// readBlock reads the lines of the next block into d.block, and tells how it ended. Without a block there is an error.
func (d *Decoder) readBlock() (end blockEnd, err error) {
	d.block.reset()
	for {
		l, err := d.readText()
		switch {
		case err == io.EOF && d.block.lines > 0 && d.lastEnd == feedtext.NoLineEnd:
			return cutShort, nil
		case err == io.EOF && d.block.lines > 0:
			return noBlankLine, nil
		case err != nil:
			return 0, d.ended(err)
		case l.text != "":
			d.block.add(l)
		case d.block.lines > 0:
			return blankLine, nil
		default:
			d.reading.Problem(codeExtraBlank, l.number, "", "")
		}
	}
}

// ends are how the feed ended if a block is the last one.
var ends = [...]feed.End{blankLine: feed.Whole, noBlankLine: feed.Open, cutShort: feed.Cut}

// ended is the end of the feed. There must be a block (section 4).
func (d *Decoder) ended(err error) error {
	if err == io.EOF && d.reading.Entries() == 0 {
		d.reading.Problem(codeNoEntity, d.lastLine, "", "")
	}
	return err
}

// readText returns the next line, decoded.
func (d *Decoder) readText() (textLine, error) {
	if d.again != nil {
		l := *d.again
		d.again = nil
		return l, nil
	}
	raw, err := d.readLine()
	if err != nil {
		return textLine{}, err
	}
	return d.decode(raw), nil
}

// readLine returns the next line as it is.
func (d *Decoder) readLine() (feedtext.Line, error) {
	l, err := d.reading.ReadLine(d.lines, feedtext.LF, feedtext.CR, feedtext.MixedEnds)
	if err == nil {
		d.lastLine, d.lastEnd = l.Number, l.End
	}
	return l, err
}

// decode decodes a line. Without a declaration it should be in EUC-JP (section 8).
func (d *Decoder) decode(l feedtext.Line) textLine {
	text, clean := d.reading.Decode(d.lines, l, codeUndeclared, codeMismatch)
	return textLine{text, clean, l.Number}
}
