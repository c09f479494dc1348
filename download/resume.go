package download

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"braid/address"
	"braid/byterange"
	"braid/download/state"
	"braid/internal/partfile"
	"braid/internal/small"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A resumption decides whether the bytes of an earlier run are of the requested file: by the statements of that run and
// of this request, by the server's answer, or by samples. It resumes from these bytes, or sets them aside. A plan uses
// only the decision, without a part file.
type resumption struct {
	*partial
	prior  partfile.Identity // as the earlier run described the file
	sealed bool              // the journal has this user's seal; another program may have written an unsealed one
}

// resume resumes the part file of an earlier run, if its bytes are of the requested file.
func (p *partial) resume(ctx context.Context) error {
	prior, ok := p.part.Prior()
	if !ok {
		return nil
	}
	r := &resumption{p, prior, p.part.Sealed()}
	if err := r.spareOther(); err != nil {
		return err
	}
	if r.sealed {
		r.http.looked = prior.Looked
		stated, err := r.statesEarlier(ctx)
		if r.document || err != nil {
			r.kept = r.part.Inherited()
			return err
		}
		r.prior.Denied = without(prior.Denied, stated)
		r.prior = reinstated(r.prior, r.req)
	}
	if r.req.IfExists.Refresh {
		return (&refresh{resumption: r}).goOn(ctx)
	}
	switch other := r.statedOther(); {
	case r.req.provenByPieces() && r.prior.PieceSum == "":
		return r.resumeByPieces(ctx)
	case other != nil:
		return reset(r, other.Error())
	case r.recorded.outdated(r.req, r.prior):
		return reset(r, "the part is of an older version than the existing file")
	case len(r.prior.Refuted) > 0:
		return r.resumeRefuted(ctx)
	case !continuable(r.req, r.prior):
		return r.resumeUnproven(ctx)
	}
	prior, err := r.continues(ctx)
	if r.document || undecided(ctx, err) {
		r.kept = r.part.Inherited()
		return err
	}
	if err != nil {
		return reset(r, err.Error())
	}
	if err := r.part.Recover(ctx); err != nil {
		return err
	}
	return r.goOnWith(prior)
}

// statedOther returns an error if the server has stated a digest in this run, when it was asked about an existing file,
// that contradicts the server's digest in the journal. A strong digest of the request decides instead.
func (r *resumption) statedOther() error {
	then, now := standingOf(r.prior), without(r.carried.digests.counting(), r.req.Trust.Claims)
	if verify.Strong(r.req.Trust.Claims) || backed(then, verify.HTTPS, verify.HTTPS) && !backed(now, verify.HTTPS, verify.HTTPS) {
		return nil
	}
	return verify.Agree(then, now)
}

// continuable reports whether a digest, a strong ETag or pieces would show that the rest is of the version of prior, or
// that the complete file is the requested file.
func continuable(r *Request, prior partfile.Identity) bool {
	return verify.Strong(prior.Claims) || tagged(prior) || r.provenByPieces() || r.onDisk() && verify.Strong(r.Trust.Claims) ||
		republished(r, prior)
}

