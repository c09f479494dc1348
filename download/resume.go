package download

import (
	"context"
	"errors"
	"slices"

	"braid/download/partfile"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// recover takes over what an earlier run has left, if it is of the file that is asked for.
func (g *getter) recover(ctx context.Context) error {
	prior, ok := g.part.Prior()
	if !ok {
		return nil
	}
	if len(prior.Refuted) > 0 {
		return g.unrefuted(ctx, prior)
	}
	if !g.continuable(prior) {
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
	g.goOnWith(prior)
	return nil
}

// undecided says that nothing is known about the bytes of an earlier run after err: they stay.
func undecided(ctx context.Context, err error) bool {
	var src *source.Error
	return errors.As(err, &src) || err != nil && ctx.Err() != nil
}

// continuable says that something would show whether the rest belongs to what an earlier run has left (S18).
func (g *getter) continuable(prior partfile.Identity) bool {
	return verify.Strong(prior.Claims) || tagged(prior) || g.req.provenByPieces()
}

// tagged reports whether a strong ETag of a known host tells the version.
func tagged(prior partfile.Identity) bool { return prior.ETag != "" && prior.ETagHost != "" }

// continues tells whether the bytes of an earlier run are of the file that is asked for now, and returns what is known of that file.
// If the URL is the same and there is something to compare the first answer with, that decides; else the server is asked. A prior
// that is not sealed is nobody's word (rule 8): what it says counts as far as the request or the server say it again.
func (g *getter) continues(ctx context.Context, prior partfile.Identity, sealed bool) (partfile.Identity, error) {
	u := g.req.URL
	want := partfile.Identity{URL: source.Mask(u), URLSum: partfile.SumURL(u), Size: -1, Claims: g.req.Claims}
	if d := g.req.Described; d != nil {
		want.Size = d.Size
	}
	if g.req.provenByPieces() {
		want.PieceSum = partfile.SumPieces(g.req.Described.Pieces)
	}
	if g.req.described() { // no server will be asked what the file is
		return takenOver(want, prior, sealed), want.Continues(prior)
	}
	if err := verify.Agree(prior.Claims, g.req.Claims); err != nil {
		return prior, err
	}
	known := verify.Strong(g.req.Claims)
	if sealed {
		known = verify.Strong(prior.Claims) || tagged(prior)
	}
	if want.URLSum == prior.URLSum && known || want.Continues(prior) == nil {
		return takenOver(want, prior, sealed), nil
	}
	a, file, err := g.lookAgain(ctx, prior)
	if g.document {
		return prior, nil
	}
	if err != nil {
		return prior, g.unheard(err, sealed)
	}
	if !elsewhere(file, a) { // else it is a mirror's (C8)
		want.Size = a.Size
	}
	t := tagOf(file, a)
	want.LastModified = dateOf(file, a)
	want.ETag, want.ETagHost, want.Claims = t.etag, t.host, slices.Concat(want.Claims, file.Claims)
	return takenOver(want, prior, sealed), want.Continues(prior)
}

// takenOver is what is known of a file whose bytes an earlier run has left, if they are those of want.
func takenOver(want, prior partfile.Identity, sealed bool) partfile.Identity {
	if sealed {
		return prior
	}
	if want.Size < 0 {
		want.Size = prior.Size
	}
	want.Require = prior.Require
	return want
}

// lookAgain asks the server what the file is. Some say it in answer to GET only.
func (g *getter) lookAgain(ctx context.Context, prior partfile.Identity) (a source.Answer, file metalink.File, err error) {
	for _, ask := range []func(context.Context, network, *Request, condition) (source.Answer, error){look, glance} {
		if a, err = ask(ctx, g.http, &g.req, condition{}); err != nil {
			return a, file, err
		}
		x, wrong := g.req.resolve(a.Hops, g.req.role(), verify.Strong(g.req.Claims))
		if x.nature == aDocument {
			g.document = true
			return a, file, nil
		}
		a, file, err = x.without(a), x.file, wrong
		if err != nil || isFTP(g.req.URL) || verify.Strong(file.Claims) || tagOf(file, a) != (tag{}) {
			break
		}
	}
	g.document = err == nil && g.req.inPlace(ctx, g.http, a, prior.Size)
	return a, file, err
}

// unheard is what a download ends with that cannot go on before the server has said what the file is.
func (g *getter) unheard(err error, sealed bool) error {
	var src *source.Error
	if sealed || !errors.As(err, &src) {
		return err
	}
	e := *wrap(err, "download", &g.req)
	e.Hint = HintUnsealed
	return &e
}
