package download

import (
	"context"
	"errors"
	"io"
	"time"

	"braid/address"
	"braid/byterange"
	"braid/download/state"
	"braid/internal/partfile"
	"braid/internal/small"
	"braid/source"
	"braid/verify"
)

// recover resumes the part file of an earlier run, if it is part of the requested file.
func (g *getter) recover(ctx context.Context) error {
	prior, ok := g.part.Prior()
	if !ok {
		return nil
	}
	if g.part.Sealed() {
		stated, err := g.statesEarlier(ctx, prior)
		if g.document || err != nil {
			g.kept = g.part.Inherited()
			return err
		}
		prior.Denied = without(prior.Denied, stated)
		prior = reinstated(prior, &g.req)
	}
	if g.req.IfExists.Refresh {
		return (&refresh{getter: g, prior: prior, sealed: g.part.Sealed()}).goOn(ctx)
	}
	switch other := g.statedOther(prior); {
	case other != nil:
		return g.part.Reset(other.Error())
	case g.outdated(prior):
		return g.part.Reset("it describes an older version than the existing file")
	case len(prior.Refuted) > 0:
		return g.resumeRefuted(ctx, prior)
	case !g.continuable(prior):
		return g.resumeUnproven(ctx, prior)
	}
	prior, err := g.continues(ctx, prior, g.part.Sealed())
	if g.document || undecided(ctx, err) {
		g.kept = g.part.Inherited()
		return err
	}
	if err != nil {
		return g.part.Reset(err.Error())
	}
	if err := g.part.Recover(ctx); err != nil {
		return err
	}
	return g.goOnWith(prior)
}

// statedOther returns an error if the server, which was asked about an existing file before, has stated another digest
// in this run than the journal has of it. The digest of the request decides otherwise.
func (g *getter) statedOther(prior partfile.Identity) error {
	then, now := standingOf(prior), without(g.carried.claims, g.req.Trust.Claims)
	if verify.Strong(g.req.Trust.Claims) || backed(then, verify.HTTPS, verify.HTTPS) && !backed(now, verify.HTTPS, verify.HTTPS) {
		return nil
	}
	return verify.Agree(then, now)
}

// continuable reports whether a digest, a strong ETag or pieces would show that the rest belongs to these
// bytes.
func (g *getter) continuable(prior partfile.Identity) bool {
	return verify.Strong(prior.Claims) || tagged(prior) || g.req.provenByPieces()
}

// continues checks whether the bytes of an earlier run are of the requested file, and returns the facts about
// that file. If the URL is the same and the first answer can be compared with prior, that comparison decides.
// Otherwise the server is asked. Another program may have written a prior without a seal: it counts only as
// far as the request or the server confirm it.
func (g *getter) continues(ctx context.Context, prior partfile.Identity, sealed bool) (partfile.Identity, error) {
	u := g.req.URL
	want := partfile.Identity{URL: source.Mask(u), URLSum: partfile.SumURL(u), Size: -1, Claims: g.req.Trust.Claims}
	if d := g.req.Described; d != nil {
		want.Size = d.Size
	}
	if g.req.provenByPieces() {
		want.PieceSum = partfile.SumPieces(g.req.Described.Pieces)
	}
	if sealed && verify.Strong(g.req.Trust.Claims) { // the digest that the user gave before may have been mistyped
		prior.Claims = without(prior.Claims, against(yieldingOf(prior), g.req.Trust.Claims))
	}
	if g.req.described() { // no server is asked what the file is
		if wrong := against(prior.Claims, g.req.Trust.Claims); sealed &&
			len(without(wrong, outranked(wrong, g.req.Trust.Claims))) == 0 {
			prior = denying(prior, wrong) // the document may be mistyped, and is compared with the bytes
		}
		prior, err := decidedBy(g.req.Trust.Claims, want, prior)
		return takenOver(want, prior, sealed), err
	}
	if conflict := verify.Agree(prior.Claims, g.req.Trust.Claims); conflict != nil {
		if !sealed {
			return prior, conflict
		}
		return g.contradicted(ctx, prior, want, conflict)
	}
	known := verify.Strong(g.req.Trust.Claims)
	if sealed { // the server may still offer what it offered before, and HEAD a digest that is required
		strong, offered := verify.Strong(prior.Claims), state.PinOf(prior.Claims)
		if strong {
			offered.HTTPS = verify.SHA512 // only a signature could be missing
		}
		needed := !strong && g.req.Trust.Require == RequireDigest || g.c.checkPin(&g.req, offered) != nil
		known = known || (strong || tagged(prior)) && !needed
	}
	if want.URLSum == prior.URLSum && known || goesOnFrom(want, prior) == nil {
		return takenOver(want, prior, sealed), nil
	}
	x, err := g.lookAgain(ctx, prior)
	if g.document {
		return prior, nil
	}
	if err != nil {
		return prior, noAnswerError(&g.req, err, sealed)
	}
	want = x.statement().describe(want)
	if sealed {
		prior, err = decidedBy(x.file.Claims, want, prior)
	} else {
		err = goesOnFrom(want, prior)
	}
	prior.Claims = join(prior.Claims, x.file.Claims)
	return takenOver(want, prior, sealed), err
}

