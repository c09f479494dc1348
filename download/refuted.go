package download

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"braid/byterange"
	"braid/internal/partfile"
	"braid/verify"
)

// contradicted decides about the bytes of an earlier run if the server stated another digest then than the
// user gives now. They are of no use if the server now has the user's file. Otherwise the user may have
// mistyped the digest, and nothing is discarded for that.
func (g *getter) contradicted(ctx context.Context, prior, want partfile.Identity, conflict error) (partfile.Identity, error) {
	x, err := g.lookAgain(ctx, prior)
	switch {
	case g.document:
		return prior, nil
	case ctx.Err() != nil:
		return prior, cmp.Or(err, context.Cause(ctx))
	case err == nil && verify.Agree(g.req.Trust.Claims, x.file.Claims) != nil:
		return prior, g.fail(Mismatch, verify.Agree(g.req.Trust.Claims, x.file.Claims), hintOtherFile)
	case err == nil && verify.Strong(x.file.Claims), want.URLSum != prior.URLSum:
		return prior, conflict
	case err == nil && verify.Agree(standingOf(prior), x.file.Claims) != nil: // the file changed
		return prior, conflict
	}
	return denying(prior, against(prior.Claims, g.req.Trust.Claims)), nil
}

// denying returns prior without the digests that the request denies. Those of the server count again in a later run.
func denying(prior partfile.Identity, wrong []verify.Claim) partfile.Identity {
	prior.Denied = join(prior.Denied, without(wrong, yieldingOf(prior)))
	prior.Claims = without(prior.Claims, wrong)
	return prior
}

// keepOpposed records the digests that the server stated against those of the request, for a run that gives none, or
// against those that are recorded. What another URL's server states says nothing about these bytes.
func (g *getter) keepOpposed() error {
	if len(g.carried.opposed) == 0 {
		return nil
	}
	err := g.part.Amend(func(id *partfile.Identity) {
		if id.URLSum == partfile.SumURL(g.req.URL) {
			oppose(id, g.carried.opposed)
		}
	})
	if err != nil {
		return local(err)
	}
	return nil
}

// reinstated returns prior with the digests that a request denied and this one does not contradict. Claims of prior that
// contradict those came from the request that denied them.
func reinstated(prior partfile.Identity, r *Request) partfile.Identity {
	denied := against(prior.Denied, r.Trust.Claims)
	again := without(prior.Denied, denied)
	prior.Claims, prior.Denied = join(again, without(prior.Claims, against(prior.Claims, again))), denied
	return prior
}

// statesEarlier asks the server for its digests if those to be reinstated contradict those of the earlier request that
// denied them, to which the bytes belong. It returns the ones that are out of date: the server now states those of
// that request.
func (g *getter) statesEarlier(ctx context.Context, prior partfile.Identity) ([]verify.Claim, error) {
	again := without(prior.Denied, against(prior.Denied, g.req.Trust.Claims))
	given := against(prior.Claims, again)
	if !verify.Strong(given) || g.req.described() || g.req.IfExists.Refresh || prior.URLSum != partfile.SumURL(g.req.URL) {
		return nil, nil
	}
	x, err := g.lookAgain(ctx, prior)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil || g.document || !verify.Strong(common(given, x.file.Claims)) ||
		!mayAnnounce(again, x.answer.Hops, x.file.Claims):
		return nil, nil
	}
	g.carried.opposed = nil
	return against(again, x.file.Claims), nil
}

// oppose adds the digests that the server states against those of the request to an identity. They take the place of
// those that it stated before, unless these came over a more trusted channel. They may be of another version than the
// bytes, so the earlier size is only a guess, and the earlier tag does not count.
func oppose(id *partfile.Identity, claims []verify.Claim) {
	said := join(standingOf(*id), id.Denied)
	if len(without(against(said, claims), outranked(said, claims))) == 0 {
		id.Denied = join(claims, without(id.Denied, outranked(id.Denied, claims)))
		id.SizeBy, id.Mixed = cmp.Or(id.SizeBy, "?"), true
		id.ETag, id.ETagHost, id.LastModified = "", "", time.Time{}
	}
}

// withoutUser returns the claims that the user did not give.
func withoutUser(claims []verify.Claim) []verify.Claim {
	return slices.DeleteFunc(slices.Clone(claims), func(c verify.Claim) bool { return c.Channel == verify.User })
}

// resumeRefuted resumes with a complete file that did not have the digest of an earlier run. If the file does not have
// the digest of this run either, it is compared with what the sources have now.
func (g *getter) resumeRefuted(ctx context.Context, prior partfile.Identity) error {
	if !verify.Strong(g.req.Trust.Claims) {
		return g.resumeUntold(ctx, prior)
	}
	sealed := g.part.Sealed()
	if err := g.part.Recover(ctx); err != nil {
		return err
	}
	have := g.part.Have()
	if !have.Contains(byterange.Range{End: have.Len()}) {
		return g.part.Restart()
	}
	id := takenOver(partfile.Identity{
		URL: prior.URL, URLSum: prior.URLSum, Asked: prior.Asked, Document: prior.Document, Size: have.Len(),
		Claims: g.req.Trust.Claims, Mirrors: prior.Mirrors, Require: prior.Require,
	}, prior, sealed)
	wrong := against(standingOf(id), g.req.Trust.Claims)
	id.Denied = join(id.Denied, wrong)
	id.Claims, id.Refuted = join(without(standingOf(id), wrong), g.req.Trust.Claims), nil
	return g.goOnWith(id)
}

// resumeUntold uses a complete file that did not have the digest of an earlier run, if no digest is given now
// and the server still has its version. Otherwise it sets the file aside.
func (g *getter) resumeUntold(ctx context.Context, prior partfile.Identity) error {
	prior.Claims, prior.Refuted = standingOf(prior), nil
	reason := errors.New("it does not match the given digest, and no other digest is given now")
	switch sealed := g.part.Sealed(); {
	case sealed && verify.Strong(prior.Claims): // the digest decides
		if err := g.part.Recover(ctx); err != nil {
			return err
		}
		return g.goOnWith(prior)
	case !sealed:
		return g.part.Reset(reason.Error())
	}
	x, err := g.lookAgain(ctx, prior)
	if g.document || undecided(ctx, err) {
		g.kept = g.part.Inherited()
		return err
	}
	want := x.statement().describe(partfile.Identity{URLSum: partfile.SumURL(g.req.URL), Size: -1})
	if err == nil {
		prior, err = decidedBy(x.file.Claims, want, prior)
	}
	if err != nil {
		return g.part.Reset(reason.Error())
	}
	prior.Claims = join(prior.Claims, want.Claims)
	if err := g.part.Recover(ctx); err != nil {
		return err
	}
	return g.goOnWith(prior)
}
