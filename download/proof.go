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

// proving collects the evidence for the file, and compares the bytes with the evidence.
type proving struct {
	*attempt
	facts   *facts
	hashing hashing
	aside   aside
}

// askDocument fetches a document that the server names, in parallel to the first ranges, if pieces would help (RFC 6249,
// section 4) or the document may have a signature. Documents are fetched one at a time, until a document has pieces.
func (p *proving) askDocument() {
	doc, ok := p.carried.nextDocument(p.facts.known.file)
	signed := ok && !isTorrent(doc) && p.req.Trust.Anchors.Any() && !p.carried.signed.asked
	// The mirrors need not be in use yet: a document that is fetched early disturbs the measurements of speed least.
	others := p.fetches.active() > 1 || len(p.facts.known.file.Mirrors)+len(p.req.Mirrors) > 0
	helps := others && !p.carried.single && p.facts.known.size >= leastPieces
	if !ok || p.aside.asking || !p.carried.pieces.IsZero() || p.carried.piecesRejected || !signed && !helps {
		return
	}
	p.aside.asking, p.aside.reading = true, signed
	ctx, file, claims, trusted := p.ctx, p.facts.known.file, p.facts.known.digests.counting(), p.facts.trusted()
	p.workers.Go(func() { p.aside.documents <- describedBy(ctx, p.http, p.req, doc, file, claims, trusted) })
}

// applyDocument applies the result t of fetching a document. If the document is of no use, the download continues.
func (s *session) applyDocument(t documentResult) {
	if s.proving.applyEvidence(t) {
		s.carried.pieces, s.carried.piecesFrom, s.choice.due = t.file.BestPieces(), t.from, true
	}
	if s.choice.due {
		s.choice.addMirrors()
	}
	s.proving.hashHeld()
	s.proving.usePieces()
	s.proving.askDocument()
}

// applyEvidence applies the evidence in the document of t. It reports whether the document is used.
func (p *proving) applyEvidence(t documentResult) bool {
	k := p.facts.known
	p.aside.asking, p.aside.reading = false, false
	// The document counts as read only now, because the end of a session may have ended the fetch.
	p.carried.asked = append(p.carried.asked, t.doc.URL.String())
	if t.err != nil {
		p.req.note("%s is not used: %v", t.from, t.err)
		p.askSignatures()
		return false
	}
	k.file = t.file
	p.corroborate(t.file.Claims)
	if size := t.file.Size; k.guessed() && k.sizeBy < byServer && differs(size, k.size) && !slices.Contains(k.tried, size) {
		k.stated = size
		p.end.early(sizeDisowned, changed(t.from+" gives a size other than the assumed one"))
	}
	p.askSignatures()
	return true
}

// askSignatures fetches the known signatures, if a key or certificate is trusted. It is called when a description of
// the file was read, and after the lookup, which may have found signatures that nothing else names.
func (p *proving) askSignatures() {
	all, looked := signaturesOf(p.req, p.facts.known.file), p.carried.looking.finding()
	// If a document was not read yet, it may have a signature.
	doc, ok := p.carried.nextDocument(p.facts.known.file)
	unnamed := len(all) == 0 && p.facts.originAnswered && !p.aside.reading && (!ok || isTorrent(doc)) &&
		p.req.Trust.needsSignature()
	if unnamed && p.carried.looking.awaits() {
		return
	}
	if unnamed {
		all = signaturesFor(p.req, p.facts.known.file, looked)
	}
	if !p.req.Trust.Anchors.Any() {
		p.result.Unvalidated = nil
		for _, sig := range all {
			p.result.Unvalidated = append(p.result.Unvalidated, sig.From)
		}
		return
	}
	if p.carried.signed.asked || len(all) == 0 && (!unnamed || looked.Beside == nil) || p.hashing.begun() && p.facts.streamed() {
		return
	}
	ctx, done, hc, req, trusted := p.ctx, p.carried.signed.done, p.http, p.req, p.facts.trusted()
	p.carried.signed.asked, p.aside.fetchingSignatures = true, true
	p.workers.Go(func() {
		// The result does not count if the session ended the fetch.
		if got := signaturesAt(ctx, hc, all, req, trusted); ctx.Err() == nil {
			done <- got
		}
	})
}

// applySignatures applies all, the fetched signatures. Bytes that were hashed before are hashed again.
func (p *proving) applySignatures(all []found) {
	p.aside.fetchingSignatures = false
	for _, f := range all {
		if f.err != nil {
			p.req.note("signature %s: %v", f.from, f.err)
		}
	}
	p.carried.signed.all = all
	if wantsList(p.req, all) {
		p.carried.looking.search(p)
	}
	if err := p.lacksSignature(); err != nil {
		p.end.stop(err)
		return
	}
	p.rehash()
	p.hashHeld()
}

