// Package metalink describes what is to be downloaded: the digests of a file, its mirrors and the documents
// about it. There are three readers of such descriptions. FromHops reads the header fields of the answers to one
// request (RFC 6249); Parse and Read read Metalink documents, of RFC 5854 (.meta4) and its predecessor Metalink 3
// (.metalink); package metalink/metainfo reads torrents. Format writes documents of RFC 5854.
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
// It refuses to trust: links without a strong digest are ignored (RFC 6249, section 6), a mirror's own list of
// mirrors is not read (section 2), and answers that contradict each other make no description (section 7). A
// document that is cut off, too large, contradicts itself or has a DOCTYPE is an error as a whole, and a file whose
// name could reach outside its folder, hide or deceive is left out. Whether a digest is right and a signature good
// is for others to find out. It makes no requests, and knows neither files nor folders.
//
// Its functions keep nothing between calls and may be called at once; a value belongs to one goroutine while it is
// changed.
package metalink

import (
	"net/url"

	"braid/address"
	"braid/verify"
)

// Limits of what is taken from one server. What is beyond is counted in File.IgnoredCount.
const (
	MaxMirrors   = 200
	maxDocuments = 50
	maxURL       = 8 << 10 // bytes
	maxIgnored   = 100     // entries of File.Ignored
)

// A Hop is one answer of a redirect chain. The keys of Header are in canonical form, as net/http makes them.
type Hop struct {
	URL    *url.URL      // of the request that was answered
	From   address.Scope // where the server is, if that is known
	Status int
	Header map[string][]string
	// Unproven reports whether the server was asked over TLS and its certificate was not checked.
	Unproven bool
}

// Proven reports whether TLS shows that the answer is from the server of its URL.
func (h Hop) Proven() bool { return h.URL.Scheme == "https" && !h.Unproven }

// A File is what is known about a file before its first byte arrived.
type File struct {
	// Name is the path of the file below the folder where it is to be put, with slashes; see CheckPath. Header
	// fields give none.
	Name string
	// Size is in bytes, or -1 if it is not known. FromHops leaves it so: the size is what the answer that carries
	// the body says, which its reader knows.
	Size int64
	// Claims are the digests of the whole file, strongest first. Of header fields: what the Metalink server and the
	// answers before it say or, if there is no such server, all answers up to the first with a strong digest; of one
	// digest the most trusted claim. Of a document: one for each algorithm, with the field "metalink", and of no
	// channel before Document.From.
	Claims []verify.Claim
	// ETag is the strong entity tag of the Metalink server's answer, with its quotes; empty if it is weak
	// or absent.
	ETag string
	// Mirrors can be used: preferred ones first, then by priority and as listed; see Sort.
	Mirrors []Mirror
	// Documents are about the file: Metalink/XML, torrents, signatures. Those of a document are in order of priority.
	Documents []MetaURL
	// Pieces are lists of digests of parts, the strongest first, of equals the one of shorter pieces; see BestPieces.
	// Signatures are of the whole file. Header fields have neither.
	Pieces     []verify.Pieces
	Signatures []Signature
	// Malformed is the first hash of a document that cannot be read, if no strong one is left that can; else nil (see Read).
	Malformed error
	// Server is the Metalink server: the first answer with both links and a strong digest or, if the user
	// gave one, the first with links. It is nil if there is none.
	Server *url.URL
	// Ignored says which links were not taken and why: the first of them, IgnoredCount in all.
	Ignored      []Ignored
	IgnoredCount int
	// NoDigest says that there are links or mirrors, and no strong digest with them (RFC 6249, section 6): nothing
	// ties the mirrors to each other.
	NoDigest bool
}

// A Mirror is a place of the same file: a link with the relation "duplicate" (RFC 6249, section 3). Its
// scheme is http, https or ftp; whether that can be used is for the caller to know.
type Mirror struct {
	URL   *url.URL
	Pri   int           // 1 to NoPriority; the lowest comes first. If zero, none is stated, which means NoPriority
	Pref  bool          // shares the server's ETag or digests (section 3.3)
	Geo   string        // ISO 3166-1 alpha-2 in capitals, or ""
	Depth int           // how many folders are mirrored as well (section 3.4)
	By    address.Scope // of what named it
}

// A MetaURL is where something can be had that speaks of the file: a link with the relation "describedby" (RFC 6249,
// sections 4 and 5), or a metaurl (RFC 5854, section 4.2.8).
type MetaURL struct {
	URL  *url.URL
	Type string        // media type in lower case without parameters; Torrent for BitTorrent
	Name string        // path of the file within the document, or ""
	Pri  int           // as that of a Mirror
	By   address.Scope // of what named it
}

// Torrent is the media type of torrents, and torrentWord what documents have for it (RFC 5854, section 4.2.8.2).
const (
	Torrent     = "application/x-bittorrent"
	torrentWord = "torrent"
)

// A Signature is a detached signature of the file, as text (RFC 5854, section 4.2.13). It was not checked.
type Signature struct {
	Type string // media type in lower case without parameters: application/pgp-signature
	Text string
}

// An Ignored is a link that was not taken.
type Ignored struct {
	Target string // as the server wrote it, to be escaped; cut short and without password and query
	Reason string
}
