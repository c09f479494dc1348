package metalink

import (
	"net/url"
	"strings"

	"braid/address"
	"braid/verify"
)

// The namespaces of the root element.
const (
	namespace4 = "urn:ietf:params:xml:ns:metalink" // RFC 5854, section 1.2
	namespace3 = "http://www.metalinker.org/"
)

// The media types of documents (RFC 5854, section 6.2, and what servers send for Metalink 3).
const (
	MediaType4 = "application/metalink4+xml"
	mediaType3 = "application/metalink+xml"
)

// IsMediaType says that a field Content-Type announces a Metalink document.
func IsMediaType(contentType string) bool {
	t, _, _ := strings.Cut(contentType, ";")
	t = strings.ToLower(strings.TrimSpace(t))
	return t == MediaType4 || t == mediaType3
}

// Limits of a document. Beyond the first four, and what keeps tokens small, a document is refused.
const (
	MaxSize       = 8 << 20 // bytes of a document
	maxDepth      = 32      // elements in each other
	maxFiles      = 10_000
	maxURLs       = 5_000   // url and metaurl elements of a file, usable or not
	maxToken      = 1 << 20 // bytes of a tag, comment or text
	maxAttributes = 100     // of an element
	maxPieceLists = 16      // of a file; more are ignored
	maxWarnings   = 100     // more are not told
)

// NoPriority is the priority of what has none: the last. Greater ones are not valid (RFC 5854, section 4.2.16.2).
const NoPriority = 999_999

// A Document describes files: Metalink/XML, or a torrent (package metalink/metainfo).
type Document struct {
	Generator string
	// Origin is where the document can be had, and Dynamic says that a newer one may be there (RFC 5854, section
	// 4.2.9). Origin is nil, and Dynamic false, if that is not said.
	Origin  *url.URL
	Dynamic bool
	// Files have safe names (CheckPath), each another one.
	Files []File

	// Refused are the files that were left out, because of their names.
	Refused []Refused
	// Warnings say what else was not taken, and why: for people, printable.
	Warnings []string
}

// A Refused is a file that was left out.
type Refused struct {
	Line   int
	Name   string // as it was written, but for its length: to be escaped
	Reason string
}

// From notes over which channel d came and where its sender is, in its claims and in the places that it names.
func (d *Document) From(over verify.Channel, by address.Scope) {
	for i := range d.Files {
		d.Files[i].From(over, by)
	}
}

// From is Document.From for one file.
func (f *File) From(over verify.Channel, by address.Scope) {
	for i := range f.Claims {
		f.Claims[i].Channel = over
	}
	for i := range f.Mirrors {
		f.Mirrors[i].By = by
	}
	for i := range f.Documents {
		f.Documents[i].By = by
	}
}
