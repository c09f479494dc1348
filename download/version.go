package download

import (
	"errors"
	"time"

	"braid/address"
	"braid/internal/partfile"
	"braid/internal/version"
	"braid/source"
	"braid/verify"
)

// A revision holds what the sessions of a download learned about one version of the file. When the file
// changes at its origin, a new revision replaces it: digests, documents, pieces and failures of mirrors do
// not apply to the new version.
type revision struct {
	*known
	goesOn bool // bytes of it exist, and known identifies their file
	// answeredBy is the host:port that answered last before this session, and answered its Last-Modified.
	answeredBy string
	answered   time.Time

	head   source.Answer // the answer to HEAD
	steady bool          // HEAD gave the same digest twice, so a changed ETag is no other version
	drops  int           // number of sizes that were given up
	sized  source.Answer // the last answer with a size

	sharing        *sharing // the file in a torrent with peers; nil: none is known
	torrentAsked   bool     // a torrent that the server described was fetched
	pieces         verify.Pieces
	piecesFrom     string   // the document that has them, masked
	piecesRejected bool     // not used: they seem to be wrong themselves
	asked          []string // documents of the server that were read

	continued bool  // see Request.IfExists.Continue
	brokenAt  int64 // where the server broke off last

	signed  signed
	looking looking

	damage         damage
	past           map[string]*past
	single         bool          // one source at a time: the bytes of several were wrong
	wrong          error         // the error of those bytes
	candidates     []candidate   // to be asked alone
	candidateScope address.Scope // of the server or document that named the one being asked
}

// newRevision returns the revision with the facts of the request, which do not change.
func newRevision(req *Request) revision {
	v := revision{known: newKnown(req), signed: signed{done: make(chan []found, 1)}}
	v.looking.done = make(chan lookedUp, 1)
	if d := req.Described; d != nil {
		v.pieces, v.piecesFrom, v.sharing = d.Pieces, d.By, d.sharing
	}
	return v
}

// announced records an answer that has a size.
func (v *revision) announced(a source.Answer) {
	if a.Size > 0 && !a.NotModified {
		v.sized = a
	}
}

// update learns what the asked server states. If that is another version than the known one, nothing else is
// known from then on.
func (p *carried) update(req *Request, st statement) {
	p.steady = p.strong() && len(common(p.claims, st.file.Claims)) > 0
	if version.Compare(p.view(), st.view()).Judgment == version.Other {
		p.renew(req)
	}
	p.learn(st)
}

// renew forgets the known version. No session may still use it.
func (p *carried) renew(req *Request) {
	if p.single { // its origin may be a source that was asked alone
		p.origin = req.URL
	}
	p.damage.forget()
	p.revision, p.opposed = newRevision(req), nil
}

// renewAfter is renew after a session that failed. What was found beside the file is still held against an unverified one
// if the end of its bytes alone suggests that the file has changed: a stand-in may have ended it, and no search follows.
func renewAfter(p *carried, req *Request, s *session) {
	found := join(p.beside, p.looking.finding().Claims)
	if !errors.Is(s.err, errShrunk) ||
		s.looked != nil && version.Compare(p.view(), viewOf(*s.looked)).Judgment == version.Other {
		found = nil
	}
	p.renew(req)
	p.beside = found
}

// A subject holds what a session knows of the file.
type subject struct {
	*known
	begun          bool           // the file is identified, by an answer of this run or an earlier one
	originAnswered bool           // the origin answered, in this session
	late           []verify.Claim // of algorithms that are hashed anyway, and claimed at the end only
	lead           *source.Answer // the first admitted answer; nil: none
	leader         *origin        // the source of lead
	next           statement      // of the version that the server announced in place of this one
	looked         *source.Answer // the server's answer when it was asked for that version; nil: it was not
}

// mayEnd reports whether the first size bytes may be the whole file, whatever size the server gave. The digest
// decides.
func (x *subject) mayEnd(part *partfile.File, size int64) bool {
	return (x.size < 0 || x.sizeBy < byUser) && size > 0 && size <= part.Front() && x.strong()
}

// An aside holds the documents, torrents and signatures that are fetched beside the file. A goroutine fetches
// each and sends it to a channel with room for it.
type aside struct {
	documents          chan documentResult // documents that were read
	offered            chan offer          // torrents with peers
	asking             bool                // a document is being fetched
	reading            bool                // and it may have signatures, or name them
	fetchingSignatures bool                // signatures are being fetched
}

func newAside() aside {
	return aside{documents: make(chan documentResult, 1), offered: make(chan offer, 1)}
}

// begin records that a document is being fetched, and whether it may have signatures.
func (x *aside) begin(signed bool) { x.asking, x.reading = true, signed }

// read records that no document is being fetched any more.
func (x *aside) read() { x.asking, x.reading = false, false }

// awaits reports whether signatures may still come.
func (x *aside) awaits() bool { return x.fetchingSignatures || x.reading }
