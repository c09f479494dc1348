// Package meta4 reads and writes Metalink documents: XML that says what files are, in sizes and digests, and
// where they can be had. It reads RFC 5854 (.meta4) and its predecessor Metalink 3 (.metalink), and writes RFC
// 5854.
//
//	doc, err := meta4.Parse(resp.Body)
//	...
//	for _, f := range doc.Files {
//		fmt.Println(f.Name, f.Size, f.Hashes, f.Mirrors)
//	}
//
// It refuses to be generous: a document that is cut off, too large, contradicts itself or has a DOCTYPE is an
// error as a whole (rules 41 to 44), and a file whose name could reach outside its folder, hide or deceive is
// left out (rule 10). It believes nothing: whether a signature holds and a digest is right is for others to
// find out. It asks nobody for anything, and knows neither files nor folders.
//
// What else stands in documents, at other places than RFC 5854 has it, or in other namespaces, is passed over.
package meta4

import (
	"net/url"
	"strings"
	"time"

	"braid/address"
	"braid/metalink"
	"braid/verify"
)

// The namespaces of the root element.
const (
	Namespace4 = "urn:ietf:params:xml:ns:metalink" // RFC 5854, section 1.2
	Namespace3 = "http://www.metalinker.org/"
)

// The media types of documents (RFC 5854, section 6.2, and what servers send for Metalink 3).
const (
	MediaType4 = "application/metalink4+xml"
	MediaType3 = "application/metalink+xml"
)

// IsMediaType says that a field Content-Type announces a Metalink document.
func IsMediaType(contentType string) bool {
	t, _, _ := strings.Cut(contentType, ";")
	t = strings.ToLower(strings.TrimSpace(t))
	return t == MediaType4 || t == MediaType3
}

// Limits of a document (rule 41). Beyond the first four, and what keeps tokens small, a document is refused.
const (
	MaxSize       = 8 << 20 // bytes
	MaxDepth      = 32      // elements in each other
	MaxFiles      = 10_000
	MaxURLs       = 5_000   // url and metaurl elements of a file, usable or not
	MaxToken      = 1 << 20 // bytes of a tag, comment or text
	MaxAttributes = 100     // of an element
	MaxPieceLists = 16      // of a file; more are ignored
	MaxWarnings   = 100     // more are not told
)

// NoPriority is the priority of what has none: the last. Greater ones are not valid (RFC 5854, section 4.2.16.2).
const NoPriority = 999_999

// A Document describes files.
type Document struct {
	Generator string
	// Origin is where the document can be had, and Dynamic says that a newer one may be there (RFC 5854, section
	// 4.2.9). Origin is nil, and Dynamic false, if that is not said.
	Origin  *url.URL
	Dynamic bool
	// Published and Updated are in UTC; zero if that is not said.
	Published, Updated time.Time
	// Files have safe names, each another one.
	Files []File

	// Refused are the files that were left out (rule 10).
	Refused []Refused
	// Warnings say what else was not taken, and why: for people, printable.
	Warnings []string
}

// A File is a file as a document describes it.
type File struct {
	// Name is the path of the file below the folder where it is to be put, with slashes; see SafePath.
	Name string
	Size int64 // -1: not said
	// Hashes are digests of the whole file, one for each algorithm, the strongest first.
	Hashes []verify.Digest
	// Malformed is the first hash that cannot be read, if no strong one is left that can; else nil (see Read).
	Malformed error
	// Pieces are lists of digests of parts, the strongest first, of equals the one of shorter pieces; see BestPieces.
	Pieces []verify.Pieces
	// Mirrors are where the file can be had: http, https or ftp, the best first (metalink.Sort). They have URL, Pri
	// and Geo. There may be thousands, and some more than once: File.Metalink takes the best of them.
	Mirrors []metalink.Mirror
	// MetaURLs are where documents of other kinds about the file can be had: torrents.
	MetaURLs   []MetaURL
	Signatures []metalink.Signature
	// MaxConnections is how many connections the document wants at most (Metalink 3); 0: it does not say. With
	// 1, as Fedora says, one for each mirror is meant.
	MaxConnections int
	Info

	// Ignored says which URLs were not taken and why: the first of them, IgnoredCount in all (rule 45).
	Ignored      []metalink.Ignored
	IgnoredCount int
}

// Info is what a document tells people about a file. Nothing in it is checked; it may be long and deceptive.
type Info struct {
	Identity, Version, Description, Copyright, Logo string
	Languages, OS                                   []string
	Publisher, License                              Party
}

// A Party is a publisher or a license.
type Party struct{ Name, URL string }

// A MetaURL is where a document of another kind about the file can be had (RFC 5854, section 4.2.8).
type MetaURL struct {
	URL      *url.URL
	Type     string        // media type in lower case without parameters; Torrent for BitTorrent
	Name     string        // path of the file in that document, safe as File.Name; "": the document is about nothing else
	Priority int           // 1 to NoPriority; the lowest comes first. If zero, none is stated, which means NoPriority
	By       address.Scope // where those are who named it (rule 63)
}

// Torrent is what RFC 5854, section 4.2.8.2, calls the media type of a .torrent, and torrentType its own name.
const (
	Torrent     = "torrent"
	torrentType = "application/x-bittorrent"
)

// A Refused is a file that was left out.
type Refused struct {
	Line   int
	Name   string // as it was written, but for its length: to be escaped
	Reason string
}
