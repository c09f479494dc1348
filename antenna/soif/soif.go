// Package soif reads and writes the Summary object Interchange Format (RFC 2655): a stream of summaries of
// network objects, each a template type, a URL and attributes whose values are counted in octets.
//
//	@FILE { http://example.org/dist/a.tar.xz
//	Last-Modification-Time{10}:	1794261900
//	File-Size{7}:	1849320
//	}
//
// The count of a value rules absolutely (section 3.3): braces, line ends and what looks like another object mean
// nothing inside it, and a count that is wrong is never mended by looking at the text. The package keeps values as
// the octets they are, in the order they came.
//
// It is no index: the mesh of the Common Indexing Protocol (RFC 2651) is out of its sight, but for the MIME entity
// in which such an object travels. It fetches nothing and decides nothing.
package soif

import "strings"

// An object is one summary (RFC 2655, section 3).
type object struct {
	place
	// Type is the template type. FILE is by far the most common.
	Type string
	// URL is what the summary is about. It is empty for an object without one, which is written as "-".
	URL string
	// Attributes are in the order of the stream, with all duplicates.
	Attributes []attribute
	// Wrapper is the type of the part of a Harvest gatherer's stream in which the object stood, or empty.
	Wrapper string
	// Warnings are the codes of what was odd about the object, each once, in the order they were met.
	Warnings []string
}

// An attribute is one ATTRIBUTE-VALUE pair.
type attribute struct {
	// Name is the IDENTIFIER as it stands, with the suffix of a multi-value.
	Name string
	// Value is whatever octets the template type wants.
	Value []byte
}

// wrapperDelete is around summaries that are no longer there.
const wrapperDelete = "DELETE"

// isWrapper reports whether a template type opens a part of the stream that Harvest's gatherers send, which RFC 2655
// does not know: summaries that are new, as they were, or gone.
func isWrapper(kind string) bool {
	return kind == "UPDATE" || kind == "REFRESH" || kind == wrapperDelete
}

// equalName compares identifiers, which are ASCII, in any letter case (RFC 2655, section 4).
func equalName(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }
