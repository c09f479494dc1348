package download

import (
	"net/url"
	"time"

	"braid/address"
	"braid/download/state"
	"braid/internal/partfile"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A version is what the sessions of a download have learned of one version of the file. When the file changes at its origin, a new
// value takes its place: digests, documents, pieces and failures of mirrors say nothing of the new version.
type version struct {
	prior *partfile.Identity // of the bytes that are here; nil: none that count
	file  *metalink.File     // what this run has learned of it; nil: nothing. The journal has no secrets, and so not all mirrors

	headAsked      bool           // HEAD was asked
	headAskedAgain bool           // and once more, as the answer to GET was about another version
	head           source.Answer  // to HEAD
	first          source.Answer  // of the origin, the first one
	sized          source.Answer  // the last one with a size
	originFile     *metalink.File // by the origin; its stand-ins are compared with it
	sizeByMirror   bool           // the size is of a mirror to which the origin redirected, and the origin itself gave a strong digest only

	sharing        *sharing // the file in a torrent whose peers may be asked; nil: none is known
	torrentAsked   bool     // for a torrent that the server described
	pieces         verify.Pieces
	piecesFrom     string   // the document that has them, masked
	piecesRejected bool     // not to be used: they seem to be wrong themselves
	asked          []string // documents that were, which the server described

	continued bool  // see Request.Continue
	brokenAt  int64 // where the server broke off the last time

	signed  signed
	offered state.Pin // what the server offers to verify the file with

	repairs        int      // how often pieces located wrong bytes
	recheck        *recheck // the search for wrong bytes without pieces; nil: none
	past           map[string]*past
	single         bool          // one source at a time: what several brought was wrong
	wrong          error         // why
	candidates     []candidate   // to be asked alone
	candidateScope address.Scope // of what named the one that is asked alone
}

// newVersion begins with what the request itself says of the file, which does not change.
func newVersion(req *Request) version {
	v := version{signed: signed{done: make(chan []found, 1)}}
	if d := req.Described; d != nil {
		v.pieces, v.piecesFrom, v.sharing = d.Pieces, d.By, d.sharing
	}
	return v
}

// announced remembers an answer that has a size.
func (v *version) announced(a source.Answer) {
	if a.Size > 0 && !a.NotModified {
		v.sized = a
	}
}

// renew forgets the version that the file had. No session may still use that version.
func (p *carried) renew(req *Request) {
	if p.single { // its origin may be a source that was asked alone
		p.origin = req.URL
	}
	p.recheck.close()
	p.version = newVersion(req)
}

// otherVersion is how two answers of one server differ if they are about two versions of a file (RFC 9110, section 8.8); else empty.
func otherVersion(a, b source.Answer) string {
	tagA, tagB := metalink.StrongETag(a.ETag), metalink.StrongETag(b.ETag)
	switch {
	case a.Host != b.Host:
	case differs(a.Size, b.Size):
		return "another size"
	case tagA != "" && tagB != "" && tagA != tagB:
		return "another ETag"
	case !a.LastModified.IsZero() && !b.LastModified.IsZero() && !a.LastModified.Equal(b.LastModified):
		return "another Last-Modified"
	}
	return ""
}

// A subject is what a session knows of the file.
type subject struct {
	known          bool // by an answer of this run or an earlier one
	originAnswered bool // the origin answered, in this run
	assumed        bool // a mirror answered before the origin; the user's digest counts
	size           int64
	sizeBy         *origin // that gave it first; nil: it is from elsewhere
	claims         []verify.Claim
	late           []verify.Claim // of algorithms that are hashed anyway, and known to be claimed at the end only
	tag            tag            // of the origin, or of the server to which it led
	date           time.Time      // Last-Modified that came with it
	lead           *source.Answer // the first one that was admitted; nil: none was
	leader         *origin        // that gave it
	file           metalink.File
}

// strong reports whether a strong digest is known.
func (x *subject) strong() bool { return verify.Strong(x.claims) }

// resume takes over what an earlier run knew of the file, beside the user's claims; its mirrors only if links count.
func (x *subject) resume(prior partfile.Identity, claims []verify.Claim, links bool) {
	x.known, x.size, x.tag, x.date = true, prior.Size, tag{prior.ETag, prior.ETagHost}, prior.LastModified
	x.claims = join(claims, earlier(prior.Claims, claims))
	if !links {
		return
	}
	for _, m := range prior.Mirrors {
		if u, err := url.Parse(m.URL); err == nil && u.RawQuery == "" && u.User == nil { // else it was masked
			x.file.Mirrors = append(x.file.Mirrors, metalink.Mirror{URL: u, Pri: m.Pri, Pref: m.Pref, Geo: m.Geo, By: m.By})
		}
	}
}

// sameDate compares the dates of two answers with the same strong ETag: where Last-Modified moves and the ETag stays, only a digest
// shows that the file is the same.
func (x *subject) sameDate(date time.Time) (outcome, error) {
	if x.strong() || date.IsZero() || x.date.IsZero() || date.Equal(x.date) {
		return ongoing, nil
	}
	return fileChanged, changed("the same ETag, and another Last-Modified")
}

// mayEnd reports whether what is here may be the whole file, which its digest would show.
func (x *subject) mayEnd(part *partfile.File) bool {
	have := part.Have()
	return x.size < 0 && have.Len() > 0 && have.Len() == part.Front() && x.strong()
}

// An aside is what a session fetches beside the file: documents, torrents, signatures. A goroutine fetches each and sends it to a
// channel with room for it.
type aside struct {
	documents          chan documentResult // one that was read
	offered            chan offer          // a torrent whose peers may be asked
	asking             bool                // a document is being fetched
	reading            bool                // and it may have signatures, or name them
	fetchingSignatures bool                // signatures are being fetched
}

func newAside() aside {
	return aside{documents: make(chan documentResult, 1), offered: make(chan offer, 1)}
}

// begin notes that a document is being fetched, and whether it may have signatures.
func (x *aside) begin(signed bool) { x.asking, x.reading = true, signed }

// read notes that no document is being fetched any more.
func (x *aside) read() { x.asking, x.reading = false, false }

// awaits reports whether signatures may still come.
func (x *aside) awaits() bool { return x.fetchingSignatures || x.reading }
