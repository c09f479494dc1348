package download

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"braid/internal/lookup/search"
	"braid/internal/small"
	"braid/source"
	"braid/verify"
)

// looking is the lookup of digests that are published beside one version of the file. It begins with the first answer
// of the server that lacks needed evidence, runs during the transfer, and ends before the proof. The found digests are
// compared with the complete file, and have no other effect: they do not show that mirrors have the file, do not make
// links usable, and are not pinned. The journal keeps them for a later run (see resumeLooked).
type looking struct {
	begun  bool
	anew   bool           // folders that were looked at before are looked at again
	signed bool           // only signed digests are looked for
	spare  *search.Search // the prepared search; it begins at once, or if a Content-Digest or the named signatures prove nothing
	done   chan lookedUp  // has a buffer for one result
	enough chan struct{}  // closed once the search has what Require demands; other lists are then waited for as without Require
	cut    func()         // ends the search; digests found until then count
	result *lookedUp      // nil: the lookup has not ended
}

// lookedUp is the result of a lookup.
type lookedUp struct {
	verify.Finding
	early bool  // some digests are from a lookup for another file
	err   error // lists contradict each other, or a signature is wrong
}

// begin begins the lookup if the answer a, whose statements are x, shows that the host of the URL itself gives no
// strong digest, or none of the needed signatures. Digests of a host to which it redirects do not suffice: that host
// could hide the digests beside the file.
func (l *looking) begin(p *proving, o *origin, x resolution, a source.Answer) {
	known, needs := join(p.facts.known.digests.firsthand(), x.asked), p.req.Trust.needsSignature()
	looks := looksFor(p.req, known, x.file)
	if l.begun || p.roleOf(o) != asOrigin || !looks && !needs {
		return
	}
	f, ok := newSearch(p.req, p.http, a.Hops, known, x.file)
	if !ok {
		// The server itself has the file, where no list is beside it: what earlier lookups found no longer counts.
		if looks && p.req.Trust.Lookup && p.req.Described == nil && at(a.Host, p.req.URL) {
			l.begun, l.result = true, &lookedUp{}
		}
		return
	}
	l.spare, l.signed = f, verify.Strong(known)
	signed := p.carried.signed
	if looks && (needs || !hostVouches(a)) || signed.all != nil && wantsList(p.req, signed.all) {
		l.search(p)
	}
}

// searchLate is called before the proof. It begins the search if a Content-Digest proved nothing. If no search was
// prepared, it uses the digests that a feed published.
func (l *looking) searchLate(p *proving) {
	if l.spare == nil {
		l.spare, _ = newSearch(p.req, p.http, nil, p.facts.known.digests.firsthand(), p.facts.known.file)
	}
	if !l.signed {
		l.search(p)
	}
}

// search begins the search that begin prepared, unless the host of the URL itself has stated a strong digest since
// then, and no signed list is needed.
func (l *looking) search(p *proving) {
	if l.begun || l.spare == nil || verify.Strong(p.facts.known.digests.firsthand()) && !l.signed {
		return
	}
	f, ctx, hc, done, need := l.spare, p.ctx, p.http, l.done, p.req.Trust.Require
	f.Anew, l.begun = l.anew || p.carried.changes > 0, true
	within, cut := context.WithCancel(ctx)
	enough, holds := make(chan struct{}), need != RequireNothing && p.req.inOrder() // see streamWaits
	whenMet(need, f, func() {
		if close(enough); holds {
			hc.endLater(within, cut)
		}
	})
	if l.cut, l.enough = cut, enough; f.Vain() {
		done <- lookedUp{f.Found, f.Early, nil}
		return
	}
	p.workers.Go(func() {
		defer cut()
		if err := runSearch(within, hc, f); ctx.Err() == nil { // a search that the session has cancelled has no result
			done <- lookedUp{f.Found, f.Early, err}
		}
	})
}

// resume makes the next session begin the lookup again, if the lookup had no result when the previous session ended.
func (l *looking) resume() { l.begun = l.result != nil || len(l.done) > 0 }

// again repeats the lookup if the found digests are from a lookup for another file, because they may be of an earlier
// version. It reports whether it does so. The found digests still count if the server does not answer the second time.
func (l *looking) again(p *proving) bool {
	if l.anew || l.spare == nil || !l.result.early {
		return false
	}
	p.carried.digests.add(aList, noted, l.result.Claims)
	l.spare.Found, l.spare.Early = verify.Finding{}, false
	l.anew, l.begun, l.result = true, false, nil
	l.search(p)
	return true
}

// awaits reports whether the lookup has begun and has no result yet.
func (l *looking) awaits() bool { return l.begun && l.result == nil }

// remaining returns the claims in earlier that still count after the lookup.
func (l *looking) remaining(earlier []verify.Claim) []verify.Claim {
	if l.result == nil {
		return earlier
	}
	return remaining(earlier, l.result.Finding)
}

