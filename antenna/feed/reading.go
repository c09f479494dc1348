package feed

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
)

// A Reading is one feed while it is read: what the decoders of all formats share.
type Reading struct {
	Options
	// Texts say the codes of the format in words, with {field} and {value} in them.
	Texts map[string]string
	// Dropped: the entry at hand is discarded already. What else is wrong with it is reported.
	Dropped bool

	found   []Finding
	entries int
}

// NewReading returns a Reading by options, whose limits are set where they are zero.
func NewReading(o Options, texts map[string]string) Reading {
	o.Limits = o.Limits.OrDefault()
	return Reading{Options: o, Texts: texts}
}

// A Finding is something about the entry at hand that is not as it should be.
type Finding struct {
	Weight Weight
	// Line is where, if that is not the line where the record begins.
	Line               int
	Code, Field, Value string
	// Strict is the code in strict mode, if that is another one. With StrictOnly the finding is reported in strict mode only.
	Strict     string
	StrictOnly bool
	// Untagged: among the warnings of the record the code stands without the field.
	Untagged bool
}

// maxFindings bounds what is remembered of one entry.
const maxFindings = 2000

// Find notes something about the entry at hand.
func (r *Reading) Find(f Finding) {
	if len(r.found) < maxFindings {
		r.found = append(r.found, f)
	}
}

// Found returns what was found of the entry at hand so far.
func (r *Reading) Found() []Finding { return r.found }

// Forget forgets what was found of the entry at hand.
func (r *Reading) Forget() { r.found = r.found[:0] }

// Judge decides by what was found whether an entry, which begins at rec.Line, is a record, and reports and forgets it. The warnings of
// a record are added to rec. URL is how the entry spells what it is about.
func (r *Reading) Judge(rec *Record, url string) bool {
	discarded := slices.IndexFunc(r.found, func(f Finding) bool { return f.Weight == Fatal || f.Weight == Repair && r.Strict })
	for i, f := range r.found {
		if f.StrictOnly && !r.Strict {
			continue
		}
		v := Violation{
			Line: cmp.Or(f.Line, rec.Line), Code: f.Code, Field: f.Field, Record: rec.Line, URL: url,
			Discarded: i == discarded && !r.Dropped, Weight: f.Weight,
		}
		if discarded < 0 && !f.StrictOnly {
			tag := v.Tag()
			if f.Untagged {
				tag = f.Code
			}
			if !slices.Contains(rec.Warnings, tag) {
				rec.Warnings = append(rec.Warnings, tag)
			}
		}
		r.report(v, f.Value, f.Strict)
	}
	r.Forget()
	return discarded < 0 && !r.Dropped
}

// Problem reports something about the feed as a whole, or a line that belongs to no record.
func (r *Reading) Problem(line int, code, field, value string) {
	r.report(Violation{Line: line, Code: code, Field: field}, value, "")
}

func (r *Reading) report(v Violation, value, strict string) {
	if r.Report == nil {
		return
	}
	v.Text = Say(r.Texts[v.Code], v.Field, value)
	if r.Strict {
		v.Code = cmp.Or(strict, v.Code)
	}
	r.Report(v)
}

// Count counts an entry that begins at a line. The error says that there are more than the limit, with the format's word for them.
func (r *Reading) Count(line int, what string) error {
	if r.entries++; r.entries > r.Limits.Entries {
		return &RejectError{Line: line, Code: "too-many-entries", Why: fmt.Sprintf("more than %d %s", r.Limits.Entries, what)}
	}
	return nil
}

// Entries returns how many were counted.
func (r *Reading) Entries() int { return r.entries }

// Sequence calls next until the end, which is io.EOF, or the first error.
func Sequence(next func() (Record, error)) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for {
			r, err := next()
			if err == io.EOF || !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// The codes of what all formats of lines report.
const (
	CodeLineEnds = "line-endings-" // and which
	CodeMark     = "byte-order-mark"
)

// ReadLine returns the next line. It reports a byte order mark, and once each how lines end if that is one of odd.
func (r *Reading) ReadLine(in *Lines, odd ...string) (Line, error) {
	before := in.ends
	l, err := in.Next()
	if err != nil {
		return l, err
	}
	if in.ends != before && slices.Contains(odd, in.ends.String()) {
		r.Problem(l.Number, CodeLineEnds+in.ends.String(), "", "")
	}
	if l.Number == 1 && in.mark {
		r.Problem(1, CodeMark, "", "")
	}
	return l, nil
}
