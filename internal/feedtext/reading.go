// Package feedtext is what the readers of all formats of feeds share: gunzipping within limits, charsets, lines, and
// the findings that decide whether an entry is a record.
//
// It knows no format. What a format finds odd is a Code of it, with a weight and words.
package feedtext

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"

	"braid/antenna/feed"
)

// A Reading is one feed while it is read.
type Reading struct {
	feed.Options
	// Dropped: the entry at hand is discarded already. What else is wrong with it is reported.
	Dropped bool

	found   []finding
	entries int
}

// NewReading returns a Reading by options, whose limits are set where they are zero.
func NewReading(o feed.Options) Reading {
	o.Limits = o.Limits.OrDefault()
	return Reading{Options: o}
}

// A finding is something about the entry at hand that is not as it should be. Without a line it is about the line where
// the entry begins.
type finding struct {
	code         *Code
	line         int
	field, value string
}

// maxFindings bounds what is remembered of one entry.
const maxFindings = 2000

// Find notes something about the entry at hand. Line 0 is where the entry begins.
func (r *Reading) Find(code *Code, line int, field, value string) {
	if len(r.found) < maxFindings {
		r.found = append(r.found, finding{code, line, field, value})
	}
}

// FindOnce is Find, unless the entry at hand has that code already.
func (r *Reading) FindOnce(code *Code) {
	if !slices.ContainsFunc(r.found, func(f finding) bool { return f.code == code }) {
		r.Find(code, 0, "", "")
	}
}

// Failed reports whether the entry at hand is no record in either mode by what was found so far.
func (r *Reading) Failed() bool {
	return slices.ContainsFunc(r.found, func(f finding) bool { return f.code.weight == feed.Fatal })
}

// Forget forgets what was found of the entry at hand.
func (r *Reading) Forget() { r.found = r.found[:0] }

// Judge decides by what was found whether an entry, which begins at rec.Line, is a record, and reports and forgets it.
// The warnings of a record are added to rec. URL is how the entry spells what it is about.
func (r *Reading) Judge(rec *feed.Record, url string) bool {
	discarded := slices.IndexFunc(r.found, func(f finding) bool { return f.code.discards(r.Strict) })
	for i, f := range r.found {
		if f.code.strictOnly && !r.Strict {
			continue
		}
		v := f.code.Violation(cmp.Or(f.line, rec.Line), f.field, f.value)
		v.Record, v.URL, v.Discarded = rec.Line, url, i == discarded && !r.Dropped
		if discarded < 0 && !f.code.strictOnly {
			tag := v.Tag()
			if f.code.untagged {
				tag = v.Code
			}
			if !slices.Contains(rec.Warnings, tag) {
				rec.Warnings = append(rec.Warnings, tag)
			}
		}
		if r.Strict {
			v.Code = cmp.Or(f.code.strict, v.Code)
		}
		r.Tell(v)
	}
	r.Forget()
	return discarded < 0 && !r.Dropped
}

// Problem reports something about the feed as a whole, or a line that belongs to no record.
func (r *Reading) Problem(code *Code, line int, field, value string) {
	v := code.Violation(line, field, value)
	v.Weight = feed.Note
	r.Tell(v)
}

// Tell reports v.
func (r *Reading) Tell(v feed.Violation) {
	if r.Report != nil {
		r.Report(v)
	}
}

// Stopped returns the error with which the feed ends at the user's wish, or nil.
func (r *Reading) Stopped() error {
	if r.Stop == nil {
		return nil
	}
	return r.Stop()
}

// Count counts an entry that begins at a line. The error says that there are more than the limit, with the format's
// word for them.
func (r *Reading) Count(line int, what string) error {
	if r.entries++; r.entries > r.Limits.Entries {
		return &feed.RejectError{Line: line, Code: "too-many-entries", Why: fmt.Sprintf("more than %d %s", r.Limits.Entries, what)}
	}
	return nil
}

// Entries returns how many were counted.
func (r *Reading) Entries() int { return r.entries }

// Sequence calls next until the end, which is io.EOF, or the first error.
func Sequence(next func() (feed.Record, error)) iter.Seq2[feed.Record, error] {
	return func(yield func(feed.Record, error) bool) {
		for {
			r, err := next()
			if err == io.EOF || !yield(r, err) || err != nil {
				return
			}
		}
	}
}