// hopeful reports whether the lookup has found a digest, or may still find one.
func (l *looking) hopeful() bool { return l.begun && (l.result == nil || len(l.result.Claims) > 0) }

// maySign reports whether the lookup has found a signed digest, or may still find one.
func (l *looking) maySign() bool {
	return l.begun && (l.result == nil || backed(l.result.Claims, verify.Signed, verify.Signed))
}

// apply applies r, the result of the lookup.
func (l *looking) apply(p *proving, r lookedUp) {
	k := p.facts.known
	l.result = &r
	for _, place := range r.Places {
		p.req.note("looked for a digest: %v", place)
	}
	if r.err == nil {
		keepOpposed(p.http.state, p.req, k.digests.firsthand(), l.others(p), r.Finding)
	}
	if l.signed {
		r.Claims = onlySigned(r.Claims)
	}
	r.err = cmp.Or(r.err, agreeSigned(p.req, r.Claims))
	switch {
	case is[*verify.ConflictError](r.err) && !is[*Error](r.err):
		p.end.stop(fail(Protocol, "verify", source.Mask(p.req.URL), r.err, HintNoLookup))
		return
	case r.err != nil:
		p.end.stop(r.err)
		return
	case verify.Agree(k.digests.firsthand(), r.Claims) != nil:
		p.req.note("the found digest is not used, because the server now gives a different one")
		r.Claims = nil
	case verify.Agree(k.digests.firm(), r.Claims) != nil:
		l.oppose(p, r)
		return
	case verify.Agree(k.digests.used(yields, ties), r.Claims) != nil: // these digests are of another version
		if k.forget(); k.tag.etag == "" || k.mixed {
			p.end.early(notMergeable, noMerge("the checksums beside the file are now of another version", nil))
			return
		}
		p.rehash()
	case len(l.uncomputed(p)) > 0 && p.req.Stream != nil && p.hashing.begun():
		lost := l.uncomputed(p)
		if verify.Strong(lost) && !verify.Strong(k.digests.firsthand()) {
			p.end.stop(passedOn(p.req, lost[0]))
			return
		}
		p.req.note("%v", passedOn(p.req, lost[0]).Err)
		r.Claims = without(r.Claims, lost)
	case len(l.uncomputed(p)) > 0:
		p.rehash()
	}
	if len(r.Claims) > 0 && !p.end.done {
		l.keep(p)
	}
	if len(r.Claims) == 0 && p.req.Trust.Require == RequireDigest && !k.strong() {
		p.end.stop(fail(NoEvidence, "verify", source.Mask(p.req.URL), l.lacks(errNoDigest), HintGiveDigest))
		return
	}
	p.askSignatures()
	if signed := p.carried.signed; signed.asked && !p.aside.awaits() && len(signed.done) == 0 {
		if err := p.lacksSignature(); err != nil {
			p.end.stop(err)
			return
		}
	}
	p.hashHeld()
}

// passedOn returns the error of c, a digest beside the file, if the bytes of the file cannot be hashed again.
func passedOn(r *Request, c verify.Claim) *Error {
	return r.fail(NoEvidence, fmt.Errorf("the %v beside the file cannot be compared with bytes that were already passed on",
		c.Digest.Algorithm()), HintGiveDigest)
}

// keep records the found digests in the journal, because a later lookup may get no answer.
func (l *looking) keep(p *proving) {
	if p.facts.begun && p.req.onDisk() && !p.part.Useless() {
		p.facts.describe()
	}
}

// oppose ends the session because digests in r contradict that of another host, unless again repeats the lookup.
func (l *looking) oppose(p *proving, r lookedUp) {
	if l.again(p) {
		return
	}
	l.keep(p)
	p.end.stop(opposed(p.req, p.facts.known.digests.counting(), r.Claims))
}

// uncomputed returns the found digests whose algorithm is not computed. The other digests are compared at the end.
func (l *looking) uncomputed(p *proving) []verify.Claim {
	return slices.DeleteFunc(slices.Clone(l.finding().Claims), func(c verify.Claim) bool {
		return p.hashing.begun() && p.hashing.hasher.check.Computes(c.Digest.Algorithm())
	})
}

// compute makes check compute the digests that may be compared at the end. A stream or an upload cannot be hashed
// again, so check also computes the digests of an earlier run, SHA-512 as long as the lookup may find one, and the MD5
// of a forge.
func (l *looking) compute(p *proving, check *verify.Checker) {
	all := l.finding().Claims
	if p.req.inOrder() {
		all = slices.Concat(all, p.facts.known.digests.by(aList), p.facts.known.digests.used(ties))
	}
	for _, c := range all {
		check.Compute(c.Digest.Algorithm())
	}
	resumed := p.hashing.upload != nil && p.hashing.upload.begun() // has the digests that the earlier run computed
	asks := l.spare != nil || !p.facts.originAnswered && p.req.Trust.Lookup && p.req.Described == nil
	if p.req.inOrder() && l.result == nil && asks && !resumed {
		check.Compute(verify.SHA512)
		if l.spare != nil && l.spare.HasForge() {
			check.Compute(verify.MD5)
		}
	}
}

