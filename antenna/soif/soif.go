// Package soif reads and writes the Summary Object Interchange Format (RFC 2655): a stream of summaries of network
// objects. Each summary has a template type, a URL and attributes with the sizes of their values in bytes.
//
//	@FILE { http://example.org/dist/a.tar.xz
//	Last-Modification-Time{10}:	1794261900
//	File-Size{7}:	1849320
//	}
//
// The size of a value is authoritative (section 3.3). Braces, line ends and apparent objects inside a value have no
// meaning, and a wrong size is never corrected by looking at the text. Values keep their bytes and their order.
//
// The package does not implement the Common Indexing Protocol (RFC 2651), except for the MIME entity that transports
// such a stream.
package soif

import "strings"

// An object is a summary (RFC 2655, section 3).
type object struct {
	place
	// Type is the template type, most commonly FILE.
	Type string
	// URL is the URL that the summary describes. It is empty for an object without a URL, written as "-".
	URL string
	// Attributes are in the order of the stream, including duplicates.
	Attributes []attribute
	// Wrapper is the type of the enclosing part of a Harvest gatherer's stream, or "".
	Wrapper string
	// Warnings are the codes of irregularities in the object, without duplicates, in the order of their detection.
	Warnings []string
}

// An attribute is an ATTRIBUTE-VALUE pair.
type attribute struct {
	// Name is the IDENTIFIER, including the suffix of a multi-value.
	Name string
	// Value has any bytes. Their meaning depends on the template type.
	Value []byte
}

// wrapperDelete is the type of the part with deleted summaries.
const wrapperDelete = "DELETE"

// isWrapper reports whether a template type opens a part of the stream that Harvest's gatherers send, with new,
// unchanged or deleted summaries. RFC 2655 does not define these parts.
func isWrapper(kind string) bool {
	return kind == "UPDATE" || kind == "REFRESH" || kind == wrapperDelete
}

// equalName reports whether two identifiers are equal, ignoring case (RFC 2655, section 4). Identifiers are ASCII.
func equalName(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }
