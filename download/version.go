package download

import (
	"time"

	"braid/address"
	"braid/internal/partfile"
	"braid/internal/version"
	"braid/source"
	"braid/verify"
)

// A revision is what the sessions of a download have learned of one version of the file. When the file changes at its
// origin, a new value takes its place: digests, documents, pieces and failures of mirrors say nothing of the new
// version.
type revision struct {
	*known
	goesOn bool // bytes of it are here, and known says of which file they are
	// answeredBy is the host:port that answered last before this session, and answered what it said of when the file was changed.
	answeredBy string
	answered   time.Time

	head   source.Answer // the answer to HEAD
	steady bool          // HEAD gave the same digest twice, so that an ETag that changes with each answer tells no version
	drops  int           // how many sizes were given up
	sized  source.Answer // the last one with a size

	sharing        *sharing // the file in a torrent whose peers may be asked; nil: none is known
	torrentAsked   bool     // for a torrent that the server described
	pieces         verify.Pieces
	piecesFrom     string   // the document that has them, masked
	piecesRejected bool     // not to be used: they seem to be wrong themselves
	asked          []string // documents that were, which the server described

	continued bool  // see Request.Continue
	brokenAt  int64 // where the server broke off the last time

	signed signed

	repairs        int      // how often pieces located wrong bytes
	recheck        *recheck // the search for wrong bytes without pieces; nil: none
	past           map[string]*past
	single         bool          // one source at a time: what several brought was wrong
	wrong          error         // why
	candidates     []candidate   // to be asked alone
	candidateScope address.Scope // of what named the one that is asked alone
}

// newRevision begins with what the request itself says of the file, which does not change.
func newRevision(req *Request) revision {
	v := revision{known: newKnown(req), signed: signed{done: make(chan []found, 1)}}
	if d := req.Described; d != nil {
		v.pieces, v.piecesFrom, v.sharing = d.Pieces, d.By, d.sharing
	}
	return v
}

// announced remembers an answer that has a size.
func (v *revision) announced(a source.Answer) {
	if a.Size > 0 && !a.NotModified {
		v.sized = a
	}
}

// update learns what the asked server states; of another version than the one that was known, it is all that is known
// from then on.
func (p *carried) update(req *Request, st statement) {
	p.steady = p.strong() && len(common(p.claims, st.file.Claims)) > 0
	if version.Compare(p.view(), st.view()).Judgment == version.Other {
		p.renew(req)
	}
	p.learn(st)
}

// renew forgets the version that the file had. No session may still use that version.
func (p *carried) renew(req *Request) {
	if p.single { // its origin may be a source that was asked alone
		p.origin = req.URL
	}
	p.recheck.close()
	p.revision = newRevision(req)
}

// A subject is what a session knows of the file.
type subject struct {
	*known
	begun          bool           // it is known what is fetched, by an answer of this run or an earlier one
	originAnswered bool           // the origin answered, in this session
	late           []verify.Claim // of algorithms that are hashed anyway, and known to be claimed at the end only
	lead           *source.Answer // the first one that was admitted; nil: none was
	leader         *origin        // that gave it
	next           []verify.Claim // of the version that the server announced in place of this one
	looked         *source.Answer // what it answered when it was asked for that version; nil: it was not
}

// mayEnd reports whether the first size bytes of what is here may be the whole file, which its digest would show, also
// against the size that the server gave.
func (x *subject) mayEnd(part *partfile.File, size int64) bool {
	return (x.size < 0 || x.sizeBy < byUser) && size > 0 && size <= part.Front() && x.strong()
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
