package feed

import (
	"errors"
	"io"
	"iter"
)

// A FormatID is the number of the format that a record was read from. Stores have it, so it never changes. Those that have
// rules of their own here have a name.
type FormatID int

const (
	Own     FormatID = iota // not read: observed
	HinaDI                  // HINA/2.2
	LIRS                    // LIRS 2.1
	SOIF                    // RFC 2655
	News                    // RSS, Atom, JSON Feed
	Sitemap                 // sitemaps.org
)

// A Format is how feeds of one format are told from others, read and written. Each is in the package of the format, and a
// row of the table in package formats.
type Format struct {
	ID   FormatID
	Name string
	// Also are other words that users have for it.
	Also []string
	// Types are the media types that feeds of the format have.
	Types []MediaType
	// Agents: its records say which agent obtained them, so that they can be passed on.
	Agents bool

	// Begins are what the first line begins with that is neither blank nor a comment, in lower case, and Elements the names of
	// first elements of XML. Comments: no other format has comments, lines that begin with "#".
	Begins, Elements []string
	Comments         bool
	// Sniff looks at what no format begins with: all there is to look at, and all from the first line on that says something. It
	// may be nil.
	Sniff func(head, first []byte) bool

	Decode func(io.Reader, Options) Decoder
	// Writing is nil if the format is not written.
	Writing *Writing
}

// String returns the name.
func (f *Format) String() string { return f.Name }

// A MediaType is a media type of feeds. Name is what people call a feed of that type; "" is the name of the format.
type MediaType struct{ Type, Name string }

// A Decoder reads one feed: record by record, in memory that does not grow with it.
type Decoder interface {
	// Records returns the records as they are read. The last pair has an error, and no record, if the feed was broken, is none or
	// is rejected.
	Records() iter.Seq2[Record, error]
	// Input says what the feed looked like on the outside, so far.
	Input() Input
}

// A Writing is how feeds of a format are written.
type Writing struct {
	// Name is what a user calls what is written: "atom" of the formats of news.
	Name string
	// File is the name of a feed that is published. Gzip: there is a compressed one beside it. Mark is what such a file has near
	// its beginning.
	File, Mark string
	Gzip       bool
	// OwnOnly: own observations are published, and records of others are not, also not of this format.
	OwnOnly bool
	// Twice: records are ranged over twice.
	Twice bool
	// Check returns why a record cannot be written. If the error is ErrNoPlace, Encode leaves the record out.
	Check  func(Record) error
	Encode func(io.Writer, Heading, iter.Seq[Record]) error
}

// ErrNoPlace says that a format cannot say what a record says.
var ErrNoPlace = errors.New("the format has no place for it")

// A Heading is what a feed says of itself, as far as its format has a place for it.
type Heading struct {
	// ID is the URI that names the feed for ever, Self is where it is, and Site a page about it.
	ID, Self, Site string
	Title          string
	Agent          string // who writes the feed
	Generator      string // the program
	Date           Time   // when it is written
	Updated        Time   // when something in it changed last
}
