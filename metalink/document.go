package metalink

import (
	"net/url"
	"strings"

	"braid/address"
	"braid/verify"
)

// The XML namespaces of the root element.
const (
	namespace4 = "urn:ietf:params:xml:ns:metalink" // RFC 5854, section 1.2
	namespace3 = "http://www.metalinker.org/"
)

// The media types of documents (RFC 5854, section 6.2, and the type that servers use for Metalink 3).
const (
	MediaType4 = "application/metalink4+xml"
	mediaType3 = "application/metalink+xml"
)

// IsMediaType reports whether a Content-Type field has the media type of a Metalink document.
func IsMediaType(contentType string) bool {
	t, _, _ := strings.Cut(contentType, ";")
	t = strings.ToLower(strings.TrimSpace(t))
	return t == MediaType4 || t == mediaType3
}

// Limits of a document. A document that exceeds a limit is refused, unless the comment says otherwise.
const (
	MaxSize       = 8 << 20 // bytes of a document
	maxDepth      = 32      // nesting of elements
	maxFiles      = 10_000
	maxURLs       = 5_000   // url and metaurl elements of a file, usable or not
	maxToken      = 1 << 20 // bytes of a tag, comment or text
	maxAttributes = 100     // attributes of an element
	maxPieceLists = 16      // lists of a file; further lists are ignored
	maxWarnings   = 100     // further warnings are dropped
)

// NoPriority is the priority of an element that states no priority. It is the lowest valid priority (RFC 5854, section
// 4.2.16.2).
const NoPriority = 999_999

// A Document describes files. It comes from Metalink/XML or from a torrent (package metalink/metainfo).
type Document struct {
	Generator string
	// Origin is the URL of the document. Dynamic reports that a newer version may be published there (RFC 5854, section
	// 4.2.9). Without an origin, Origin is nil and Dynamic is false.
	Origin  *url.URL
	Dynamic bool
	// Files have distinct, safe names (see CheckPath).
	Files []File

	// Refused lists the files that were left out because of their names.
	Refused []Refused
	// Warnings describes other parts that were ignored and why. The texts are printable.
	Warnings []string
}

// A Refused is a file that was left out.
type Refused struct {
	Line   int
	Name   string // as written in the document, possibly shortened; not escaped
	Reason string
}

// From sets the Channel of the claims of d to over, and By of its mirrors and documents to by, the location of the
// sender.
func (d *Document) From(over verify.Channel, by address.Scope) {
	for i := range d.Files {
		d.Files[i].From(over, by)
	}
}

// From is like Document.From, for one file.
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
