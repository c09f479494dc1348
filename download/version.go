package download

import (
	"cmp"
	"errors"
	"time"

	"braid/address"
	"braid/download/state"
	"braid/internal/partfile"
	"braid/internal/version"
	"braid/source"
	"braid/verify"
)

// A revision holds the facts that the sessions of a download know about one version of the file. When the file changes
// at its origin, a new revision replaces the old revision, because digests, documents, pieces and failures of mirrors
// do not apply to the new version.
type revision struct {
	*known
	goesOn bool // bytes of this version exist, from which the next session resumes
	// answeredBy is the host:port that answered last before this session. answered is the Last-Modified of that answer.
	answeredBy string
	answered   time.Time
	copied     bool // the origin's first answer is from a mirror, so its ETag and date are those of a copy

	head   source.Answer // the answer to HEAD
	steady bool          // HEAD gave the known digest again, so a changed ETag does not mean another version
	drops  int           // number of sizes that were given up
	sized  source.Answer // the last answer with a size

	sharing        *sharing // the file in a torrent with peers; nil: none is known
	torrentAsked   bool     // a torrent that the server named was fetched
	pieces         verify.Pieces
	piecesFrom     string   // the document that has the pieces, masked
	piecesRejected bool     // pieces are not used, because their digests seem to be wrong
	asked          []string // documents of the server that were read

	continued bool  // see Request.IfExists.Continue
	brokenAt  int64 // offset at which the server broke off last

	signed  signed
	looking looking

	damage         damage
	past           map[string]*past
	single         bool          // one source is asked at a time, because the bytes of several sources were wrong
	wrong          error         // why the bytes of several sources were wrong
	candidates     []candidate   // sources that will be asked alone
	candidateScope address.Scope // candidate.named of the candidate that is being asked
}

// newRevision returns a revision with the facts of req only.
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

// update adds st, a statement of the asked server. If st is about another version, all facts about the known version
// are discarded first.
func (p *carried) update(req *Request, past *state.Store, st statement) {
	p.steady = p.strong() && len(common(p.digests.counting(), st.file.Claims)) > 0
	if version.Compare(p.view(), st.view()).Judgment == version.Other {
		p.renew(req, past, st.host)
	}
	p.learn(st)
}

// renew discards the facts about the known version, because host has another version. No session may use these facts any
// more. Digests beside the file that past recorded stay for compareEarlier. If host is not the asked one, all stay, because
// it could hide what the asked server publishes.
func (p *carried) renew(req *Request, past *state.Store, host string) {
	beside := past.Opposed(req.URL)
	if !at(host, req.URL) {
		beside = join(beside, join(p.digests.by(aList), p.looking.finding().Claims))
	}
	if p.single { // origin may be a source that was asked alone
		p.origin = req.URL
	}
	p.damage.forget()
	p.former = join(p.former, p.digests.by(theHost))
	p.revision, p.opposed = newRevision(req), nil
	p.digests.add(aList, noted, beside)
}

// renewAfter is renew after a session that failed. It keeps the digests that were found beside the file, for
// compareEarlier, if only a refused range suggests that the file has changed: the next answer may be that of a
// stand-in, and no lookup follows such an answer.
func renewAfter(p *carried, req *Request, s *session) {
	found := join(p.digests.by(aList), p.looking.finding().Claims)
	if !errors.Is(s.err, errShrunk) ||
		s.looked != nil && version.Compare(p.view(), viewOf(*s.looked)).Judgment == version.Other {
		found = nil
	}
	host := cmp.Or(s.next.host, s.result.Host)
	if s.looked != nil {
		host = s.looked.Host
	}
	p.renew(req, s.http.state, host)
	p.digests.add(aList, noted, found)
}

// A subject holds the facts about the file that a session knows.
type subject struct {
	*known
	begun          bool           // the file is identified, by an answer of this run or of an earlier run
	originAnswered bool           // the origin has answered in this session
	late           []verify.Claim // claims that are compared only at the end, because their algorithm is computed anyway
	lead           *source.Answer // the first admitted answer; nil: none
	leader         *origin        // the source of lead
	next           statement      // about the new version that the server announced
	looked         *source.Answer // the server's answer when it was asked about the new version; nil: it was not asked
}

// mayEnd reports whether the first size bytes may be the whole file, whatever the server stated, because a digest
// decides.
func (x *subject) mayEnd(part *partfile.File, size int64) bool {
	return (x.size < 0 || x.sizeBy < byUser) && size > 0 && size <= part.Front() && x.strong()
}

// An aside has the state of fetches of documents, torrents and signatures. A goroutine fetches each, and sends the
// result to a channel with a buffer for it.
type aside struct {
	documents          chan documentResult // results of fetched documents
	offered            chan offer          // torrents with peers
	asking             bool                // a document is being fetched
	reading            bool                // the document may have signatures, or name them
	fetchingSignatures bool                // signatures are being fetched
}

func newAside() aside {
	return aside{documents: make(chan documentResult, 1), offered: make(chan offer, 1)}
}

// begin records that a document is being fetched. signed means that it may have signatures.
func (x *aside) begin(signed bool) { x.asking, x.reading = true, signed }

// read records that no document is being fetched any more.
func (x *aside) read() { x.asking, x.reading = false, false }

// awaits reports whether signatures may still come.
func (x *aside) awaits() bool { return x.fetchingSignatures || x.reading }
