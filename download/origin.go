package download

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"braid/internal/partfile"
	"braid/internal/version"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// resolveFile uses the first answer of the origin as the description of the file. If a mirror answers in place of the
// asked server, size and validators in the answer are about the mirror's copy only.
func (s *session) resolveFile(o *origin, a source.Answer) error {
	x, err := s.answers.read(o, a, verify.Strong(s.req.Trust.Claims))
	switch {
	case x.nature == aDocument:
		return s.end.early(gotDocument, errRefused)
	case err != nil:
		return s.stop(err)
	case s.answers.wantsHead(o, x, a):
		return s.end.early(wantsHead, errRefused)
	}
	a = x.without(a)
	// An earlier date counts even with the known tag: HEAD had no answer, so nothing has compared the files.
	if o.first && s.req.keepsNewer() && !x.decides() && (s.recorded.older(a) || predates(a, s.recorded.here)) {
		if s.req.Trust.Require != RequireNothing {
			return s.stop(unprovenNewer(s.req))
		}
		s.result.ETag, s.result.LastModified = a.ETag, a.LastModified
		s.result.NotModified, s.result.Older, s.end.done = true, true, true
		return errRefused
	}
	if err := s.answers.compareWithUser(o, x.file.Claims); err != nil {
		return err
	}
	if err := s.answers.checkVersion(o, x, a); err != nil {
		return err
	}
	wrong := s.answers.wrongOf(o, x, a)
	if wrong != nil { // a mirror answered with another file; the server's facts still count
		a.Size, a.ETag, a.LastModified = -1, "", time.Time{}
	}
	if x, err = s.answers.checkPin(s.ctx, o, x); err != nil {
		return s.stop(err)
	}
	claims := join(s.facts.known.digests.counting(), x.file.Claims)
	_, doc := metalinkOf(x.file)
	s.carried.looking.begin(&s.proving, o, x, a)
	if hint, lacks := foresee(s.req, claims, a, doc || len(signaturesFor(s.req, x.file, verify.Finding{})) > 0); lacks != nil &&
		!(lacks == errNoDigest && s.carried.looking.hopeful()) {
		return s.stop(fail(NoEvidence, "verify", o.masked, lacks, hint))
	}
	// An answer without a length may end before the size of an earlier answer.
	if a.Size < 0 && !s.carried.single && s.facts.known.sizeBy < byUser {
		s.facts.known.size, s.facts.known.sizeBy = -1, unstated
	}
	s.facts.known.learn(s.answers.statementOf(o, x, a))
	if s.facts.known.stoodIn = ""; s.standIn() {
		s.facts.known.stoodIn = partfile.SumURL(s.carried.origin)
	}
	s.carried.announced(a)
	s.result.describe(a)
	s.facts.originAnswered, s.choice.due, s.carried.copied = true, true, x.decides()
	if err := s.beginFile(); err != nil {
		return err
	}
	s.facts.mixElsewhere(x, a)
	if wrong != nil {
		s.choice.addMirrors()
	}
	return wrong
}

// statementOf returns the statement in a, an answer of o. Only a statement of the asked server has the rank byServer.
// If the asked server redirected to a mirror, the size is that of the mirror.
func (s *answers) statementOf(o *origin, x resolution, a source.Answer) statement {
	if s.roleOf(o) != asOrigin {
		return x.stated(a, byOther, o.url)
	}
	st := x.stated(a, byServer, o.url)
	st.pin, st.asked = pinOf(x.own), x.asked
	return st
}

