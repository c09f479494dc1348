// Package sums reads checksum files: SHA256SUMS, CHECKSUM, NAME.sha256 and their like, in the forms that
// coreutils, the BSDs and OpenSSL write.
//
//	9f86d081...0f00a08  disk.iso              sha256sum; with * before the name: read as binary
//	\9f86d081...0f00a08  a\nb                  the same with \n, \r and \\ in the name
//	SHA256 (disk.iso) = 9f86d081...0f00a08     sha256sum --tag, BSD; SHA2-256(disk.iso)= is OpenSSL's
//	9f86d081...0f00a08                         nothing else: the file that the list is named after
//
// It refuses to guess. A line that is none of these is an error, not as if it were not there, unless another one has a
// strong digest of the same file. Two digests of one file are an error and never a choice. Digests of algorithms that
// verify does not know are no evidence, also where their length is that of one that it knows. Names are compared and
// nothing else: whatever they hold, they never become paths.
//
// A list is as good as the way it came: the caller says over which [verify.Channel]. A PGP cleartext signature
// around it is not checked here; [List.Message] is what it speaks of.
//
//	list, err := sums.Read("SHA256SUMS", data)
//	claims, malformed, err := list.Find([]string{"disk.iso"}, "SHA256SUMS", verify.HTTPS)
//	fmt.Println(claims[0]) // sha-256 from line 3 of SHA256SUMS over https
package sums

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"braid/verify"
)

// Limits of a list. Whoever fetches one need not read more than MaxSize+1 bytes.
const (
	MaxSize    = 8 << 20 // bytes
	maxEntries = 100_000
	maxLine    = 4 << 10 // bytes
)

// An Entry is the digest of one file.
type Entry struct {
	Name   string // without its escapes, any bytes but NUL; "" if the line is a digest alone, "-" for standard input
	Digest verify.Digest
	Line   int // counted from 1
}

// nameless entries say nothing about which file they are of.
func (e Entry) nameless() bool { return e.Name == "" || e.Name == "-" }

// A List is a checksum file. The zero value is empty. It is not changed after Read, and may be used by many at once.
type List struct {
	rows    []row
	byBase  map[string][]int // the rows of a base name, in order; not the nameless ones
	lost    []*Error         // lines that cannot be read, and that may be about any file
	about   string           // the file that the list is named after, "" if that cannot be told
	wrapped bool
	message Message
}

// A Message is a list that stands in a PGP cleartext signature (RFC 9580, section 7).
type Message struct {
	// Text is what the signature speaks of: the lines that the list was read from, and nothing else.
	Text []byte
	// Signature is the armored signature of Text.
	Signature []byte
}

// A row is a line with a digest, or with something else about a file, such as the digest of another algorithm.
type row struct {
	Entry
	foreign string // what the line calls the algorithm that is not ours; then there is no digest
	wrong   string // why the line cannot be read; then there is none either
}

// malformed are the lines that cannot be read, in order.
func (l List) malformed() []*Error {
	wrong := slices.Clone(l.lost)
	for _, r := range l.rows {
		if r.wrong != "" {
			wrong = append(wrong, &Error{r.Line, r.wrong})
		}
	}
	slices.SortFunc(wrong, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
	return wrong
}

// Lines gives the entries in order, each with a nil error, and lines that cannot be read, with what is known of them and why.
func (l List) Lines() iter.Seq2[Entry, *Error] {
	return func(yield func(Entry, *Error) bool) {
		for _, e := range l.lost {
			if !yield(Entry{Line: e.Line}, e) {
				return
			}
		}
		for _, r := range l.rows {
			var err *Error
			if r.wrong != "" {
				err = &Error{r.Line, r.wrong}
			}
			if r.foreign == "" && !yield(r.Entry, err) {
				return
			}
		}
	}
}

// Wrapped reports whether the list stands in a PGP cleartext signature, which was not checked.
func (l List) Wrapped() bool { return l.wrapped }

// Message is the cleartext signature around the list; it is empty if there is none. The text that is to be verified is
// put together from the lines that were read, so the two cannot differ, and anything around it is an error.
func (l List) Message() Message { return l.message }

// An Error says that a list cannot be used (exit code 7), and why.
type Error struct {
	Line int // counted from 1; 0 is the list as a whole
	Why  string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Why
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Why)
}

// A LimitError says that a list is larger than what is read (exit code 14).
type LimitError struct {
	Line int // counted from 1; 0 is the list as a whole
	Most int
	Unit string // "bytes", "digests"
}

func (e *LimitError) Error() string {
	why := fmt.Sprintf("more than %d %s", e.Most, e.Unit)
	if e.Line == 0 {
		return why
	}
	return fmt.Sprintf("line %d: %s", e.Line, why)
}
