package download

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"braid/internal/version"
	"braid/scheduler"
	"braid/source"
	"braid/verify"
)

// askDocument fetches a document that the server names, in parallel to the first ranges, if pieces would help (RFC 6249,
// section 4) or the document may have a signature. Documents are fetched one at a time, until a document has pieces.
func (s *session) askDocument() {
	doc, ok := s.carried.nextDocument(s.file)
	signed := ok && !isTorrent(doc) && s.req.Trust.Anchors.Any() && !s.carried.signed.asked
	if !ok || s.aside.asking || !s.carried.pieces.IsZero() || s.carried.piecesRejected || !signed && !s.piecesHelp() {
		return
	}
	s.aside.begin(signed)
	ctx, file, claims, trusted := s.ctx, s.file, s.digests.counting(), s.trusted()
	s.workers.Go(func() { s.aside.documents <- describedBy(ctx, s.http, s.req, doc, file, claims, trusted) })
}

// piecesHelp reports whether damaged parts could be fetched from another source. It also counts mirrors that are not
// asked yet, because a document that is fetched early disturbs the measurements of growth least.
func (s *session) piecesHelp() bool {
	others := s.fetches.active() > 1 || len(s.file.Mirrors)+len(s.req.Mirrors) > 0
	return others && !s.carried.single && s.size >= leastPieces
}

// applyDocument applies the result t of fetching a document. If the document is of no use, the download continues.
func (s *session) applyDocument(t documentResult) {
	if s.applyEvidence(t) {
		s.carried.pieces, s.carried.piecesFrom, s.newMirrors = t.file.BestPieces(), t.from, true
	}
	if s.newMirrors {
		s.addMirrors()
	}
	s.hashHeld()
	s.usePieces()
	s.askDocument()
}

// applyEvidence applies the evidence in the document of t. It reports whether the document is used.
func (s *session) applyEvidence(t documentResult) bool {
	s.aside.read()
	// The document counts as read only now, because the end of a session may have ended the fetch.
	s.carried.asked = append(s.carried.asked, t.doc.URL.String())
	if t.err != nil {
		s.note("%s is not used: %v", t.from, t.err)
		s.askSignatures()
		return false
	}
	s.file = t.file
	s.corroborate(t.file.Claims)
	if size := t.file.Size; s.guessed() && s.sizeBy < byServer && differs(size, s.size) && !slices.Contains(s.tried, size) {
		s.stated = size
		s.end(sizeDisowned, changed(t.from+" gives a size other than the assumed one"))
	}
	s.askSignatures()
	return true
}

// askSignatures fetches the known signatures, if a key or certificate is trusted. It is called when a description of
// the file was read, and after the lookup, which may have found signatures that nothing else names.
func (s *session) askSignatures() {
	all, looked := signaturesOf(s.req, s.file), s.carried.looking.finding()
	// If a document was not read yet, it may have a signature.
	doc, ok := s.carried.nextDocument(s.file)
	unnamed := len(all) == 0 && s.originAnswered && !s.aside.reading && (!ok || isTorrent(doc)) && s.req.needsSignature()
	if unnamed && s.carried.looking.awaits() {
		return
	}
	if unnamed {
		all = signaturesFor(s.req, s.file, looked)
	}
	if !s.req.Trust.Anchors.Any() {
		s.result.Unvalidated = nil
		for _, sig := range all {
			s.result.Unvalidated = append(s.result.Unvalidated, sig.From)
		}
		return
	}
	if s.carried.signed.asked || len(all) == 0 && (!unnamed || looked.Beside == nil) || s.hashing.begun() && s.streamed() {
		return
	}
	ctx, done, hc, req, trusted := s.ctx, s.carried.signed.done, s.http, s.req, s.trusted()
	s.carried.signed.asked, s.aside.fetchingSignatures = true, true
	s.workers.Go(func() {
		// The result does not count if the session ended the fetch.
		if got := signaturesAt(ctx, hc, all, req, trusted); ctx.Err() == nil {
			done <- got
		}
	})
}