// lookAgain asks the server what the file is: by HEAD, then by GET, as some servers give digests for GET
// only.
func (g *getter) lookAgain(ctx context.Context, prior partfile.Identity) (x inquiry, err error) {
	for _, ask := range []asker{look, glance} {
		x, err = g.req.inquire(ctx, g.http, ask, condition{})
		if err != nil || x.nature == aDocument || address.SchemeOf(g.req.URL).NoDigests ||
			verify.Strong(x.file.Claims) || tagOf(x.file, x.answer) != (tag{}) {
			break
		}
	}
	if err != nil {
		x, err = g.req.onTheWay(x, err)
	}
	if g.document = err == nil && x.nature == aDocument; err != nil || g.document || g.req.role() != asOrigin {
		return x, err
	}
	if verify.Agree(join(prior.Claims, g.carried.claims), x.file.Claims) != nil { // for the journal, if no other answer comes
		g.carried.opposed = x.file.Claims
	}
	if g.document = g.req.inPlace(ctx, g.http, x.answer, prior.Size); g.document {
		g.carried.opposed = nil
	} else {
		g.carried.hear(x.statement())
	}
	return x, nil
}

// resumeUnproven resumes from unproven bytes of an earlier run, if the user allows that. Otherwise they are
// set aside until the new file is in place.
func (g *getter) resumeUnproven(ctx context.Context, prior partfile.Identity) error {
	if ok, err := resumeLooked(ctx, g, prior); ok || err != nil || g.document {
		return err
	}
	if !g.mayContinue(prior) || !g.part.Sealed() {
		return g.part.Reset("nothing shows that the rest is of the same file")
	}
	if err := g.part.Recover(ctx); err != nil {
		return err
	}
	have := g.part.Have()
	if err := g.sameSamples(ctx, prior, g.part, samplesOf(have, manySamples)); err != nil {
		g.kept = have.Len()
		if ctx.Err() != nil || unanswered(err) {
			return err
		}
		return g.part.Reset(err.Error())
	}
	g.carried.continued, g.result.Continued = true, true
	return g.goOnWith(prior)
}

// resumeLooked resumes if a digest that the earlier run found beside the file is still there. It reports false if not, and
// if the file is whole: then that digest may be the one that it does not have. The digest ties only bytes of the server
// itself, and yields.
func resumeLooked(ctx context.Context, g *getter, prior partfile.Identity) (bool, error) {
	r := &g.req
	if !g.part.Sealed() || !tiesLater(r, prior.Looked) || prior.URLSum != partfile.SumURL(r.URL) ||
		g.part.Inherited() >= prior.Size {
		return false, nil
	}
	g.kept = g.part.Inherited()
	x, err := g.lookAgain(ctx, prior)
	if err != nil || g.document || differs(x.answer.Size, prior.Size) {
		return false, context.Cause(ctx)
	}
	found, err := lookUp(ctx, g.http, r, x.answer.Hops, x.file, x.asked, x.file.Claims)
	same := common(prior.Looked, found.Claims)
	if err != nil || !verify.Strong(same) {
		return false, context.Cause(ctx)
	}
	if err := g.part.Recover(ctx); err != nil {
		return false, err
	}
	prior.Claims, prior.Yielding = join(prior.Claims, same), join(prior.Yielding, same)
	err = g.goOnWith(prior)
	g.carried.nearby = earlier(same, nil)
	return err == nil, err
}

// mayContinue reports whether the user allows resuming from unproven bytes, and demands no proof.
func (g *getter) mayContinue(prior partfile.Identity) bool {
	return g.mayCompare(prior) && len(g.req.Mirrors) == 0
}

// mayCompare reports whether samples may show that bytes are those of the server.
func (g *getter) mayCompare(prior partfile.Identity) bool {
	return g.req.IfExists.Continue && g.req.Trust.Require == RequireNothing && !g.req.described() && prior.Host != "" &&
		prior.URLSum == partfile.SumURL(g.req.URL)
}

