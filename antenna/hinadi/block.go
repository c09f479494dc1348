package hinadi

import (
	"slices"
	"strings"

	"braid/antenna/feed"
)

const (
	// maxFields and maxBlock bound a block, in fields and octets. The specification has no such limit; real blocks have about 20
	// fields.
	maxFields = 1000
	maxBlock  = 512 << 10
)

// A blockEnd is how a block ended.
type blockEnd int

const (
	blankLine   blockEnd = iota
	noBlankLine          // the feed ends with a line end
	cutShort             // the feed ends within a line
)

// A weight is what a finding means for the block.
type weight int

const (
	fatal  weight = iota // the block is discarded
	repair               // it is discarded in strict mode, else warned about
	note                 // it is warned about
	remark               // it is told of in strict mode
)

var weights = [...]feed.Weight{fatal: feed.Fatal, repair: feed.Repair, note: feed.Note, remark: feed.Note}

// A finding is something about a block that is not as it should be.
type finding struct {
	weight      weight
	line        int
	code, field string
	detail      string
	// strict is the code in strict mode, if that is another one.
	strict string
}

// A block collects the lines of an entity block (section 4.3) and what there is to say of them.
type block struct {
	first, lines, size int
	last               int
	record             feed.Record
	seen               map[string]bool
	findings           []finding
	tooLarge           bool
}

func (b *block) reset() {
	if b.seen == nil {
		b.seen = map[string]bool{}
	}
	clear(b.seen)
	*b = block{seen: b.seen, findings: b.findings[:0]}
}

// add takes a line.
func (b *block) add(l textLine) {
	if b.lines++; b.lines == 1 {
		b.first = l.number
	}
	b.last = l.number
	if b.size += len(l.text); b.size > maxBlock || b.lines > maxFields {
		if !b.tooLarge {
			b.find(finding{line: l.number, code: codeBlockTooLarge})
		}
		b.tooLarge = true
		return
	}
	name, value, blanks, ok := cutField(l.text)
	if !ok {
		b.find(finding{line: l.number, code: codeMalformed})
		return
	}
	b.field(l, name, value, blanks)
}

// field takes a line that is a field.
func (b *block) field(l textLine, written, value string, blanks int) {
	name := canonicalName(written)
	key := strings.ToLower(name)
	if b.seen[key] {
		b.find(finding{line: l.number, code: codeDuplicate, field: name})
		return
	}
	b.seen[key] = true
	if name == "URL" && len(b.record.Fields) > 0 {
		b.find(finding{weight: repair, line: l.number, code: codeURLNotFirst, field: name})
	}
	if name == "Virtual" && !strings.EqualFold(written, name) {
		b.find(finding{weight: note, line: l.number, code: codeVitural, field: name})
	}
	b.record.Fields = append(b.record.Fields, feed.Field{Name: name, Value: value})
	if value == "" {
		b.find(finding{weight: repair, line: l.number, code: codeEmpty, field: name})
		return
	}
	if blanks == 0 {
		b.find(finding{weight: repair, line: l.number, code: codeNoBlank, field: name})
	}
	if !l.clean {
		b.find(finding{weight: repair, line: l.number, code: codeUndecodable, field: name})
	}
	b.set(l.number, name, value)
}

func (b *block) find(f finding) {
	if len(b.findings) < 2*maxFields {
		b.findings = append(b.findings, f)
	}
}

// judge decides whether the block that was read is a record, and reports what there is to say of it.
func (d *Decoder) judge(end blockEnd) (feed.Record, bool) {
	b := &d.block
	if end == cutShort { // nothing else about it is certain
		b.findings = append(b.findings[:0], finding{line: b.last, code: codeTruncated})
	} else {
		b.finish(end)
	}
	discarded := slices.IndexFunc(b.findings, func(f finding) bool { return f.weight == fatal || f.weight == repair && d.o.Strict })
	for i, f := range b.findings {
		if f.weight != remark || d.o.Strict {
			d.reportFinding(f, i == discarded)
		}
	}
	if discarded >= 0 {
		return feed.Record{}, false
	}
	r := &b.record
	r.Format, r.Line, r.FeedDate = feed.HinaDI, b.first, d.header.Date
	for _, f := range b.findings {
		if tag := f.tag(); f.weight != remark && !slices.Contains(r.Warnings, tag) {
			r.Warnings = append(r.Warnings, tag)
		}
	}
	return *r, true
}

// finish looks at the block as a whole.
func (b *block) finish(end blockEnd) {
	r := &b.record
	if url, _ := r.Get("URL"); url == "" {
		b.find(finding{line: b.first, code: codeNoURL})
	} else if _, watchable := feed.Key(r.URL); r.URL != "" && !watchable {
		b.find(finding{weight: note, line: b.first, code: codeNotWatchable, field: "URL"})
	}
	if end == noBlankLine {
		b.find(finding{weight: repair, line: b.last, code: codeNoFinalBlank})
	}
	image := b.seen["image-width"] || b.seen["image-height"]
	if image && r.ContentType != "" && !strings.HasPrefix(strings.ToLower(r.ContentType), "image/") {
		b.find(finding{weight: remark, line: b.first, code: codeNoImage, field: "Content-Type"})
	}
	b.fallBack()
}

// fallBack takes from experimental fields what WDB writes there only (repairs H11 and H13).
func (b *block) fallBack() {
	r := &b.record
	if r.Title == "" {
		r.Title, _ = r.Get("X-WDB-Title")
	}
	if r.Author == "" {
		r.Author, _ = r.Get("X-WDB-Author-Name")
	}
	if length, _ := r.Get("Content-Length"); isNumber(length) && len(length) < 19 {
		for _, c := range length {
			r.Size = 10*r.Size + int64(c-'0')
		}
	}
}

// tag is the code of f among the warnings of a record.
func (f finding) tag() string {
	switch f.code {
	case codeURLNotFirst, codeVitural, codeNotWatchable:
		return f.code
	}
	return feed.Violation{Code: f.code, Field: f.field}.Tag()
}

func (d *Decoder) reportFinding(f finding, discarded bool) {
	if d.o.Report == nil {
		return
	}
	url, _ := d.block.record.Get("URL")
	v := feed.Violation{
		Line: f.line, Code: f.code, Field: f.field, Text: words(f.code, f.field, f.detail),
		Record: d.block.first, URL: url, Discarded: discarded, Weight: weights[f.weight],
	}
	if d.o.Strict && f.strict != "" {
		v.Code = f.strict
	}
	d.report(v)
}
