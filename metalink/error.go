package metalink

import (
	"braid/internal/mask"
	"fmt"
	"strconv"
)

// A Kind is the kind of an error in a document.
type Kind uint8

// The kinds of errors. All are faults of the document, for which the command exits with code 7.
const (
	Syntax   Kind = iota + 1 // not well-formed XML, truncated, text after the end, or a DOCTYPE
	Charset                  // neither UTF-8 nor UTF-16, or a character that XML does not allow
	Foreign                  // not a Metalink document
	TooMuch                  // exceeds a limit
	Invalid                  // an invalid size or digest
	Conflict                 // contradicting digests or sizes, or duplicate names
)

var kinds = [...]string{
	Syntax: "syntax", Charset: "charset", Foreign: "foreign", TooMuch: "too much", Invalid: "invalid", Conflict: "conflict",
}

// String returns the name of the kind.
func (k Kind) String() string {
	if k < Syntax || int(k) >= len(kinds) {
		return "unknown kind"
	}
	return kinds[k]
}

// An Error is an error in a document.
type Error struct {
	Kind Kind
	Line int    // counted from 1; 0 for a document that is being written
	File string // name of the file in the document, unescaped; "" if the error is not in a file
	Why  string // printable
	Err  error  // the underlying error, or nil
}

// Error returns a message that is printable even if the texts of the document are not.
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

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

func fault(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Why: fmt.Sprintf(format, args...)}
}

// most limits how many bytes of a document's text are shown in a message.
const most = 200

// quote returns a text of a document for use in a message.
func quote(s string) string { return mask.Quote(s, most) }

// plain is like quote, without the quotation marks.
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