// applySignatures applies all, the fetched signatures. Bytes that were hashed before are hashed again.
func (s *session) applySignatures(all []found) {
	s.aside.fetchingSignatures = false
	for _, f := range all {
		if f.err != nil {
			s.note("signature %s: %v", f.from, f.err)
		}
	}
	s.carried.signed.all = all
	if wantsList(s.req, all) {
		s.carried.looking.search(s)
	}
	if err := s.lacksSignature(); err != nil {
		s.stop(err)
		return
	}
	s.rehash()
	s.hashHeld()
}

// lacksSignature returns an error if the fetched signatures show that the required proof by a signature is impossible,
// and no signed list can have the digest.
func (s *session) lacksSignature() error {
	all, needed := s.carried.signed.all, s.req.needsSignature() && !s.carried.looking.maySign()
	set := newSignatureSet(all, s.req.Trust.Anchors, fileNames(s.req))
	if err := set.doomed(needed, s.size); err != nil {
		return err
	}
	// Uploaded parts cannot be checked later.
	none := !slices.ContainsFunc(all, func(f found) bool { return !is[*strayError](f.err) })
	if needed && (none || s.req.Store != nil && len(set.checkers) == 0) {
		return noSignature(s.req, source.Mask(s.req.URL), all, s.carried.looking.finding())
	}
	return nil
}

