package feed

import (
	"errors"
	"io"
	"iter"
)

// A FormatID is the number of the format of a record. Stores contain the number, so it never changes. Only formats with
// rules of their own in this package have a constant.
type FormatID int

const (
	Own        FormatID = iota // not read from a feed, but observed by the agent itself
	HinaDI                     // HINA/2.2
	LIRS                       // LIRS 2.1
	SOIF                       // RFC 2655
	News                       // RSS, Atom, JSON Feed
	Sitemap                    // sitemaps.org
	IndexPage                  // index of a folder on a web server
	ReleaseAPI                 // releases of a project, by a forge or a registry
)

// A Format describes a format of feeds: how it is detected, read and written. Each format is defined in its own
// package, and is a row of the table in package formats.
type Format struct {
	ID   FormatID
	Name string
	// Also are other names for the format.
	Also []string
	// Types are the media types of the format.
	Types []MediaType
	// Agents means that a record names the agent that obtained it, so it can be passed on.
	Agents bool

	// Begins are prefixes of the first line that is neither blank nor a comment, in lower case. Elements are root
	// elements of XML. Comments means that lines that begin with "#" are comments; at most one format has such
	// comments.
	Begins, Elements []string
	Comments         bool
	// Members has sets of members of a JSON document. A member is written as the names that lead to it, joined by dots.
	// Elements of arrays have no name. A document with all members of a set is of the format, whatever it begins with.
	Members [][]string
	// Sniff examines a feed whose format does not follow from its beginning. head is the beginning of the feed. first
	// is the part of head from the first significant line on. Sniff may be nil.
	Sniff func(head, first []byte) bool

	Decode func(io.Reader, Options) Decoder
	// Writing is nil if the format is not written.
	Writing *Writing
}

// String returns the name.
func (f *Format) String() string { return f.Name }

// A MediaType is a media type of feeds. Name is the common name of such a feed, or "" for the name of the format.
type MediaType struct{ Type, Name string }

// A Decoder reads a feed record by record. Its memory use does not depend on the size of the feed.
type Decoder interface {
	// Records returns an iterator over the records. The last pair has an error and no record if the feed is broken, is
	// not a feed or is rejected.
	Records() iter.Seq2[Record, error]
	// Input describes the encoding of the part of the feed that was read.
	Input() Input
}

// A Writing describes how feeds of a format are written.
type Writing struct {
	// Name is the user's name for the written format: "atom" for news.
	Name string
	// File is the name of a published feed. Gzip means that a compressed copy is written beside it. Mark is a text near
	// the beginning of such a file.
	File, Mark string
	Gzip       bool
	// OwnOnly means that only the agent's own observations are published, and no records of other agents.
	OwnOnly bool
	// Twice means that Encode iterates twice over the records.
	Twice bool
	// Check returns why a record cannot be written. If the error is ErrNoPlace, Encode leaves the record out.
	Check  func(Record) error
	Encode func(io.Writer, Heading, iter.Seq[Record]) error
}

// ErrNoPlace reports that a format cannot represent a record.
var ErrNoPlace = errors.New("the format cannot express it")

// A Heading describes a feed. A format may lack some of its fields.
type Heading struct {
	// ID is the permanent URI of the feed, Self its location, and Site a page about it.
	ID, Self, Site string
	Title          string
	Agent          string // author of the feed
	Generator      string // program that wrote the feed
	Date           Time   // time of writing
	Updated        Time   // time of the last change
}
