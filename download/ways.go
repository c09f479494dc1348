package download

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"braid/internal/partfile"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// restates reports whether the server now states that the file has size bytes, and the user gave no digest, which would
// decide.
func restates(s *session, size int64) bool {
	o := s.sources.first()
	return o != nil && s.roleOf(o) == asOrigin && o.claimed == size && !verify.Strong(s.req.Trust.Claims)
}

// dropSize makes the session after s try the size that another source gives, or continue without a size. Bytes beyond
// the new size are voided; an upload that has such bytes starts over. It reports false if no other size is possible.
func (a *attempts) dropSize(ctx context.Context, s *session) (bool, error) {
	k, inPlace, noRoom := a.carried.known, errors.Is(s.end.err, errInPlace), is[*partfile.SpaceError](s.end.err)
	before, held := k.size, s.cut.held > 0
	if before < 0 && (held || s.end.how == wrongDigest) { // a body without a length ended at the end of the bytes
		before = a.partial.part.Front()
	}
	bound := s.end.how == noSource && !k.guessed() // places with another size were refused, or lacked bytes
	if before < 0 && !bound || k.sizeBy == byUser {
		return false, nil
	}
	if noRoom {
		a.noRoom = s.end.err
	}
	possible := func(size int64) bool {
		return size != before && !slices.Contains(k.tried, size) && !(bound && a.partial.reaches(size))
	}
	next, compared := k.stated, k.stated < 0
	if k.stated = -1; next < 0 || !possible(next) {
		next = s.sources.contender(possible)
	}
	if next < 0 && (bound || !inPlace && !(noRoom && places(s) > 1)) {
		return false, nil
	}
	// The server stated the known size together with the digest, and nothing shows that the existing bytes are wrong.
	exists := a.partial.reaches(next) || a.req.Stream != nil && a.partial.part.Front() > 0
	sure := s.end.how != wrongDigest && !held && k.sizeBy == byServer && k.agreed()
	if sure && next >= 0 && exists && !restates(s, next) {
		return false, nil
	}
	if front := a.partial.part.Front(); a.req.inOrder() && front > 0 && next < front { // bytes were passed on
		if a.req.Store == nil {
			return false, nil
		}
		if err := a.partial.empty(ctx); err != nil {
			return false, err
		}
		a.result.Resumed = 0
	}
	if before >= 0 {
		k.giveUp(before, !compared || s.end.how == noSource || s.end.how == sizeDisowned && !noRoom)
		a.req.note("%v: %d bytes are no longer assumed to be the size of the file", s.end.err, before)
	}
	if err := a.carried.damage.restore(a.carried.known); err != nil {
		return false, err
	}
	a.carried.damage.forget()
	a.carried.drops++
	k.size, k.sizeBy, k.sizeAt = next, byOther, ""
	if err := a.partial.cutOff(&s.sources, next); err != nil {
		return false, err
	}
	goOn(s)
	for _, p := range a.carried.past {
		if p.claimed >= 0 {
			p.other, p.banned, p.claimed = false, nil, -1
		}
	}
	a.carried.goesOn = next >= 0 || k.strong() || a.partial.part.Front() > 0
	return true, nil
}

// giveUp records that size did not lead to the file. A size that was only contradicted may be tried once more.
func (k *known) giveUp(size int64, contradicted bool) {
	if contradicted && !slices.Contains(k.disowned, size) {
		k.disowned = append(k.disowned, size)
		return
	}
	k.tried = append(k.tried, size)
}

// places returns the number of places of the file that s knows.
func places(s *session) int {
	n := len(s.sources.all)
	for _, m := range s.facts.known.file.Mirrors {
		if !s.sources.has(m.URL) {
			n++
		}
	}
	for _, u := range s.req.Mirrors {
		if !s.sources.has(u) {
			n++
		}
	}
	return n
}

// trySingle prepares a session with one source, after the bytes of several sources of s were wrong and could not be
// repaired, or after another such session. It reports whether a source is left.
func trySingle(s *session) bool {
	p := s.carried
	if !p.single {
		unsized := s.req.described() && s.req.Described.Size < 0 || p.guessed() // the digest decides
		p.single, p.candidates, p.wrong = true, s.sources.candidates(s.facts.known.size, unsized, s.req.described()), s.end.err
		p.past = nil // each source gets another chance
	}
	if len(p.candidates) == 0 {
		return false
	}
	if p.guessed() { // each source may have a file of another size
		p.size, p.sizeBy = -1, unstated
	}
	p.origin, p.candidateScope = p.candidates[0].url, p.candidates[0].named
	p.candidates = p.candidates[1:]
	return true
}

// recalls reports whether err means that the file does not have a yielding digest.
func (k *known) recalls(err error) bool {
	wrong := wrongOf(err)
	return wrong != nil && slices.Contains(k.digests.used(yields), wrong.Claim)
}