// continues checks whether the bytes of an earlier run are of the requested file, and returns the facts about that
// file. If the URL is the same and the first answer can be compared with prior, nothing else is checked. Otherwise the
// server is asked. The facts in an unsealed journal count only if the request or the server confirm them.
func (r *resumption) continues(ctx context.Context) (partfile.Identity, error) {
	u, prior, sealed := r.req.URL, r.prior, r.sealed
	want := partfile.Identity{URL: source.Mask(u), URLSum: partfile.SumURL(u), Size: -1, Claims: r.req.Trust.Claims, Asked: true}
	if d := r.req.Described; d != nil {
		want.Size, want.Asked = d.Size, false
	}
	if r.req.provenByPieces() {
		want.PieceSum = partfile.SumPieces(r.req.Described.Pieces)
	}
	if sealed && verify.Strong(r.req.Trust.Claims) { // an earlier digest of the user may have been mistyped
		prior.Claims = without(prior.Claims, against(yieldingOf(prior), r.req.Trust.Claims))
	}
	if r.req.described() { // no server is asked what the file is
		if wrong := against(prior.Claims, r.req.Trust.Claims); sealed &&
			len(without(wrong, outranked(wrong, r.req.Trust.Claims))) == 0 {
			prior = denying(prior, wrong) // the bytes show whether the document is wrong
		}
		prior, err := decidedBy(r.req.Trust.Claims, want, prior)
		return takenOver(want, prior, sealed), err
	}
	if conflict := verify.Agree(prior.Claims, r.req.Trust.Claims); conflict != nil {
		if !sealed {
			return prior, conflict
		}
		return r.contradicted(ctx, prior, want, conflict)
	}
	known := verify.Strong(r.req.Trust.Claims)
	if sealed { // the server must be asked if evidence is needed that the journal lacks
		strong, again, offered := verify.Strong(prior.Claims), republished(r.req, prior), state.PinOf(prior.Claims)
		if strong {
			offered.HTTPS = verify.SHA512 // so that only a signature can be missing
		}
		needed := !strong && !again && r.req.Trust.Require == RequireDigest || r.c.checkPin(r.req, offered) != nil
		known = known || (strong || tagged(prior) || again) && !needed
	}
	if want.URLSum == prior.URLSum && known || goesOnFrom(want, prior) == nil {
		return takenOver(want, prior, sealed), nil
	}
	x, err := r.lookAgain(ctx, prior)
	if r.document {
		return prior, nil
	}
	if err != nil {
		return prior, noAnswerError(r.req, err, sealed)
	}
	want = x.statement().describe(want)
	if sealed {
		prior, err = decidedBy(x.file.Claims, want, prior)
	} else {
		err = goesOnFrom(want, prior)
	}
	prior.Claims = join(prior.Claims, x.file.Claims)
	if err == nil && x.mirror == x.answers { // nothing more may be asked if the bytes are complete
		r.result.describe(x.answer)
	}
	return takenOver(want, prior, sealed), err
}

// resumeUnproven resumes from unproven bytes of an earlier run, if the user allows that and samples are the same.
// Otherwise the bytes are set aside until the new file is in place.
func (r *resumption) resumeUnproven(ctx context.Context) error {
	if ok, err := r.resumeLooked(ctx); ok || err != nil || r.document {
		return err
	}
	if !mayContinue(r.req, r.prior) || !r.sealed {
		if r.sealed && r.prior.URLSum == partfile.SumURL(r.req.URL) {
			r.carried.digests.add(aList, noted, r.prior.Looked) // the server may not answer for it again
		}
		return reset(r, "nothing shows that the rest is from the same file as the received part")
	}
	if err := r.part.Recover(ctx); err != nil {
		return err
	}
	have := r.part.Have()
	if err := r.sameSamples(ctx, r.prior, r.part, samplesOf(have, manySamples)); err != nil {
		r.kept = have.Len()
		if ctx.Err() != nil || unanswered(err) {
			return err
		}
		return reset(r, err.Error())
	}
	r.carried.continued, r.result.Continued = true, true
	return r.goOnWith(r.prior)
}

// resumeLooked resumes if a digest that the earlier run found beside the file is still published, or if the server does
// not answer whether it is. The complete file is compared with that digest (compareEarlier), which is no evidence unless
// the session finds it again. resumeLooked reports whether it resumed.
func (r *resumption) resumeLooked(ctx context.Context) (bool, error) {
	prior := r.prior
	if !r.sealed || !tiesLater(r.req, prior.Looked) || prior.URLSum != partfile.SumURL(r.req.URL) {
		return false, nil
	}
	r.kept = r.part.Inherited()
	gone, now, err := r.unlisted(ctx)
	if prior.Looked = join(prior.Looked, now); gone {
		prior.Looked = now
	}
	r.prior.Looked = prior.Looked
	if err != nil || r.document || gone && (!verify.Strong(now) || r.kept < prior.Size) {
		return false, err
	}
	if err := r.part.Recover(ctx); err != nil {
		return false, err
	}
	if have := r.part.Have(); have.Len() >= prior.Size { // complete, perhaps because it was wrong
		_, err := checkBytes(ctx, io.NewSectionReader(r.part, 0, have.Len()), prior.Looked, verify.PieceClaim{})
		if err != nil {
			return false, context.Cause(ctx)
		}
	}
	err = r.goOnWith(prior)
	r.carried.digests.add(aList, ties, prior.Looked)
	return err == nil, err
}