// wrongOf returns an error if the answer a is about another file than the server describes.
func (s *answers) wrongOf(o *origin, x resolution, a source.Answer) error {
	if x.wrong != nil {
		return mismatch(o, "%w", x.wrong)
	}
	claims := join(s.facts.known.digests.counting(), x.file.Claims)
	if err := verify.Agree(claims, a.Claims); err != nil {
		return otherDigest(o, err)
	}
	st := s.statementOf(o, x, a)
	// A mirror has another size than the server stated.
	if st.by == byServer && st.sizeBy < byServer && differs(a.Size, s.facts.known.view().Size) {
		o.claimed = a.Size
		return mismatch(o, "the file has %d bytes there, not %d", a.Size, s.facts.known.size)
	}
	all := slices.Concat(s.facts.known.digests, counted(x.file.Claims))
	if k := (&known{digests: all, size: a.Size, sizeBy: st.sizeBy}); k.guessed() {
		return s.facts.refuseSize(o, a.Size)
	}
	return nil
}

// refuseSize returns an error if a size that no authority gave cannot be right: it was tried, or exceeds the limit.
func (f *facts) refuseSize(o *origin, size int64) error {
	switch most := f.c.MaxSize; {
	case slices.Contains(f.known.tried, size):
		o.claimed = size
		return mismatch(o, "the file has %d bytes there, a size that already led to a wrong file", size)
	case most > 0 && size > most:
		err := fmt.Errorf("the file has %d bytes, and no more than %d are allowed", size, most)
		return &source.Error{URL: o.masked, Host: o.host, Fault: source.FaultLimit, Err: err}
	}
	return nil
}

// assumeFile begins the file with the answer a of a mirror, before the origin has answered. A digest is known.
func (s *session) assumeFile(o *origin, a source.Answer) error {
	if err := s.answers.checkMirror(o, a); err != nil {
		return err
	}
	s.facts.known.learnSize(a.Size, byOther, o.url)
	return s.beginFile()
}

// beginFile begins to fetch the known file.
func (s *session) beginFile() error {
	if err := s.facts.reserve(); err != nil {
		return err
	}
	s.facts.begun = true
	s.facts.known.file.Size = s.facts.known.view().Size
	if s.facts.originAnswered {
		s.facts.announce()
	}
	s.proving.askSignatures()
	s.proving.askDocument()
	s.proving.startHash()
	return nil
}

// announce reports the server's description of the file.
func (f *facts) announce() {
	file := f.known.file
	f.trees.add(file)
	file.Size = f.known.size
	f.req.observe(Offered{File: file})
}

var errOnlyPieces = errors.New("the torrent has only SHA-1 digests of pieces, which prove nothing if its author is malicious")
var errNoDigest = errors.New("the server gives no verifiable digest")

// read reads an answer. It adds the statements of the answer to HEAD, if both may be of the same version and x lacks a
// digest. For trusted, see footing.digest.
func (s *answers) read(o *origin, a source.Answer, trusted bool) (x resolution, err error) {
	x, err = s.req.resolve(a.Hops, s.roleOf(o), footing{trusted, s.carried.spoken()})
	told := s.facts.begun && verify.Strong(join(s.facts.known.digests.counting(), x.file.Claims))
	if err != nil || told || s.carried.heads == 0 || s.wantsHead(o, x, a) || s.roleOf(o) != asOrigin || !s.headFits(a) {
		return x, err
	}
	return s.fromHead(x)
}

// headMatters reports whether a HEAD request is useful: x, the answer to GET, lacks a digest that is needed, and the
// answer to HEAD may have it. Some servers send digests for HEAD only.
func (s *answers) headMatters(o *origin, x resolution) bool {
	needed := !s.facts.known.strong() && !verify.Strong(x.file.Claims) &&
		(s.req.Trust.Require == RequireDigest || s.c.checkPin(s.req, s.facts.known.offers(x.file)) != nil)
	return x.nature != aDocument && s.roleOf(o) == asOrigin && !s.standIn() &&
		(x.file.NoDigest || needed) && !s.req.NoMetalink
}

// wantsHead reports whether to send a HEAD request now: none was sent yet, or its answer was of another version than a.
func (s *answers) wantsHead(o *origin, x resolution, a source.Answer) bool {
	return s.headMatters(o, x) && mayAskHead(s.carried.heads) && (s.carried.heads == 0 || !s.headFits(a))
}