// lacksSignature returns an error if the fetched signatures show that the required proof by a signature is impossible,
// and no signed list can have the digest.
func (p *proving) lacksSignature() error {
	all, needed := p.carried.signed.all, p.req.Trust.needsSignature() && !p.carried.looking.maySign()
	set := newSignatureSet(all, p.req.Trust.Anchors, fileNames(p.req))
	if err := set.doomed(needed, p.facts.known.size); err != nil {
		return err
	}
	// Uploaded parts cannot be checked later.
	none := !slices.ContainsFunc(all, func(f found) bool { return !is[*strayError](f.err) })
	if needed && (none || p.req.Store != nil && len(set.checkers) == 0) {
		return noSignature(p.req, source.Mask(p.req.URL), all, p.carried.looking.finding())
	}
	return nil
}

// awaitSignatures waits for the signatures that are being fetched, and for a document that may have signatures.
func (p *proving) awaitSignatures() error {
	if p.aside.reading {
		select {
		case t := <-p.aside.documents:
			p.applyEvidence(t)
			p.askSignatures()
			p.hashHeld()
		case <-p.ctx.Done():
			return context.Cause(p.ctx)
		}
	}
	if !p.aside.fetchingSignatures && len(p.carried.signed.done) == 0 {
		return p.end.err
	}
	select {
	case all := <-p.carried.signed.done:
		p.applySignatures(all)
		return p.end.err
	case <-p.ctx.Done():
		return context.Cause(p.ctx)
	}
}

// streamWaits reports whether a stream or an upload must not begin yet. It waits for signatures, because sent bytes cannot
// be read again to check a signature. An upload also waits for pieces, so that no uploaded part turns out to be wrong.
func (p *proving) streamWaits() bool {
	looks := p.req.Trust.Require != RequireNothing && p.carried.looking.awaits()
	return p.req.inOrder() && (p.aside.awaits() || looks) || p.req.Store != nil && p.aside.asking
}

// startHash starts hashing, unless the stream must wait.
func (p *proving) startHash() {
	if p.streamWaits() {
		return
	}
	var signatures []verify.SignatureChecker
	if all := p.carried.signed.all; len(all) > 0 {
		signatures = append(signatures, newSignatureSet(all, p.req.Trust.Anchors, fileNames(p.req)))
	}
	check := verify.NewChecker(p.facts.known.size, p.facts.known.digests.counting(), signatures...)
	p.carried.looking.compute(p, check)
	if c := p.req.byPieces(); !c.Pieces.IsZero() {
		check.ByPieces(c)
	}
	// The error is that an earlier run hashed the uploaded parts for other checks.
	if err := p.hashing.begin(p.ctx, check, p.facts.known.size, p.carried.signed.all); err != nil {
		p.end.early(notMergeable, fmt.Errorf("the uploaded parts are abandoned: %w", err))
		return
	}
	if u := p.hashing.upload; u != nil {
		p.step(scheduler.Consumed{Front: u.released()})
	}
}

// hashHeld starts hashing if it had to wait; see streamWaits.
func (p *proving) hashHeld() {
	if !p.hashing.begun() && p.facts.begun {
		p.startHash()
	}
}

// rehash hashes everything again, if hashing has begun.
func (p *proving) rehash() {
	if p.hashing.begun() {
		p.hashing.retire()
		p.startHash()
	}
}

// usePieces starts checking pieces, including existing pieces, if their digests are known and fit the size of the file.
func (p *proving) usePieces() {
	list := p.carried.pieces
	if p.carried.piecesRejected || list.IsZero() || p.hashing.byPieces() || p.facts.known.size < 0 || !p.hashing.begun() {
		return
	}
	if list.Size() != p.facts.known.size {
		p.req.note("%s has pieces for a file of %d bytes, but the file has %d: not used", p.carried.piecesFrom, list.Size(),
			p.facts.known.size)
		return
	}
	p.hashing.startPieces(list, p.carried.piecesFrom)
	p.req.note("%d pieces of %d bytes are checked as they arrive, by their %v digests in %s", list.Count(), list.Length(),
		list.Algorithm(), p.carried.piecesFrom)
	p.step(scheduler.PiecesKnown{Length: list.Length(), Lead: list.Lead()})
}

// pieceChecked applies c, the result of a check.
func (p *proving) pieceChecked(c checked) {
	if c.err != nil {
		p.end.stop(c.err)
		return
	}
	p.hashing.recordCheck(c)
	p.step(scheduler.PieceChecked{Piece: c.piece, OK: c.ok})
	p.hashing.checkNext(p.ctx)
}

// provenBySwarm reports whether the swarm sent all bytes of check, a piece of list. The swarm compares each piece with
// the same digest. Like all bytes, the piece is read back later for the in-order hash.
func (c *choice) provenBySwarm(list verify.Pieces, check scheduler.Check) bool {
	x := c.carried.sharing
	if c.swarm.src == nil || x == nil {
		return false
	}
	if own := x.file.BestPieces(); own.IsZero() || own.Length() != list.Length() ||
		own.Digest(int(check.Piece)) != list.Digest(int(check.Piece)) {
		return false
	}
	for _, o := range c.sources.all {
		if o.swarm {
			return o.brought.Contains(check.Range)
		}
	}
	return false
}

