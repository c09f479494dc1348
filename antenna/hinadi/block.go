package hinadi

import (
	"strings"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

const (
	// maxFields and maxBlock limit the fields and the size of a block. The specification has no such limits. Real
	// blocks have about 20 fields.
	maxFields = 1000
	maxBlock  = 512 << 10
)

type blockEnd int

const (
	blankLine   blockEnd = iota
	noBlankLine          // the feed ends with a line end
	cutShort             // the feed ends within a line
)

// A block collects the lines of an entity block (section 4.3) and their violations.
type block struct {
	first, lines, size int
	last               int
	record             feed.Record
	seen               map[string]bool
	tooLarge           bool
	in                 *feedtext.Reading
}

func (b *block) reset() {
	if b.seen == nil {
		b.seen = map[string]bool{}
	}
	clear(b.seen)
	*b = block{seen: b.seen, in: b.in}
}

func (b *block) add(l textLine) {
	if b.lines++; b.lines == 1 {
		b.first = l.number
	}
	b.last = l.number
	if b.size += len(l.text); b.size > maxBlock || b.lines > maxFields {
		if !b.tooLarge {
			b.in.Find(codeBlockTooLarge, l.number, "", "")
		}
		b.tooLarge = true
		return
	}
	name, value, blanks, ok := cutField(l.text)
	if !ok {
		b.in.Find(codeMalformed, l.number, "", "")
		return
	}
	b.field(l, name, value, blanks)
}

// field adds a line that is a field.
func (b *block) field(l textLine, written, value string, blanks int) {
	name := canonicalName(written)
	key := keyOf(name)
	if b.seen[key] {
		b.in.Find(codeDuplicate, l.number, name, "")
		return
	}
	b.seen[key] = true
	if name == "URL" && len(b.record.Fields) > 0 {
		b.in.Find(codeURLNotFirst, l.number, name, "")
	}
	if name == "Virtual" && !strings.EqualFold(written, name) {
		b.in.Find(codeVitural, l.number, name, "")
	}
	b.record.Fields = append(b.record.Fields, feed.Field{Name: name, Value: value})
	if value == "" {
		b.in.Find(codeEmpty, l.number, name, "")
		return
	}
	if blanks == 0 {
		b.in.Find(codeNoBlank, l.number, name, "")
	}
	if !l.clean {
		b.in.Find(codeUndecodable, l.number, name, "")
	}
	b.set(l.number, name, value)
}

// judge reports the violations of the current block, and returns the record of the block and whether the record is
// valid.
func (d *Decoder) judge(end blockEnd) (feed.Record, bool) {
	b, r := &d.block, &d.block.record
	r.Format, r.Line, r.FeedDate = feed.HinaDI, b.first, d.header.Date
	if end == cutShort { // other errors are uncertain
		d.reading.Forget()
		d.reading.Find(codeTruncated, b.last, "", "")
	} else {
		b.finish(end)
	}
	url, _ := r.Get("URL")
	ok := d.reading.Judge(r, url)
	return *r, ok
}

// finish checks the block as a whole.
func (b *block) finish(end blockEnd) {
	r := &b.record
	if url, _ := r.Get("URL"); url == "" {
		b.in.Find(codeNoURL, b.first, "", "")
	} else if _, watchable := feed.Key(r.URL); r.URL != "" && !watchable {
		b.in.Find(codeNotWatchable, b.first, "URL", "")
	}
	if end == noBlankLine {
		b.in.Find(codeNoFinalBlank, b.last, "", "")
	}
	image := b.seen["Image-Width"] || b.seen["Image-Height"]
	if image && r.ContentType != "" && !strings.HasPrefix(strings.ToLower(r.ContentType), "image/") {
		b.in.Find(codeNoImage, b.first, "Content-Type", "")
	}
	b.fallBack()
}

// fallBack uses experimental fields in place of standard fields that WDB does not write (repairs H11 and H13).
func (b *block) fallBack() {
	r := &b.record
	if r.Title == "" {
		r.Title, _ = r.Get("X-WDB-Title")
	}
	if r.Author == "" {
		r.Author, _ = r.Get("X-WDB-Author-Name")
	}
	if length, _ := r.Get("Content-Length"); feedtext.IsNumber(length) && len(length) < 19 {
		for _, c := range length {
			r.Size = 10*r.Size + int64(c-'0')
		}
	}
}