// headFits reports whether the answer to HEAD may be of the version of a. Answers of different hosts are not compared.
func (s *answers) headFits(a source.Answer) bool {
	head := s.carried.head
	theirs := viewOf(head)
	theirs.Digests = nil // a contradiction between the digests is an error (fromHead)
	return s.carried.steady || head.Host != a.Host || version.Compare(theirs, viewOf(a)).Judgment != version.Other
}

// roleOf returns the role of o.
func (c *call) roleOf(o *origin) role {
	switch {
	case !o.first || c.req.Described != nil:
		return asMirror
	case !c.standIn():
		return asOrigin
	}
	return asMirror
}

// sizeRank returns the rank of the size that the answer a of o states.
func (s *answers) sizeRank(o *origin, a source.Answer) rank {
	spoken := s.carried.spoken()
	if as := s.roleOf(o); as == asOrigin && ownAnswers(a.Hops, as, spoken) == len(a.Hops) {
		return byServer
	}
	return byOther
}

// applyRefusal reads the redirects before err, the failed answer of a mirror. The statements of the asked server in
// these redirects still count, and may name other places.
func (s *session) applyRefusal(o *origin, err error) {
	var e *source.Error
	if !o.first || !errors.As(err, &e) {
		return
	}
	x, _ := s.req.resolve(e.Hops, s.roleOf(o), footing{s.facts.known.strong(), s.carried.spoken()})
	switch {
	case s.facts.begun:
		switch other := verify.Agree(s.facts.known.digests.ofServer(), x.file.Claims); {
		case s.roleOf(o) != asOrigin, x.nature == aDocument, s.answers.compareWithUser(o, x.file.Claims) != nil:
		case other == nil:
			s.heed(x)
		case s.facts.mayAnnounce(e.Hops, x.file.Claims):
			s.answers.next = statement{file: x.file, pin: pinOf(x.own), asked: x.asked}
			s.end.early(fileChanged, changed(other.Error()))
		}
		return
	case x.file.Server == nil && !verify.Strong(x.file.Claims):
		return
	}
	if s.resolveFile(o, source.Answer{Hops: e.Hops, Host: e.Host, Size: -1, End: -1}) == nil {
		s.choice.due = false
		s.choice.addMirrors()
	}
}

// fromHead adds the statements of the answer to HEAD to x, if that answer has a strong digest. The error is that the
// digests of the two answers contradict each other.
func (s *answers) fromHead(x resolution) (resolution, error) {
	head, err := s.req.resolve(s.carried.head.Hops, asOrigin, footing{spoken: s.carried.spoken()})
	if err != nil || !verify.Strong(head.file.Claims) {
		return x, nil
	}
	err = verify.Agree(x.file.Claims, head.file.Claims)
	claims := join(head.file.Claims, x.file.Claims)
	if head.file.Server != nil && x.file.Server == nil {
		x.file = head.file
	}
	x.file.Claims, x.file.NoDigest = claims, false
	x.asked, x.own.Claims = join(x.asked, head.asked), join(x.own.Claims, head.own.Claims)
	return x, err
}

// corroborate adds the claims of an answer of this run. It reports whether some of these claims were not known before.
func (p *proving) corroborate(claims []verify.Claim) (added bool) {
	k := p.facts.known
	before := k.digests.counting()
	if k.addDigests(claims); len(without(k.digests.counting(), before)) == 0 {
		return false
	}
	switch {
	case !p.hashing.begun() || !p.req.inOrder() || p.hashing.shut():
		p.rehash()
	default: // the bytes cannot be hashed again
		computed := slices.DeleteFunc(slices.Clone(claims), func(c verify.Claim) bool {
			return !p.hashing.hasher.check.Computes(c.Digest.Algorithm())
		})
		p.facts.late = join(p.facts.late, computed)
		if verify.Strong(claims) && !verify.Strong(join(before, computed)) {
			err := fmt.Errorf("the %v in %s came after bytes were passed on, and cannot be compared with them",
				claims[0].Digest.Algorithm(), claims[0].Field)
			p.end.stop(p.req.fail(NoEvidence, err, HintGiveDigest))
		}
	}
	return true
}

