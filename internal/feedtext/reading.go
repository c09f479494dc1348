// Package feedtext contains the common parts of the feed readers: decompression within limits, charsets, lines, and the
// findings that decide whether an entry is a record.
//
// The package knows no feed format. Each format defines its defects as Codes, with a weight and a description.
package feedtext

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"

	"braid/antenna/feed"
)

// Reading is the state of reading one feed.
type Reading struct {
	feed.Options
	// Dropped is set if the current entry is already discarded. Further defects of it are still reported.
	Dropped bool

	found   []finding
	entries int
}

// NewReading returns a Reading with options o, and with default limits for limits of o that are not set.
func NewReading(o feed.Options) Reading {
	o.Limits = o.Limits.OrDefault()
	return Reading{Options: o}
}

// finding is a defect of the current entry. A line of 0 stands for the first line of the entry.
type finding struct {
	code         *Code
	line         int
	field, value string
}

// maxFindings limits the findings that are stored for one entry.
const maxFindings = 2000

// Find records a defect of the current entry. A line of 0 stands for the first line of the entry.
func (r *Reading) Find(code *Code, line int, field, value string) {
	if len(r.found) < maxFindings {
		r.found = append(r.found, finding{code, line, field, value})
	}
}

// FindOnce records a defect, unless the current entry already has a defect with that code.
func (r *Reading) FindOnce(code *Code) {
	if !slices.ContainsFunc(r.found, func(f finding) bool { return f.code == code }) {
		r.Find(code, 0, "", "")
	}
}

// Failed reports whether the findings so far discard the current entry in both modes.
func (r *Reading) Failed() bool {
	return slices.ContainsFunc(r.found, func(f finding) bool { return f.code.weight == feed.Fatal })
}

// Forget removes the findings about the current entry.
func (r *Reading) Forget() { r.found = r.found[:0] }

// Judge reports whether the current entry is a record. It reports all findings about the entry and removes them, and
// adds warnings to rec, whose Line is the first line of the entry. url is the URL as written in the entry.
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

// Problem reports a defect of the feed as a whole, or of a line that belongs to no record.
func (r *Reading) Problem(code *Code, line int, field, value string) {
	v := code.Violation(line, field, value)
	v.Weight = feed.Note
	r.Tell(v)
}

// Tell passes v to the Report function.
func (r *Reading) Tell(v feed.Violation) {
	if r.Report != nil {
		r.Report(v)
	}
}

// Stopped returns the error of Options.Stop. An error ends reading.
func (r *Reading) Stopped() error {
	if r.Stop == nil {
		return nil
	}
	return r.Stop()
}

// Count counts an entry that begins at the given line. It returns an error if the limit is exceeded. what is the
// format's word for entries, for the error.
func (r *Reading) Count(line int, what string) error {
	if r.entries++; r.entries > r.Limits.Entries {
		return &feed.RejectError{Line: line, Code: "too-many-entries",
			Why: fmt.Sprintf("more than %d %s", r.Limits.Entries, what)}
	}
	return nil
}

// Entries returns the number of counted entries.
func (r *Reading) Entries() int { return r.entries }

// Sequence returns the records that next returns, up to io.EOF or the first other error, which it yields as well.
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