// awaitSignatures waits for the signatures that are being fetched, and for a document that may have signatures.
func (s *session) awaitSignatures() error {
	if s.aside.reading {
		select {
		case t := <-s.aside.documents:
			s.applyEvidence(t)
			s.askSignatures()
			s.hashHeld()
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
	if !s.aside.fetchingSignatures && len(s.carried.signed.done) == 0 {
		return s.err
	}
	select {
	case all := <-s.carried.signed.done:
		s.applySignatures(all)
		return s.err
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}

// streamWaits reports whether a stream or an upload must not begin yet. It waits for signatures, because sent bytes cannot
// be read again to check a signature. An upload also waits for pieces, so that no uploaded part turns out to be wrong.
func (s *session) streamWaits() bool {
	looks := s.req.Trust.Require != RequireNothing && s.carried.looking.awaits()
	return s.req.inOrder() && (s.aside.awaits() || looks) || s.req.Store != nil && s.aside.asking
}

// signatures returns the checker of the fetched signatures, or nothing if there are no signatures.
func (s *session) signatures() []verify.SignatureChecker {
	if len(s.carried.signed.all) == 0 {
		return nil
	}
	return []verify.SignatureChecker{newSignatureSet(s.carried.signed.all, s.req.Trust.Anchors, fileNames(s.req))}
}

// startHash starts hashing, unless the stream must wait.
func (s *session) startHash() {
	if s.streamWaits() {
		return
	}
	check := verify.NewChecker(s.size, s.digests.counting(), s.signatures()...)
	s.carried.looking.compute(s, check)
	if c := s.req.byPieces(); !c.Pieces.IsZero() {
		check.ByPieces(c)
	}
	// The error is that an earlier run hashed the uploaded parts for other checks.
	if err := s.hashing.begin(s.ctx, check, s.size, s.carried.signed.all); err != nil {
		s.end(notMergeable, fmt.Errorf("the uploaded parts are abandoned: %w", err))
		return
	}
	if u := s.hashing.upload; u != nil {
		s.step(scheduler.Consumed{Front: u.released()})
	}
}

// hashHeld starts hashing if it had to wait; see streamWaits.
func (s *session) hashHeld() {
	if !s.hashing.begun() && s.begun {
		s.startHash()
	}
}

// rehash hashes everything again, if hashing has begun.
func (s *session) rehash() {
	if s.hashing.begun() {
		s.hashing.retire()
		s.startHash()
	}
}

// usePieces starts checking pieces, including existing pieces, if their digests are known and fit the size of the file.
func (s *session) usePieces() {
	list := s.carried.pieces
	if s.carried.piecesRejected || list.IsZero() || s.hashing.byPieces() || s.size < 0 || !s.hashing.begun() {
		return
	}
	if list.Size() != s.size {
		s.note("%s has pieces for a file of %d bytes, but the file has %d: not used", s.carried.piecesFrom, list.Size(), s.size)
		return
	}
	s.hashing.startPieces(list, s.carried.piecesFrom)
	s.note("%d pieces of %d bytes are checked as they arrive, by their %v digests in %s", list.Count(), list.Length(),
		list.Algorithm(), s.carried.piecesFrom)
	s.step(scheduler.PiecesKnown{Length: list.Length(), Lead: list.Lead()})
}

// pieceChecked applies c, the result of a check.
func (s *session) pieceChecked(c checked) {
	if c.err != nil {
		s.stop(c.err)
		return
	}
	s.hashing.recordCheck(c)
	s.step(scheduler.PieceChecked{Piece: c.piece, OK: c.ok})
	s.hashing.checkNext(s.ctx, s.provenBySwarm)
}

// provenBySwarm reports whether all bytes of the piece c.Piece came from the swarm, which checks each piece with the
// same digest. Like all bytes, the piece is read back later for the in-order hash.
func (s *session) provenBySwarm(c scheduler.Check) bool {
	x, list := s.carried.sharing, s.hashing.pieces.list
	if s.swarm.src == nil || x == nil {
		return false
	}
	if own := x.file.BestPieces(); own.IsZero() || own.Length() != list.Length() ||
		own.Digest(int(c.Piece)) != list.Digest(int(c.Piece)) {
		return false
	}
	for _, o := range s.sources.all {
		if o.swarm {
			return o.brought.Contains(c.Range)
		}
	}
	return false
}

// prove waits for the lookup, the signatures and the hash, and verifies the file.
func (s *session) prove() (proof verify.Proof, err error) {
	if s.result.NotModified {
		return verify.Proof{}, nil
	}
	waits := s.aside.awaits() || len(s.carried.signed.done) > 0 || s.carried.looking.awaits()
	if !s.hashing.begun() && !waits { // no source has answered
		return verify.Proof{}, s.sources.none()
	}
	if err := s.hearRedirects(); err != nil {
		return verify.Proof{}, err
	}
	if err := s.askOrigin(); err != nil {
		return verify.Proof{}, err
	}
	s.carried.looking.searchLate(s)
	if err := s.carried.looking.await(s); err != nil {
		return verify.Proof{}, err
	}
	if err := s.awaitSignatures(); err != nil {
		return verify.Proof{}, err
	}
	// If the signatures cannot count, a search for a signed list has begun.
	if err := s.carried.looking.await(s); err != nil {
		return verify.Proof{}, err
	}
	s.observe(Complete{Size: s.part.Front()})
	for looking := &s.carried.looking; ; { // repeated if the found digests may be of an earlier version
		s.hashHeld()
		proof, err = s.hashing.prove(s.ctx, s.part.Front(), join(s.late, looking.finding().Claims))
		if err == nil {
			err = looking.compareEarlier(s, proof)
		}
		if !refuted(looking.finding(), err) || s.req.inOrder() || !looking.again(s) {
			break
		}
		if err := looking.await(s); err != nil {
			return verify.Proof{}, err
		}
	}
	if err == nil {
		s.observe(Verified{Proof: proof})
	}
	if err = s.carried.looking.judge(s, err); is[*otherFileError](err) {
		s.carried.looking.keep(s)
	}
	return proof, err
}

// hearRedirects gives up the requests to the origin that no target of its redirects has answered yet. What the origin
// stated in these redirects counts.
func (s *session) hearRedirects() error {
	o := s.sources.first()
	if o == nil || !s.begun {
		return nil
	}
	for _, err := range s.fetches.giveUp(s.sources.credit, func(f *flight) bool { return f.from == o && f.answer.Host == "" }) {
		s.applyRefusal(o, err)
	}
	return s.err
}

// askOrigin asks the origin for evidence, if all bytes were there before the origin answered, from an earlier run or
// from faster mirrors. It does so only if there are anchors, if a digest is looked up, or if the URL offered evidence
// before. The answer is checked like any answer of the origin. Without an answer, the download continues.
func (s *session) askOrigin() error {
	o, ask := s.sources.first(), look
	if s.originAnswered || o == nil || s.standIn() || s.streamed() {
		return nil
	}
	switch promised := s.c.checkPin(s.req, s.offers(s.file).Raise(s.pin)) != nil; {
	case promised && s.roleOf(o) == asOrigin:
		ask = glance // checkBoth then sends HEAD if needed
	case s.req.Trust.Anchors.Any():
	case !s.req.Trust.Lookup && len(s.req.Published.Claims) == 0, verify.Strong(s.digests.firsthand()):
		return nil
	}
	a, err := ask(s.ctx, s.http, s.req, condition{})
	// Some servers give another tag or size for HEAD.
	if err == nil && !states(s, o, a) && version.Compare(s.view(), viewOf(a)).Judgment == version.Other {
		a, err = glance(s.ctx, s.http, s.req, condition{})
	}
	if err == nil {
		err = s.checkOrigin(o, a)
	}
	if err == nil {
		s.askDocument()
	} else if s.how == ongoing {
		hops := a.Hops
		if e, ok := errors.AsType[*source.Error](err); ok && len(e.Hops) > len(hops) {
			hops = e.Hops
		}
		own := ownAnswers(hops, s.roleOf(o), verify.Strong(s.digests.by(theHost)))
		if wrong := contradiction(hops[:own]); wrong != nil {
			s.digests.takeBack()
			s.describe()
			if !verify.Strong(s.req.Trust.Claims) {
				return s.stop(fail(Protocol, "verify", o.masked, wrong, ""))
			}
		}
		if s.ctx.Err() == nil {
			s.note("asking %s for more digests failed: %v", o.masked, err)
		}
		s.applyRefusal(o, err)
	}
	return s.err
}

// states reports whether an answer of the origin, or a redirect on the way to it, has a strong digest.
func states(s *session, o *origin, a source.Answer) bool {
	x, err := s.req.resolve(a.Hops, s.roleOf(o), footing{})
	return err != nil || verify.Strong(x.file.Claims)
}

// tied reports whether bytes of several servers may be combined, because a digest of the file or its pieces proves
// them, or the complete file is compared with the digest that an earlier run found beside it.
func (s *session) tied() bool {
	return s.strong() || verify.Strong(slices.Concat(s.digests.used(ties), s.req.Published.Claims)) || s.req.provenByPieces()
}

// compareWithUser compares claims, the server's digests, with the user's. A contradiction ends the session or, if a
// document describes the file, only refuses the answer, because there may be other places.
func (s *session) compareWithUser(o *origin, claims []verify.Claim) error {
	err := verify.Agree(s.req.Trust.Claims, claims)
	switch {
	case err == nil:
		return nil
	case s.req.Described != nil:
		return otherDigest(o, err)
	case s.roleOf(o) == asOrigin:
		s.carried.opposed = claims
	}
	return s.stop(fail(Mismatch, "verify", o.masked, err, hintOtherFile))
}

// opposes returns an error if the user's digest contradicts claims that the server has stated since the session ended.
// The digest may be mistyped, so the existing bytes are kept.
func (s *session) opposes(claims []verify.Claim) error {
	if o := s.sources.first(); o != nil && s.roleOf(o) == asOrigin {
		return s.compareWithUser(o, claims)
	}
	return nil
}
