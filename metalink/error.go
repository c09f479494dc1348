package metalink

import (
	"braid/internal/mask"
	"fmt"
	"strconv"
)

// A Kind is what is wrong with a document.
type Kind uint8

// The kinds of errors. All are faults of the document: exit code 7.
const (
	Syntax   Kind = iota + 1 // no well-formed XML, cut off, goes on after its end, or has a DOCTYPE
	Charset                  // neither UTF-8 nor UTF-16, or characters that XML has not
	Foreign                  // XML, but no Metalink document
	TooMuch                  // beyond a limit
	Invalid                  // a size or a digest that is none
	Conflict                 // two that cannot both be right: digests, sizes, names
)

var kinds = [...]string{
	Syntax: "syntax", Charset: "charset", Foreign: "foreign", TooMuch: "too much", Invalid: "invalid", Conflict: "conflict",
}

// String is the kind in a word or two.
func (k Kind) String() string {
	if k < Syntax || int(k) >= len(kinds) {
		return "unknown kind"
	}
	return kinds[k]
}

// An Error says what is wrong with a document: it or its author is at fault.
type Error struct {
	Kind Kind
	Line int    // counted from 1; 0: of a document that is to be written
	File string // the file that it is about, as it was written; "": none
	Why  string // printable
	Err  error  // nil, or what is behind it
}

// Error is printable, whatever the document says.
func (e *Error) Error() string {
	s := "metalink document"
	if e.Line > 0 {
		s += ", line " + strconv.Itoa(e.Line)
	}
	if e.File != "" {
		s += ", file " + quote(e.File)
	}
	return s + ": " + e.Why
}

// Unwrap gives what is behind the error.
func (e *Error) Unwrap() error { return e.Err }

func fault(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Why: fmt.Sprintf(format, args...)}
}

// most is how many bytes of a stranger's word are shown.
const most = 200

// quote is a word of a document in an error.
func quote(s string) string { return mask.Quote(s, most) }

// plain is quote without the quotes.
func plain(s string) string {
	q := quote(s)
	return q[1 : len(q)-1]
}

func short(s string) string {
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}