// heed adds the claims and the places in x that the server stated, although its redirects led to another file or to a
// failure. If the claims are new, the known size becomes a guess: no authority stated the size of the file with these claims.
func (s *session) heed(x resolution) {
	k := s.facts.known
	k.pin = k.pin.Raise(pinOf(x.own))
	k.digests.add(theHost, noted, x.asked)
	file := x.file
	fresh := verify.Strong(file.Claims) && !verify.Strong(common(k.digests.firm(), file.Claims))
	otherChannel := without(common(k.digests.firm(), file.Claims), k.digests.counting())
	s.facts.late = join(s.facts.late, otherChannel)
	if !fresh && (s.facts.originAnswered || len(file.Mirrors) == 0) {
		return
	}
	if fresh {
		if !verify.Strong(common(k.digests.counting(), file.Claims)) {
			k.sizeBy = min(k.sizeBy, byOther)
		}
		s.proving.corroborate(file.Claims)
	}
	if len(file.Mirrors) > 0 {
		k.file = file
	}
	s.choice.addMirrors()
	s.facts.describe()
}

// mayAnnounce reports whether an answer may show that the file has changed: the answers hops, or a digest in claims,
// must have come over channels as trusted as that of the known digest. An attacker can change an answer over http.
func (f *facts) mayAnnounce(hops []metalink.Hop, claims []verify.Claim) bool {
	return mayAnnounce(join(f.known.digests.ofServer(), f.known.digests.used(denied)), hops, claims)
}

func mayAnnounce(known []verify.Claim, hops []metalink.Hop, claims []verify.Claim) bool {
	overHTTPS := func(claims []verify.Claim) bool { return backed(claims, verify.HTTPS, verify.HTTPS) }
	return !overHTTPS(known) || overHTTPS(claims) || !slices.ContainsFunc(hops, func(h metalink.Hop) bool { return !h.Proven() })
}

// checkVersion compares a, the first answer of a session, with the facts from earlier sessions and runs. Another
// version of the server replaces the known version. It is an error if the file has changed too often.
func (s *answers) checkVersion(o *origin, x resolution, a source.Answer) error {
	if s.roleOf(o) != asOrigin {
		return sameFile(o, a, s.facts.known.view().Size, s.facts.known.digests.counting())
	}
	st := s.statementOf(o, x, a)
	s.facts.known.contradict(st.file.Claims)
	v := version.Compare(s.facts.known.view(), st.view())
	if v.Judgment != version.Other || v.By != version.ByDigest && st.host != s.facts.known.host || v.By == version.ByETag &&
		s.carried.steady {
		return nil
	}
	if !s.facts.mayAnnounce(a.Hops, st.file.Claims) {
		return mismatch(o, "%w", v.Why)
	}
	if s.carried.changes++; s.carried.changes > 1 && s.carried.single {
		return s.end.early(fileChanged, changed(v.Why.Error()))
	}
	s.req.note("%v", changed(v.Why.Error()))
	s.carried.renew(s.req, s.http.state, st.host)
	s.facts.known = s.carried.known
	return nil
}

// contradicted reports whether the user's document contradicts itself: the file matches all digests of pieces in the
// document, but not its digest of the whole file.
func (p *proving) contradicted() bool {
	d, wrong := p.req.Described, wrongOf(p.end.err)
	return d != nil && wrong != nil && p.hashing.byPieces() && p.hashing.pieces.from == d.By && wrong.Claim.Field == d.By
}
