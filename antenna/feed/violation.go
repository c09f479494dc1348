package feed

import "fmt"

// Options configures a decoder. The zero value reads tolerantly with the default limits.
type Options struct {
	// Strict discards records that violate the specification. Otherwise a fixed list of repairs is applied, and each
	// repair is reported.
	Strict bool
	Limits Limits
	// Report is called for each violation when it is found. It may be nil.
	Report func(Violation)
	// Stop is called before each entry. If it returns an error, reading ends with that error. It may be nil.
	Stop func() error
	// Base is the URL of the feed. Relative links in news are resolved against Base (RFC 3986, section 5.1.3). If Base
	// is empty, relative links are discarded.
	Base string
	// Folders adds a record for each sub-folder of the index page of a folder. The URL of such a record ends with a
	// slash.
	Folders bool
}

// Limits limits the size of a feed. A field that is zero means the default in its comment.
type Limits struct {
	Bytes   int64 // of the decoded feed: 64 MiB
	Entries int   // with discarded entries: 1,000,000
	Line    int   // bytes of one line: 64 KiB
	Value   int   // bytes of one SOIF value: 1 MiB
	Ratio   int64 // expansion of a compressed feed beyond its first MiB: 200
}

// OrDefault returns l with defaults in place of zero values.
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

// An Input describes the encoding of a feed. The description is complete when the feed has been read to its end.
type Input struct {
	Gzip bool
	// LineEnds is lf, crlf, cr, mixed, or empty if no line ended.
	LineEnds string
	// Charset is the charset that was used. Declared is the charset that the feed declares, in the feed's spelling.
	Charset, Declared string
	// End is how the feed ended.
	End End
}

// An End is how a feed ended, if its format shows that.
type End int

const (
	Whole End = iota // apparently complete
	Open             // the end marker is missing, so entries may be missing
	Cut              // truncated within an entry
)

// A Violation is a deviation from the specification.
type Violation struct {
	// Line is the line in the decoded feed, from 1, or 0 for the whole feed.
	Line int
	// Code identifies the violation. Field is the field concerned, if any.
	Code, Field string
	// Text describes the violation. Quoted parts may come from the feed.
	Text string
	// Offset is the position in bytes, from 0, for formats without lines. Start is the position of the record, and Type
	// the type of the record (SOIF).
	Offset, Start int64
	Type          string
	// Record is the line where the record concerned begins, or 0. URL is the URL of that record, if known.
	Record int
	URL    string
	// Discarded reports that the record was discarded for this reason.
	Discarded bool
	// Weight is the severity for the record, in either mode.
	Weight Weight
}

// A Weight is the severity of a Violation for its record. For a violation of the whole feed it is Note.
type Weight int

const (
	Note   Weight = iota // only reported
	Repair               // strict mode discards the record, tolerant mode repairs it
	Fatal                // both modes discard the record
)

func (w Weight) String() string { return [...]string{"note", "repair", "fatal"}[w] }

// Tag returns the code with the field, as in Record.Warnings.
func (v Violation) Tag() string {
	if v.Field == "" {
		return v.Code
	}
	return v.Code + ":" + v.Field
}

// A RejectError reports that a feed, or the rest of it, is not read. The records before it are valid.
type RejectError struct {
	Line int    // in the decoded feed, or 0
	Code string // for programs
	Why  string // description
	// Partial reports that the error concerns one entry and not a limit of the whole feed. A tolerant reader keeps the
	// entries before it.
	Partial bool
}

func (e *RejectError) Error() string {
	if e.Line == 0 {
		return "feed: " + e.Why
	}
	return fmt.Sprintf("feed, line %d: %s", e.Line, e.Why)
}