// mayContinue reports whether the user allows resuming from unproven bytes, and demands no proof.
func mayContinue(r *Request, prior partfile.Identity) bool {
	return mayCompare(r, prior) && len(r.Mirrors) == 0
}

// mayCompare reports whether samples may show that bytes are those of the server.
func mayCompare(r *Request, prior partfile.Identity) bool {
	return r.IfExists.Continue && r.Trust.Require == RequireNothing && !r.described() && prior.Host != "" &&
		prior.URLSum == partfile.SumURL(r.URL)
}

// contradicted decides about the bytes of an earlier run if the server's digest of that run contradicts the user's
// digest of this run. The bytes are useless if the server now has the user's file. Otherwise the user may have mistyped
// the digest, and the bytes are kept.
func (r *resumption) contradicted(ctx context.Context, prior, want partfile.Identity, conflict error) (partfile.Identity, error) {
	x, err := r.lookAgain(ctx, prior)
	switch {
	case r.document:
		return prior, nil
	case ctx.Err() != nil:
		return prior, cmp.Or(err, context.Cause(ctx))
	case err == nil && verify.Agree(r.req.Trust.Claims, x.file.Claims) != nil:
		return prior, r.req.fail(Mismatch, verify.Agree(r.req.Trust.Claims, x.file.Claims), hintOtherFile)
	case err == nil && verify.Strong(x.file.Claims), want.URLSum != prior.URLSum,
		err == nil && verify.Agree(standingOf(prior), x.file.Claims) != nil: // the file changed
		return prior, conflict
	}
	return denying(prior, against(prior.Claims, r.req.Trust.Claims)), nil
}

// statesEarlier returns the denied digests that must not be reinstated, because the server now states the digest of the
// earlier request that denied them. It asks the server only if that digest is strong and contradicts the denied ones.
func (r *resumption) statesEarlier(ctx context.Context) ([]verify.Claim, error) {
	again := without(r.prior.Denied, against(r.prior.Denied, r.req.Trust.Claims))
	given := against(r.prior.Claims, again)
	if !verify.Strong(given) || r.req.described() || r.req.IfExists.Refresh || r.prior.URLSum != partfile.SumURL(r.req.URL) {
		return nil, nil
	}
	x, err := r.lookAgain(ctx, r.prior)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil || r.document || !verify.Strong(common(given, x.file.Claims)) ||
		!mayAnnounce(again, x.answer.Hops, x.file.Claims):
		return nil, nil
	}
	r.carried.opposed = nil
	return against(again, x.file.Claims), nil
}

// resumeRefuted resumes with a complete file that did not have the digest of an earlier run. If the file does not have
// the digest of this run either, the session compares it with the sources.
func (r *resumption) resumeRefuted(ctx context.Context) error {
	if !verify.Strong(r.req.Trust.Claims) {
		return r.resumeUntold(ctx)
	}
	if err := r.part.Recover(ctx); err != nil {
		return err
	}
	have, prior := r.part.Have(), r.prior
	if !have.Contains(byterange.Range{End: have.Len()}) {
		return r.part.Restart()
	}
	id := takenOver(partfile.Identity{
		URL: prior.URL, URLSum: prior.URLSum, Asked: prior.Asked, Document: prior.Document, Size: have.Len(),
		Claims: r.req.Trust.Claims, Mirrors: prior.Mirrors, Require: prior.Require,
	}, prior, r.sealed)
	wrong := against(standingOf(id), r.req.Trust.Claims)
	id.Denied = join(id.Denied, wrong)
	id.Claims, id.Refuted = join(without(standingOf(id), wrong), r.req.Trust.Claims), nil
	return r.goOnWith(id)
}

