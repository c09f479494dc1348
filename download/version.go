package download

import (
	"cmp"
	"errors"
	"time"

	"braid/address"
	"braid/download/state"
	"braid/internal/version"
	"braid/metalink"
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

// spoke states whether the host of the URL itself has stated a strong digest in this run. If it has, no target of its
// redirects is the Metalink server (C2).
type spoke uint8

const (
	neverSpoke   spoke = iota
	spokeEarlier       // only about a former version
	spokeNow           // about the known version
)

func (p *carried) spoken() spoke {
	switch {
	case verify.Strong(p.digests.by(theHost)):
		return spokeNow
	case verify.Strong(p.former):
		return spokeEarlier
	}
	return neverSpoke
}

// renewAfter calls renew after a session that failed. It keeps the digests that were found beside the file, for
// compareEarlier, if only a refused range suggests that the file has changed: the next answer may be that of a
// stand-in, and no lookup follows such an answer.
func renewAfter(p *carried, req *Request, s *session) {
	found := join(p.digests.by(aList), p.looking.finding().Claims)
	if !errors.Is(s.end.err, errShrunk) ||
		s.answers.looked != nil && version.Compare(p.view(), viewOf(*s.answers.looked)).Judgment == version.Other {
		found = nil
	}
	host := cmp.Or(s.answers.next.host, s.result.Host)
	if s.answers.looked != nil {
		host = s.answers.looked.Host
	}
	p.renew(req, s.http.state, host)
	p.digests.add(aList, noted, found)
}

// facts holds the facts about the file that a session knows, and records them in the journal.
type facts struct {
	*attempt
	known          *known
	begun          bool           // the file is identified, by an answer of this run or of an earlier run
	originAnswered bool           // the origin has answered in this session
	late           []verify.Claim // claims that are compared only at the end, because their algorithm is computed anyway
}

// answers holds the earlier answers of a session, and compares each answer with them and with the facts.
type answers struct {
	*attempt
	facts  *facts
	lead   *source.Answer // the first admitted answer; nil: none
	leader *origin        // the source of lead
	next   statement      // the server's statement about the new version
	looked *source.Answer // the server's answer when it was asked about the new version; nil: it was not asked
}

// compareWithUser compares claims, the server's digests, with the user's. A contradiction ends the session or, if a
// document describes the file, only refuses the answer, because there may be other places.
func (s *answers) compareWithUser(o *origin, claims []verify.Claim) error {
	err := verify.Agree(s.req.Trust.Claims, claims)
	switch {
	case err == nil:
		return nil
	case s.req.Described != nil:
		return otherDigest(o, err)
	case s.roleOf(o) != asOrigin:
	case len(against(s.facts.known.digests.by(theHost), claims)) > 0: // the server contradicts itself
		s.carried.takenBack = true
	default:
		s.carried.opposed = claims
	}
	return s.end.stop(fail(Mismatch, "verify", o.masked, err, hintOtherFile))
}

// opposes returns an error if the user's digest contradicts claims that the server has stated since the session ended.
// The digest may be mistyped, so the existing bytes are kept. The claims may contradict each other, if the file changed.
func (s *answers) opposes(claims []verify.Claim) error {
	if o := s.sources.first(); o != nil && s.roleOf(o) == asOrigin && len(against(claims, s.req.Trust.Claims)) > 0 {
		return s.compareWithUser(o, claims)
	}
	return nil
}

// mix records in the journal that only a digest shows that all existing bytes are of one version.
func (f *facts) mix() {
	if !f.known.mixed && f.begun && f.known.tag.etag != "" {
		f.known.mixed = true
		f.describe()
	}
}

// mixElsewhere calls mix if the bytes of the answer a are from a mirror, and do not come with the known tag. A mirror
// may copy the ETag of the server, so a tag counts only together with its host.
func (f *facts) mixElsewhere(x resolution, a source.Answer) {
	if x.mirror < x.answers && (tag{metalink.StrongETag(a.ETag), a.Host}) != f.known.tag {
		f.mix()
	}
}

// retag makes the tag of the server's first answer in this session the known tag. Existing bytes came without this tag.
func (f *facts) retag(st statement, coming bool) {
	if st.tag.etag == "" || st.tag == f.known.tag {
		return
	}
	have := f.part.Have()
	f.known.tag, f.known.date, f.known.host = st.tag, st.date, st.host
	f.known.mixed = f.known.mixed || have.Len() > 0 || coming
	f.describe()
}

// mayEnd reports whether the first size bytes may be the whole file, whatever the server stated, because a digest
// decides.
func (f *facts) mayEnd(size int64) bool {
	return (f.known.size < 0 || f.known.sizeBy < byUser) && size > 0 && size <= f.part.Front() && f.known.strong()
}

// An aside holds the state of the fetches of documents and signatures. Each fetch runs in a goroutine, which sends its
// result to a buffered channel.
type aside struct {
	documents          chan documentResult // results of fetched documents
	asking             bool                // a document is being fetched
	reading            bool                // the document may have signatures, or name them
	fetchingSignatures bool                // signatures are being fetched
}

// awaits reports whether signatures may still come.
func (x *aside) awaits() bool { return x.fetchingSignatures || x.reading }
