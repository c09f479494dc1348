// Package hinadi reads and writes hina-di, the format in which Asahina antennas exchange the modification times of
// pages (HINA/2.2, document revision 0.13). A feed is a header block followed by a block of fields for each URL.
//
//	HINA/2.2beta
//	User-Agent: antenna/1.0
//
//	URL: http://example.org/dist/a.tar.xz
//	Last-Modified: Mon, 09 Nov 2026 22:05:00 GMT
//	Method: REMOTE/HEAD/200
//
// Blocks that violate a MUST of the specification, such as a duplicate field, a line that is not a field or an invalid
// value, are discarded in both modes. Known deviations of real agents are repaired by a fixed list, and each repair is
// reported. The package never mixes two blocks.
package hinadi

import (
	"io"
	"iter"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// A Header is the header block of a feed (section 4.2), which describes the feed itself.
type Header struct {
	// Version is the version in the first line, or "" if the line is missing.
	Version     string
	UserAgent   string
	Date        feed.Time
	ContentType string
	// Other has fields that are not allowed in a header block.
	Other []feed.Field
}

// A Decoder reads one feed, in constant memory.
type Decoder struct {
	reading feedtext.Reading
	lines   *feedtext.Lines
	// again is a line to read again.
	again *textLine

	header   Header
	begun    bool
	lastEnd  feedtext.LineEnd
	lastLine int
	block    block
	end      feed.End
}

type textLine struct {
	text   string
	clean  bool // all bytes could be decoded
	number int
}

// NewDecoder returns a Decoder that reads from r.
func NewDecoder(r io.Reader, o feed.Options) *Decoder {
	d := &Decoder{reading: feedtext.NewReading(o), lines: feedtext.NewLines(r, o.Limits)}
	d.block.in = &d.reading
	return d
}

// Records returns an iterator over the records. If the feed is invalid, of another format or rejected, the last pair
// has an error and no record. The records before it are valid.
func (d *Decoder) Records() iter.Seq2[feed.Record, error] { return feedtext.Sequence(d.next) }

// Header returns the header block. It is valid after the first record or the end of the feed.
func (d *Decoder) Header() Header { return d.header }

// Input describes the encoding of the part of the feed that was read.
func (d *Decoder) Input() feed.Input {
	in := d.lines.Input()
	in.End = d.end
	return in
}

// next returns the next valid record, or io.EOF, or the error that ended the feed.
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

// readBlock reads the lines of the next block into d.block, and returns how the block ended. It returns an error if no
// block follows.
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

// ends maps the end of the last block to the end of the feed.
var ends = [...]feed.End{blankLine: feed.Whole, noBlankLine: feed.Open, cutShort: feed.Cut}

// ended handles the end of the feed. It reports a feed without blocks (section 4).
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

// readLine returns the next line without decoding it.
func (d *Decoder) readLine() (feedtext.Line, error) {
	l, err := d.reading.ReadLine(d.lines, feedtext.LF, feedtext.CR, feedtext.MixedEnds)
	if err == nil {
		d.lastLine, d.lastEnd = l.Number, l.End
	}
	return l, err
}

// decode decodes a line. Without a declared charset, the line should be EUC-JP (section 8).
func (d *Decoder) decode(l feedtext.Line) textLine {
	text, clean := d.reading.Decode(d.lines, l, codeUndeclared, codeMismatch)
	return textLine{text, clean, l.Number}
}
