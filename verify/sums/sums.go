// Package sums parses checksum files, such as SHA256SUMS, CHECKSUM and NAME.sha256, in the forms that coreutils, the
// BSDs and OpenSSL write.
//
//	9f86d081...0f00a08  disk.iso              sha256sum; with * before the name: read as binary
//	\9f86d081...0f00a08  a\nb                  the same with \n, \r and \\ in the name
//	SHA256 (disk.iso) = 9f86d081...0f00a08     sha256sum --tag, BSD; OpenSSL: SHA2-256(disk.iso)=
//	9f86d081...0f00a08                         only a digest, of the file that the list is named after
//
// The package does not guess. A line of another form is an error, not skipped, unless another line has a strong digest
// of the same file. Two different digests of one file are an error. Digests of unsupported algorithms are not evidence,
// even if they are as long as digests of a supported algorithm. Names are only compared and never become paths.
//
// A list is as trustworthy as the [verify.Channel] it came over, which the caller passes. The package does not check a
// PGP cleartext signature around a list; [List.Message] returns the signed text.
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

// Limits of a list. A caller that fetches a list need not read more than MaxSize+1 bytes.
const (
	MaxSize    = 8 << 20 // bytes
	maxEntries = 100_000
	maxLine    = 4 << 10 // bytes
)

// An Entry is the digest of one file.
type Entry struct {
	Name   string // unescaped, any bytes but NUL; "" if the line is only a digest, "-" for standard input
	Digest verify.Digest
	Line   int // counted from 1
}

// nameless reports whether the entry does not name its file.
func (e Entry) nameless() bool { return e.Name == "" || e.Name == "-" }

// A List is a parsed checksum file. The zero value is empty. A List does not change after Read and is safe for
// concurrent use.
type List struct {
	rows    []row
	byBase  map[string][]int // indexes of rows by base name, in order, without nameless rows
	lost    []*Error         // unreadable lines that may be about any file
	about   string           // the file that the list is named after; "" if unknown
	message Message
}

// A Message is a signed message with a list: a PGP cleartext signature (RFC 9580, section 7), or what signify -S -e
// writes.
type Message struct {
	// Text is the signed text. It consists of exactly the lines that the list was read from.
	Text []byte
	// Signature is the signature of Text.
	Signature []byte
}

// A row is a line with a digest, or a line about a file without a usable digest.
type row struct {
	Entry
	foreign string // the name of an unsupported algorithm in the line; Digest is then zero
	wrong   string // why the line cannot be read; Digest is then zero
}

// malformed returns the lines that cannot be read, in order.
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

// Lines returns an iterator over the lines that cannot be attributed to a file, and then over the entries, in order. If
// the line of an entry cannot be read, the error is the reason; otherwise it is nil. Lines of unsupported algorithms
// are skipped.
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

// Wrapped reports whether the list is the text of a signed message, whose signature was not checked.
func (l List) Wrapped() bool { return l.message.Signature != nil }

// Message returns the signed message around the list, or the zero value for an unsigned list. Its text is composed of
// the lines that were parsed, so that the verified text and the list cannot differ. In Read, text outside of the
// message is an error.
func (l List) Message() Message { return l.message }

// An Error reports why a list cannot be used (exit code 7).
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

// A LimitError reports that a list exceeds a limit (exit code 14).
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