// continueBroken resumes within one run after the server broke off, as resumeUnproven does between two runs.
// It reports whether it did. The error is that the server did not answer, however often it was asked.
func (g *getter) continueBroken(ctx context.Context, s *session) (bool, error) {
	id, have := s.identity(), s.part.Have()
	if g.req.inOrder() || s.standIn() || s.proves() || have.FirstGap(0) == 0 || !g.mayContinue(id) {
		return false, nil
	}
	parts := samplesOf(have, manySamples)
	err := g.sameSamples(ctx, id, g.part, parts)
	for ; err != nil && unanswered(err) && ctx.Err() == nil; err = g.sameSamples(ctx, id, g.part, parts) {
		if g.carried.restarts++; g.carried.restarts >= g.c.tries() {
			return false, err
		}
		if err := g.pause(ctx); err != nil {
			return false, err
		}
	}
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err != nil:
		g.note("it starts over: %v", err)
		return false, nil
	}
	g.note("the transfer was cut off, and the server sends neither a digest nor a strong ETag: " +
		"resuming, as size, date and samples match")
	if front := have.FirstGap(0); front > g.carried.brokenAt { // after progress the tries are counted afresh
		g.carried.brokenAt, g.carried.restarts = front, 0
	}
	g.goOn(s)
	g.carried.continued, g.result.Continued = true, true
	return true, nil
}

// goOnWith resumes from the existing bytes, except those beyond the end that an authority gives the file.
func (g *getter) goOnWith(id partfile.Identity) error {
	g.recall(id)
	if k := g.carried.known; g.req.onDisk() && k.size >= 0 && g.reaches(k.size) {
		if !k.bound() {
			k.size, k.sizeBy, k.sizeAt = -1, unstated, ""
		} else if err := g.cutOff(&sources{}, k.size); err != nil {
			return err
		}
	}
	have := g.part.Have()
	g.result.Resumed = have.Len()
	g.observe(Resumed{Bytes: have.Len(), Have: have})
	return nil
}

// recall takes over what a journal, or the request about a file in place, states about the existing bytes.
func (g *getter) recall(id partfile.Identity) {
	g.carried.recall(id, &g.req)
	g.carried.goesOn, g.carried.answeredBy, g.carried.answered = true, id.Host, id.Date
}

// open opens the part file and resumes from the bytes of an earlier run, as far as possible.
func (g *getter) open(ctx context.Context) (err error) {
	if g.upload != nil {
		return storing{g}.open(ctx)
	}
	if !g.req.hasName() {
		g.part, err = nameless(g.http.files, g.req.Target)
		return err
	}
	if g.req.IfExists.Refresh {
		if err := lookForPart(g); err != nil {
			return err
		}
	}
	if g.part, err = partfile.Open(g.http.files, g.req.Dir, g.req.Name); err != nil {
		return err
	}
	if err := g.http.key.Make(); err != nil {
		g.note("the journal could not be sealed, so the next run must ask the server about the file again: %v", err)
	}
	g.part.SealWith(g.http.key)
	if err = g.recover(ctx); err != nil || g.document {
		g.aside = partfile.SetAside(g.part)
		return errors.Join(err, g.keepOpposed(), g.part.Close())
	}
	g.carried.tellAside(&g.req, g.part)
	return nil
}

// leave keeps the part file if the next run can resume from it, and otherwise discards it.
func (g *getter) leave(failed error) error {
	if g.upload != nil {
		return storing{g}.leave(failed)
	}
	g.aside = partfile.SetAside(g.part)
	err := g.keepOpposed()
	if !g.req.hasName() || !g.useful && !g.unproven {
		return errors.Join(err, g.part.Discard())
	}
	err = errors.Join(err, g.part.Close()) // it may void some bytes
	g.kept, g.keptAt = g.part.Kept()
	if errors.As(err, &g.moved) {
		return nil // explain reports it
	}
	return err
}

// sameSamples fetches parts of the existing bytes again and compares them.
func (g *getter) sameSamples(ctx context.Context, prior partfile.Identity, here io.ReaderAt, parts []byterange.Range) error {
	src := g.http.Source(g.req.URL, g.req.lookOptions(condition{}))
	for _, r := range parts {
		k := &sampleSink{here: here, prior: prior, as: g.req.role(), r: r, at: r.Start}
		err := small.Patiently(ctx, g.http.patience(), func(ctx context.Context, silent, _ *time.Timer) error {
			k.received = func() { silent.Reset(g.http.patience()) }
			return src.Fetch(ctx, r, k)
		})
		if small.GaveUp(err) {
			err = &source.Error{URL: source.Mask(g.req.URL), Host: prior.Host, Fault: source.FaultNetwork, Retry: true, Err: err}
		}
		if err != nil {
			return err
		}
		if k.at != r.End {
			return errFileReplaced
		}
		g.carried.digests(k.claims)
	}
	return nil
}
