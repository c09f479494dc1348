// Package metalink describes files to download: their digests, their mirrors and the documents about them. Such
// descriptions have three sources. FromHops reads the header fields of the responses to one request (RFC 6249). Parse
// and Read read Metalink documents of RFC 5854 (.meta4) and of its predecessor Metalink 3 (.metalink). Package
// metalink/metainfo reads torrents. Format writes documents of RFC 5854.
//
//	file, err := metalink.FromHops([]metalink.Hop{{URL: u, Status: resp.StatusCode, Header: resp.Header}}, false)
//	...
//	fmt.Println(file.Claims, file.Mirrors) // no mirrors without a digest
//
//	doc, err := metalink.Parse(resp.Body)
//	...
//	for _, f := range doc.Files {
//		fmt.Println(f.Name, f.Size, f.Claims, f.Mirrors)
//	}
//
// The package ignores links without a strong digest (RFC 6249, section 6) and the links of a mirror (section 2).
// Responses that contradict each other are an error (section 7). A document is an error if it is truncated or too
// large, contradicts itself or has a DOCTYPE. A file is left out if its name could escape its folder, be hidden or
// deceive a reader. The package does not verify files or signatures, makes no requests and does not use the file
// system.
//
// The functions keep no state and may be called concurrently. A value must not be modified concurrently.
package metalink

import (
	"net/url"

	"braid/address"
	"braid/verify"
)

// Limits of a File. Mirrors and documents beyond their limit are counted in File.IgnoredCount.
const (
	MaxMirrors   = 200
	maxDocuments = 50
	maxURL       = 8 << 10 // bytes
	maxIgnored   = 100     // entries of File.Ignored
)

// A Hop is one response of a redirect chain. The keys of Header are in canonical form, as in net/http.
type Hop struct {
	URL    *url.URL      // URL of the request
	From   address.Scope // scope of the server's address, if known
	Status int
	Header map[string][]string
	// Unproven reports that the server was reached over TLS without checking its certificate.
	Unproven bool
}

// Proven reports whether TLS proves that the response is from the server of its URL.
func (h Hop) Proven() bool { return h.URL.Scheme == "https" && !h.Unproven }

// A File is the description of a file to download.
type File struct {
	// Name is the path of the file below its folder, with slashes; see CheckPath. It is empty if the description comes
	// from header fields.
	Name string
	// Size is in bytes, or -1 if it is unknown. FromHops sets -1, because only the reader of the body knows the size.
	Size int64
	// Claims are the digests of the whole file, strongest first. If several claims have the same digest, the most
	// trusted is kept. A description from header fields has the claims of the Metalink server and of the responses
	// before it. Without a Metalink server, it has the claims of all responses up to the first with a strong digest. A
	// description from a document has one claim for each algorithm, with the field "metalink" and the channel that
	// Document.From sets.
	Claims []verify.Claim
	// ETag is the strong entity tag in the Metalink server's response, with its quotes. It is empty if the tag is weak
	// or missing.
	ETag string
	// Mirrors are the usable mirrors in the order of Sort.
	Mirrors []Mirror
	// Documents are documents about the file: Metalink/XML, torrents, signatures. A description from a document has
	// them in order of priority.
	Documents []MetaURL
	// Pieces are lists of piece digests. The list with the strongest algorithm comes first, and of lists with the same
	// algorithm the list with the shortest pieces; see BestPieces. Signatures are signatures of the whole file. A
	// description from header fields has neither.
	Pieces     []verify.Pieces
	Signatures []Signature
	// Malformed is the error of the first malformed hash, if the document has no valid strong hash of the file; see
	// Read.
	Malformed error
	// Server is the URL of the Metalink server: the first response that has both links and a strong digest. If the user
	// gave a digest, it is the first response that has links. It is nil if no response qualifies.
	Server *url.URL
	// Ignored lists the first ignored links and digests with reasons. IgnoredCount is the number of all of them.
	Ignored      []Ignored
	IgnoredCount int
	// NoDigest reports that the description has links or mirrors but no strong digest (RFC 6249, section 6), so that
	// nothing proves that the mirrors have the same file.
	NoDigest bool
}

// A Mirror is another URL of the same file: a link with the relation "duplicate" (RFC 6249, section 3). Its scheme is
// http, https, ftp or ftps.
type Mirror struct {
	URL   *url.URL
	Pri   int           // 1 to NoPriority, the lowest first; 0: not stated, the same as NoPriority
	Pref  bool          // the mirror has the server's ETags or digests (section 3.3)
	Geo   string        // ISO 3166-1 alpha-2 code in capitals, or ""
	Depth int           // number of folder levels that are mirrored too (section 3.4)
	By    address.Scope // scope of the server that listed the mirror
}

// A MetaURL is the URL of a document about the file: a link with the relation "describedby" (RFC 6249, sections 4 and
// 5), or a metaurl (RFC 5854, section 4.2.8).
type MetaURL struct {
	URL  *url.URL
	Type string        // media type in lower case without parameters; Torrent for BitTorrent
	Name string        // path of the file within the document, or ""
	Pri  int           // as in Mirror
	By   address.Scope // scope of the server that listed the document
}

// Torrent is the media type of torrents. Documents write torrentWord instead (RFC 5854, section 4.2.8.2).
const (
	Torrent     = "application/x-bittorrent"
	torrentWord = "torrent"
)

// A Signature is a detached signature of the file, as text (RFC 5854, section 4.2.13). It has not been verified.
type Signature struct {
	Type string // media type in lower case without parameters: application/pgp-signature
	Text string
}

// An Ignored is a link or a digest that was ignored.
type Ignored struct {
	Target string // unescaped and possibly shortened, without password and query
	Reason string
}