// await waits for the result and applies it to p. Once the search has what Require demands, await waits for at most
// network.grace. It then ends the search, and applies the digests that were found until then.
func (l *looking) await(p *proving) error {
	if !l.awaits() {
		return p.end.err
	}
	var late <-chan struct{}
	for enough := l.enough; ; {
		select {
		case r := <-l.done:
			if l.apply(p, r); p.end.err == nil && l.awaits() { // apply has begun another search
				return l.await(p)
			}
			return p.end.err
		case <-enough:
			within, cancel := small.WithTimeout(context.WithoutCancel(p.ctx), p.http.grace)
			defer cancel()
			enough, late = nil, within.Done()
		case <-late:
			p.req.note("looking for a digest beside the file took too long")
			l.cut()
			l.apply(p, <-l.done)
			return p.end.err
		case <-p.ctx.Done():
			return context.Cause(p.ctx)
		}
	}
}

// finding returns the result, which is empty before the lookup has ended.
func (l *looking) finding() verify.Finding {
	if l.result == nil {
		return verify.Finding{}
	}
	return l.result.Finding
}

// lacks returns err with the places that the lookup has searched.
func (l *looking) lacks(err error) error {
	if places := l.finding().Where(); places != "" {
		return fmt.Errorf("%w; looked at %s", err, places)
	}
	return err
}

// tiesLater reports whether a later run may resume because of digests that this run found beside the file.
func tiesLater(r *Request, looked []verify.Claim) bool {
	return verify.Strong(looked) && r.Trust.Lookup && r.Described == nil && !r.Trust.needsSignature() &&
		len(r.Mirrors)+len(r.Published.Claims)+len(r.Published.Mirrors) == 0
}

// compareEarlier returns an error if the file does not have the digest that an earlier run found beside it, and the
// lookup of this run got no answer, or only that digest ties the bytes of the two runs. That digest verifies nothing,
// because it may be out of date. The same holds for the weak digests that the lookup found, unless the bytes were passed
// on and not hashed with their algorithm. Only a signature, the user's digest, or a digest of the host of the URL itself
// outweighs it. It does not count for a file of a document, because no lookup would replace it.
func (l *looking) compareEarlier(p *proving, proof verify.Proof) error {
	if !p.req.Trust.Lookup || p.req.Described != nil || proof.Signed() ||
		verify.Strong(common(p.facts.known.digests.firsthand(), proof.Evidence())) {
		return nil
	}
	claims := join(l.remaining(p.facts.known.digests.by(aList)), p.facts.known.digests.used(ties))
	lost := func(c verify.Claim) bool {
		computed := func(d verify.Digest) bool { return d.Algorithm() == c.Digest.Algorithm() }
		return p.req.inOrder() && !slices.ContainsFunc(proof.Digests(), computed)
	}
	if i := slices.IndexFunc(claims, lost); i >= 0 {
		return passedOn(p.req, claims[i])
	}
	return compareWith(p.ctx, p.part, proof, join(claims, slices.DeleteFunc(slices.Clone(l.finding().Weak), lost)))
}

// others returns the digests that hosts to which the server redirects have stated.
func (l *looking) others(p *proving) []verify.Claim {
	return without(p.facts.known.digests.firm(), p.facts.known.digests.firsthand())
}

// refuted reports whether err shows that the file does not have one of the digests in f.
func refuted(f verify.Finding, err error) bool {
	wrong := wrongOf(err)
	return wrong != nil && slices.Contains(join(f.Claims, f.Weak), wrong.Claim)
}

// judge returns err, the error of the proof. If the file does not have a found digest, the result is an error with the
// dates of list and file, and a hint.
func (l *looking) judge(p *proving, err error) error {
	wrong, found := wrongOf(err), l.finding().Claims
	if wrong != nil && !slices.Contains(found, wrong.Claim) {
		found = p.facts.known.digests.by(aList)
	}
	keepJudged(p.http.state, p.req, l.others(p), found, err)
	found = without(join(found, l.finding().Weak), p.facts.known.digests.firsthand()) // a list may repeat the server's digest
	if wrong == nil || !slices.Contains(found, wrong.Claim) {
		return err
	}
	other := &otherFileError{wrong, l.finding().Date, p.result.LastModified}
	return fail(Mismatch, "verify", source.Mask(p.req.URL), other, HintNoLookup)
}

// An otherFileError is the error of a file that does not have the digest published beside it.
type otherFileError struct {
	*verify.MismatchError
	list, file time.Time // dates of the last change; zero: unknown
}

func (e *otherFileError) Error() string {
	return fmt.Sprintf("%v; the digest is from %s, the file from %s", e.MismatchError, day(e.list), day(e.file))
}

func (e *otherFileError) Unwrap() error { return e.MismatchError }

func day(t time.Time) string {
	if t.IsZero() {
		return "an unknown date"
	}
	return t.UTC().Format("2006-01-02 15:04")
}