// prove asks the origin for more evidence, if needed, and verifies the file.
func (s *session) prove() (verify.Proof, error) {
	if s.result.NotModified {
		return verify.Proof{}, nil
	}
	waits := s.proving.aside.awaits() || len(s.carried.signed.done) > 0 || s.carried.looking.awaits()
	if !s.proving.hashing.begun() && !waits { // no source has answered
		return verify.Proof{}, s.sources.none()
	}
	if err := s.hearRedirects(); err != nil {
		return verify.Proof{}, err
	}
	if err := s.askOrigin(); err != nil {
		return verify.Proof{}, err
	}
	return s.proving.prove()
}

// prove waits for the lookup, the signatures and the hash, and verifies the file.
func (p *proving) prove() (proof verify.Proof, err error) {
	p.carried.looking.searchLate(p)
	if err := p.carried.looking.await(p); err != nil {
		return verify.Proof{}, err
	}
	if err := p.awaitSignatures(); err != nil {
		return verify.Proof{}, err
	}
	// If the signatures cannot count, a search for a signed list has begun.
	if err := p.carried.looking.await(p); err != nil {
		return verify.Proof{}, err
	}
	p.req.observe(Complete{Size: p.part.Front()})
	for looking := &p.carried.looking; ; { // repeated if the found digests may be of an earlier version
		p.hashHeld()
		proof, err = p.hashing.prove(p.ctx, p.part.Front(), join(p.facts.late, looking.finding().Claims))
		if err == nil {
			err = looking.compareEarlier(p, proof)
		}
		if !refuted(looking.finding(), err) || p.req.inOrder() || !looking.again(p) {
			break
		}
		if err := looking.await(p); err != nil {
			return verify.Proof{}, err
		}
	}
	if err == nil {
		p.req.observe(Verified{Proof: proof})
	}
	if err = p.carried.looking.judge(p, err); is[*otherFileError](err) {
		p.carried.looking.keep(p)
	}
	return proof, err
}

// hearRedirects gives up the requests to the origin that no target of its redirects has answered yet. The statements
// of the origin in these redirects count.
func (s *session) hearRedirects() error {
	o := s.sources.first()
	if o == nil || !s.facts.begun {
		return nil
	}
	for _, err := range s.giveUpUnanswered(o) {
		s.applyRefusal(o, err)
	}
	return s.end.err
}

// askOrigin asks the origin for evidence, if all bytes were there before the origin answered, from an earlier run or
// from faster mirrors. It does so only if there are anchors, if a digest is looked up, or if the URL offered evidence
// before. The answer is checked like any answer of the origin. Without an answer, the download continues.
func (s *session) askOrigin() error {
	k := s.facts.known
	o, ask, head := s.sources.first(), look, true
	if s.facts.originAnswered || o == nil || s.standIn() || s.facts.streamed() {
		return nil
	}
	switch promised := s.c.checkPin(s.req, k.offers(k.file).Raise(k.pin)) != nil; {
	case promised && s.roleOf(o) == asOrigin:
		ask, head = glance, false // checkBoth then sends HEAD if needed
	case s.req.Trust.Anchors.Any():
	case !s.req.Trust.Lookup && len(s.req.Published.Claims) == 0, verify.Strong(k.digests.firsthand()):
		return nil
	}
	a, err := ask(s.ctx, s.http, s.req, condition{})
	switch { // some servers give another tag or size for HEAD
	case err != nil || states(s, o, a):
	case version.Compare(k.view(), viewOf(a)).Judgment == version.Other:
		a, err = glance(s.ctx, s.http, s.req, condition{})
	case head && k.tag.etag == "":
		a.ETag = ""
	}
	if err == nil {
		err = s.checkOrigin(o, a)
	}
	if err == nil {
		s.proving.askDocument()
	} else if s.end.how == ongoing {
		hops := a.Hops
		if e, ok := errors.AsType[*source.Error](err); ok && len(e.Hops) > len(hops) {
			hops = e.Hops
		}
		own := ownAnswers(hops, s.roleOf(o), s.carried.spoken())
		if wrong := contradiction(hops[:own]); wrong != nil {
			k.digests.takeBack()
			s.facts.describe()
			if !verify.Strong(s.req.Trust.Claims) {
				return s.stop(fail(Protocol, "verify", o.masked, wrong, ""))
			}
		}
		if s.ctx.Err() == nil {
			s.req.note("asking %s for more digests failed: %v", o.masked, err)
		}
		s.applyRefusal(o, err)
	}
	return s.end.err
}

// states reports whether an answer of the origin, or a redirect on the way to it, has a strong digest.
func states(s *session, o *origin, a source.Answer) bool {
	x, err := s.req.resolve(a.Hops, s.roleOf(o), footing{})
	return err != nil || verify.Strong(x.file.Claims)
}