// resumeUntold resumes with a complete file that did not have the digest of an earlier run, if this request has no
// digest and the server still has the version of the file. Otherwise it sets the file aside.
func (r *resumption) resumeUntold(ctx context.Context) error {
	prior := r.prior
	r.carried.refuted = prior.Refuted
	prior.Claims, prior.Refuted = standingOf(prior), nil
	reason := errors.New("the part does not match the digest of an earlier run, and no digest is given now")
	switch {
	case r.sealed && verify.Strong(prior.Claims): // the digest decides
		if err := r.part.Recover(ctx); err != nil {
			return err
		}
		return r.goOnWith(prior)
	case !r.sealed:
		return reset(r, reason.Error())
	}
	x, err := r.lookAgain(ctx, prior)
	if r.document || undecided(ctx, err) {
		r.kept = r.part.Inherited()
		return err
	}
	want := x.statement().describe(partfile.Identity{URLSum: partfile.SumURL(r.req.URL), Size: -1})
	if err == nil {
		prior, err = decidedBy(x.file.Claims, want, prior)
	}
	if err != nil {
		return reset(r, reason.Error())
	}
	if x.mirror == x.answers {
		r.result.describe(x.answer)
	}
	prior.Claims = join(prior.Claims, want.Claims)
	if err := r.part.Recover(ctx); err != nil {
		return err
	}
	return r.goOnWith(prior)
}

// lookAgain asks the server what the file is: by HEAD and, without a digest or a tag, by GET, because some servers give
// digests for GET only. It sets document if the answer is a document.
func (c *call) lookAgain(ctx context.Context, prior partfile.Identity) (x inquiry, err error) {
	for _, ask := range []asker{look, glance} {
		x, err = inquire(ctx, c.http, c.req, ask, condition{}, c.carried.spoken())
		if err != nil || x.nature == aDocument || address.SchemeOf(c.req.URL).NoDigests ||
			verify.Strong(x.file.Claims) || tagOf(x.file, x.answer) != (tag{}) {
			break
		}
	}
	if e, ok := errors.AsType[*metalink.HopError](err); ok && is[*verify.ConflictError](err) && c.req.role() == asOrigin {
		// The server contradicts itself: its last statement replaces those of earlier runs.
		hops := x.answer.Hops[:e.Hop+1]
		c.carried.opposed, _ = verify.FromHeader(hops[e.Hop].Header, channelOf(source.Answer{Hops: hops}))
	}
	if err != nil {
		x, err = onTheWay(c.req, x, err)
	}
	if c.document = err == nil && x.nature == aDocument; err != nil || c.document || c.req.role() != asOrigin {
		return x, err
	}
	if verify.Agree(join(prior.Claims, c.carried.digests.counting()), x.file.Claims) != nil { // leave records it in the journal
		c.carried.opposed = x.file.Claims
	}
	if c.document = inPlace(ctx, c.http, c.req, x.answer, prior.Size); c.document {
		c.carried.opposed = nil
	} else {
		c.carried.hear(x.statement())
	}
	return x, nil
}

// sameSamples fetches parts of the existing bytes again. It returns an error if a part differs.
func (c *call) sameSamples(ctx context.Context, prior partfile.Identity, here io.ReaderAt, parts []byterange.Range) error {
	src := c.http.Source(c.req.URL, c.req.lookOptions(condition{}))
	for _, r := range parts {
		k := &sampleSink{here: here, prior: prior, as: c.req.role(), spoken: c.carried.spoken(), r: r, at: r.Start}
		err := small.Patiently(ctx, c.http.patience(), func(ctx context.Context, silent, _ *time.Timer) error {
			k.received = func() { silent.Reset(c.http.patience()) }
			return src.Fetch(ctx, r, k)
		})
		if small.GaveUp(err) {
			err = &source.Error{URL: source.Mask(c.req.URL), Host: prior.Host, Fault: source.FaultNetwork, Retry: true, Err: err}
		}
		if err != nil {
			return err
		}
		if k.at != r.End {
			return errFileReplaced
		}
		c.carried.addDigests(k.claims)
	}
	return nil
}
