// Package metalink describes what is to be downloaded: the digests of a file, its mirrors and the documents
// about it. The description comes from the header fields of the answers to one request (RFC 6249); package
// metalink/meta4 adds what Metalink/XML documents say.
//
//	file, err := metalink.FromHops([]metalink.Hop{{URL: u, Status: resp.StatusCode, Header: resp.Header}}, false)
//	...
//	fmt.Println(file.Claims, file.Mirrors) // no mirrors without a digest
//
// It refuses to trust: mirrors without a strong digest are as good as none (C4), a mirror's own list of
// mirrors is not read (C2), and answers that contradict each other make no description (C5). It asks
// nobody for anything, and does not decide which mirrors are used, or when.
package metalink

import (
	"net/url"

	"braid/address"
	"braid/verify"
)

// Limits of what is taken from one server (rule 36). What is beyond is counted in File.IgnoredCount.
const (
	MaxMirrors   = 200
	MaxDocuments = 50
	MaxURL       = 8 << 10 // bytes
	MaxIgnored   = 100     // entries of File.Ignored
)

// A Hop is one answer of a redirect chain. The keys of Header are in canonical form, as net/http makes them.
type Hop struct {
	URL    *url.URL      // of the request that was answered
	From   address.Scope // where the server is, if that is known (rule 63)
	Status int
	Header map[string][]string
	// Unproven says that the server came over TLS and nobody checked its certificate.
	Unproven bool
}

// Proven says that the answer is from the server of its URL, and not from anybody on the way (rule 64).
func (h Hop) Proven() bool { return h.URL.Scheme == "https" && !h.Unproven }

// A File is what is known about a file before its first byte arrived.
type File struct {
	// Size is -1 if it is not known. FromHops leaves it so: the size is what the answer that carries
	// the body says, which its reader knows.
	Size int64
	// Claims are the digests of the whole file, strongest first: what the Metalink server and the answers
	// before it say or, if there is no such server, all answers up to the first with a strong digest. Of
	// one digest it is the most trusted claim.
	Claims []verify.Claim
	// ETag is the strong entity tag of the Metalink server's answer, with its quotes; empty if it is weak
	// or absent.
	ETag string
	// Mirrors can be used: preferred ones first, then by priority and as listed (S5); see Sort.
	Mirrors []Mirror
	// Documents are about the file: Metalink/XML, torrents, signatures.
	Documents []Document
	// Pieces are digests of parts of the file, and Signatures speak of all of it. Header fields have neither;
	// they come from a Metalink/XML document (package metalink/meta4).
	Pieces     verify.Pieces
	Signatures []Signature
	// Server is the Metalink server: the first answer with both links and a strong digest or, if the user
	// gave one, the first with links. It is nil if there is none.
	Server *url.URL
	// Ignored says which links were not taken and why: the first of them, IgnoredCount in all.
	Ignored      []Ignored
	IgnoredCount int
	// NoDigest says that there are links and no Metalink server: nobody gave a strong digest with them (C4).
	NoDigest bool
}

// A Mirror is a place of the same file: a link with the relation "duplicate" (RFC 6249, section 3). Its
// scheme is http, https or ftp; whether that can be used is for the caller to know.
type Mirror struct {
	URL   *url.URL
	Pri   int           // 1 to 999999; the lowest comes first. If zero, none is stated, which means 999999
	Pref  bool          // shares the server's ETag or digests (section 3.3)
	Geo   string        // ISO 3166-1 alpha-2 in capitals, or ""
	Depth int           // how many folders are mirrored as well (section 3.4)
	By    address.Scope // where those are who named it (rule 63)
}

// A Document says something about the file: a link with the relation "describedby" (RFC 6249, sections 4
// and 5).
type Document struct {
	URL  *url.URL
	Type string        // media type in lower case without parameters
	Name string        // of the file within the document, or ""
	By   address.Scope // where those are who named it (rule 63)
}

// A Signature is a detached signature of the file, as text (RFC 5854, section 4.2.13). Nobody has checked it.
type Signature struct {
	Type string // media type in lower case without parameters: application/pgp-signature
	Text string
}

// An Ignored is a link that was not taken.
type Ignored struct {
	Target string // as the server wrote it, to be escaped; cut short and without password and query (rule 62)
	Reason string
}
