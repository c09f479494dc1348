package feed

import "fmt"

// Options say how a feed is read. The zero value reads tolerantly, within the usual limits.
type Options struct {
	// Strict holds the feed to the letter of its specification: what would need a repair is discarded. Otherwise a closed list
	// of repairs is made, each of which is reported.
	Strict bool
	Limits Limits
	// Report is told of everything that is not as it should be, as it is met. It may be nil.
	Report func(Violation)
	// Stop is asked before each entry; an error ends the feed with it. If nil, nothing does.
	Stop func() error
	// Base is the URL where the feed was found. News have relative links, which are meant from there (RFC 3986, section
	// 5.1.3). If empty, they are discarded.
	Base string
}

// Limits bound what a feed may cost. Each has the value that is named here if it is zero.
type Limits struct {
	Bytes   int64 // decoded, of the whole feed: 64 MiB
	Entries int   // those that are discarded included: 1,000,000
	Line    int   // octets of one line: 64 KiB
	Value   int   // octets of one value of SOIF: 1 MiB
	Ratio   int64 // how much a compressed feed may grow past its first MiB: 200
}

// OrDefault returns l with the usual limits where it has none.
func (l Limits) OrDefault() Limits {
	if l.Bytes <= 0 {
		l.Bytes = 64 << 20
	}
	if l.Entries <= 0 {
		l.Entries = 1_000_000
	}
	if l.Line <= 0 {
		l.Line = 64 << 10
	}
	if l.Value <= 0 {
		l.Value = 1 << 20
	}
	if l.Ratio <= 0 {
		l.Ratio = 200
	}
	return l
}

// An Input is what a feed looked like on the outside. It is complete when the feed was read to its end.
type Input struct {
	Gzip bool
	// LineEnds is lf, crlf, cr, mixed, or empty when no line ended.
	LineEnds string
	// Charset is what the text was decoded by; Declared is what the feed says of it, in its own spelling.
	Charset, Declared string
	// End is how the feed ended.
	End End
}

// An End is how a feed ended, as far as its format tells.
type End int

const (
	Whole End = iota // nothing says that there was more
	Open             // what must come behind the last entry is missing: there may have been more
	Cut              // within an entry: there was more
)

// A Violation is one thing that is not as it should be.
type Violation struct {
	// Line is where, in the decoded feed, from 1. It is 0 for the feed as a whole.
	Line int
	// Code says what, for programs, and Field of which field, if it is about one.
	Code, Field string
	// Text says what in words. It can have words of the feed, and those are quoted.
	Text string
	// Offset says in octets where, from 0, in formats in which lines mean little; Start says so of the record, and Type
	// is what the record calls itself (SOIF).
	Offset, Start int64
	Type          string
	// Record is the line where the record begins that it is about, or 0, and URL what that is about, as far as it is known.
	Record int
	URL    string
	// Discarded: that record is not handed on, for this reason.
	Discarded bool
	// Weight is what it means for that record, in either mode.
	Weight Weight
}

// A Weight is what a Violation means for the record that it is about. What is about the feed as a whole is a Note.
type Weight int

const (
	Note   Weight = iota // it is told of, and no more
	Repair               // strict mode discards the record, tolerant mode repairs it
	Fatal                // both modes discard the record
)

func (w Weight) String() string { return [...]string{"note", "repair", "fatal"}[w] }

// Tag is the code with the field, as in Record.Warnings.
func (v Violation) Tag() string {
	if v.Field == "" {
		return v.Code
	}
	return v.Code + ":" + v.Field
}

// A RejectError says that a feed, or the rest of it, is not read. The records before it are good.
type RejectError struct {
	Line int    // in the decoded feed, or 0
	Code string // for programs
	Why  string // in words
	// Partial: it is about one entry, and not about what the feed costs as a whole. A tolerant reader keeps the entries
	// before it.
	Partial bool
}

func (e *RejectError) Error() string {
	if e.Line == 0 {
		return "feed: " + e.Why
	}
	return fmt.Sprintf("feed, line %d: %s", e.Line, e.Why)
}