// standIn makes a mirror that the user named the origin, after the origin failed. If a digest is known, the user's
// mirrors were sources and have failed, except a mirror that was not used because the output is a pipe. The mirror's
// statements about the file are no evidence. So standIn is not possible if evidence is demanded: by the request, by the
// earlier offers of the URL, or by the existing file (rules 30 and 64). The mirror is asked before bytes are discarded.
// Existing bytes are kept if they came from the same mirror with the same strong ETag.
func (a *attempts) standIn(ctx context.Context, s *session) (gone bool, err error) {
	if !a.mayStandIn() {
		return false, nil
	}
	if (!a.carried.strong() || a.req.Stream != nil) && !a.req.provenByPieces() {
		for _, u := range a.req.Mirrors {
			if !a.http.opens(u) { // not a source of the caller
				a.carried.fallBack(u)
			}
		}
	}
	if a.carried.strong() && !a.req.listed() {
		a.carried.fallbacks = slices.DeleteFunc(a.carried.fallbacks, s.sources.gaveUp)
	}
	if a.carried.damage.recheck != nil { // mirrors of this size have the same bytes, or were compared
		a.carried.fallbacks = slices.DeleteFunc(a.carried.fallbacks, s.sources.sameSize)
	}
	for a.carried.nextFallback() {
		if a.partial.part.Front() == 0 {
			return true, a.anew(ctx, s)
		}
		u := a.carried.origin
		x, err := glanceAt(ctx, a.http, u, a.req.originOptions(a.carried, false))
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case err != nil:
			a.req.note("%s is not used: %v", source.Mask(u), err)
		case begunBy(a.carried.known, u, x):
			goOn(s)
			return true, nil
		default:
			return true, a.anew(ctx, s)
		}
	}
	return false, nil
}

// begunBy reports whether all existing bytes came from u, with the ETag and the date of x, the present answer of u.
func begunBy(k *known, u *url.URL, x source.Answer) bool {
	return !k.mixed && k.stoodIn == partfile.SumURL(u) && k.tag.etag != "" &&
		k.tag == tag{metalink.StrongETag(x.ETag), x.Host} && k.date.Equal(x.LastModified)
}

// mayStandIn reports whether a file without evidence would be accepted.
func (a *attempts) mayStandIn() bool {
	switch {
	case a.carried.strong() || a.req.listed() || a.req.provenByPieces():
		return true
	case a.req.Trust.Require != RequireNothing, a.recorded.replaces:
		return false
	}
	return a.req.Described != nil || a.c.checkPin(a.req, pinOf(metalink.File{})) == nil
}

// dropRecalled discards the yielding digests, which an earlier run saved. The next session resumes if another digest is
// known, or if all existing bytes came with the same ETag.
func (a *attempts) dropRecalled(ctx context.Context, s *session) error {
	k := a.carried.known
	if wrong := wrongOf(s.end.err); wrong != nil {
		a.carried.refuted = append(a.carried.refuted, wrong.Claim)
	}
	a.req.note("%v: that digest is from an earlier run, and is no longer used", s.end.err)
	k.forget()
	k.forgetGuess()
	if k.strong() || k.tag.etag != "" && !k.mixed {
		goOn(s)
		return nil
	}
	return a.anew(ctx, s)
}

// discard discards the bytes of a complete but wrong file. If a digest is known, it keeps bytes that may be right:
// bytes of an earlier run, of the asked server, and of a source that was not completely compared.
func (a *attempts) discard(ctx context.Context, s *session) error {
	if a.req.IfExists.Refresh && a.result.Resumed > 0 {
		return a.partial.keepRefreshed(s.end.err)
	}
	if a.carried.strong() {
		if err := a.carried.damage.restore(a.carried.known); err != nil {
			return err
		}
	}
	doubtful, parties, earlier := a.carried.damage.doubtful(s)
	if !a.req.onDisk() || !a.carried.strong() || parties < 2 && !earlier {
		return a.partial.empty(ctx)
	}
	for r := range doubtful.All() {
		a.partial.part.Revoke(r)
		a.req.observe(Voided{r})
	}
	if err := a.partial.part.Void(); err != nil {
		return local(err)
	}
	a.carried.damage.forget()
	return nil
}

// refute keeps the file for a later run with a corrected digest. It returns the error of the download.
func (a *attempts) refute(ctx context.Context, s *session) error {
	wrong, err := wrongOf(s.end.err), s.end.err
	if !slices.Contains(a.req.Trust.Claims, wrong.Claim) || !verify.Strong([]verify.Claim{wrong.Claim}) {
		return errors.Join(err, a.discard(ctx, s))
	}
	if err := a.carried.damage.restore(a.carried.known); err != nil {
		return err
	}
	id := s.facts.identity()
	id.Refuted = []verify.Claim{wrong.Claim}
	if begun := a.partial.part.Begin(id); begun != nil {
		return errors.Join(err, local(begun))
	}
	a.partial.refuted = true
	return err
}
