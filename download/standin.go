package download

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"braid/byterange"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// recalls reports whether an attempt failed by a digest that was recalled from an earlier run.
func (g *getter) recalls(err error) bool {
	wrong := wrongOf(err)
	return wrong != nil && slices.Contains(g.carried.recalled, wrong.Claim)
}

// heardHint returns the hint about bytes that only a statement of the server in an earlier run contradicts, or "".
func (g *getter) heardHint(err error) Hint {
	if wrong := wrongOf(err); wrong != nil && g.kept > 0 && slices.Contains(g.carried.heard, wrong.Claim) {
		return HintForget
	}
	return ""
}

// standIn makes a mirror of the user the origin if the origin failed, and no known digest makes the mirror a source
// like all others. Its statements about the file are no evidence, so it is of no use if evidence is demanded: by the
// request, by the earlier offers of the URL, or by the existing file (rules 30 and 64). It is asked before anything is
// discarded for it. If a digest is known, only a mirror that was held back from a pipe is asked: any other would fail
// again, and would cause all other sources to be asked again.
func (g *getter) standIn(ctx context.Context, s *session) bool {
	if !g.mayStandIn() {
		return false
	}
	if (!g.carried.strong() || g.req.Stream != nil) && !g.req.provenByPieces() {
		for _, u := range g.req.Mirrors {
			if !g.http.opens(u) { // it serves ranges only
				g.carried.fallBack(u)
			}
		}
	}
	if g.carried.strong() && !g.req.listed() {
		g.carried.fallbacks = slices.DeleteFunc(g.carried.fallbacks, s.sources.gaveUp)
	}
	for g.carried.nextFallback() {
		if g.part.Front() == 0 || g.answers(ctx) || ctx.Err() != nil {
			return true
		}
	}
	return false
}

// mayStandIn reports whether a file without evidence would be accepted.
func (g *getter) mayStandIn() bool {
	switch {
	case g.carried.strong() || g.req.listed() || g.req.provenByPieces():
		return true
	case g.req.Trust.Require != RequireNothing, g.carried.replaces:
		return false
	}
	return g.req.Described != nil || g.c.checkPin(&g.req, pinOf(metalink.File{})) == nil
}

// answers reports whether the server that would stand in has the file.
func (g *getter) answers(ctx context.Context) bool {
	if !isWeb(g.carried.origin) {
		return true
	}
	_, err := g.http.Head(ctx, g.carried.origin, g.req.originOptions(&g.carried, false))
	var e *source.Error
	if errors.As(err, &e) && (e.Status == http.StatusMethodNotAllowed || e.Status == http.StatusNotImplemented ||
		e.Status == http.StatusForbidden) {
		return true // it may answer GET
	}
	if err != nil {
		g.note("%s is not used: %v", source.Mask(g.carried.origin), err)
	}
	return err == nil
}

// dropRecalled forgets the digests that were recalled from an earlier run. The next session resumes if
// something else ties the existing bytes together.
func (g *getter) dropRecalled(ctx context.Context, s *session) error {
	k := g.carried.known
	g.note("%v: that digest is from an earlier run, and is no longer used", s.err)
	k.forgetRecalled()
	k.forgetGuess()
	if k.strong() || k.tag.etag != "" && !k.mixed {
		g.goOn(s)
		return nil
	}
	return g.anew(ctx, s)
}

// discard discards the bytes of a file that is wrong somewhere. If a digest is known, it keeps those that may
// be right: nothing is known against bytes of an earlier run, of the asked server, or of a source that was
// not compared as a whole.
func (g *getter) discard(ctx context.Context, s *session) error {
	if g.req.IfExists.Refresh && g.result.Resumed > 0 {
		return keepRefreshed(g, s.err)
	}
	if g.carried.strong() {
		if err := g.restore(); err != nil {
			return err
		}
	}
	doubtful, parties, earlier := g.doubtful(s)
	if !g.req.onDisk() || !g.carried.strong() || parties < 2 && !earlier {
		return g.empty(ctx)
	}
	for r := range doubtful.All() {
		g.part.Revoke(r)
		g.observe(Voided{r})
	}
	if err := g.part.Void(); err != nil {
		return local(err)
	}
	g.forgetRecheck()
	return nil
}

// doubtful returns the bytes of sources that are not trusted any more, the number of sources that sent bytes,
// and whether some bytes are of an earlier run.
func (g *getter) doubtful(s *session) (doubtful byterange.Set, parties int, before bool) {
	earlier := g.part.Have()
	for _, o := range s.sources.all {
		if o.brought.Len() == 0 {
			continue
		}
		parties++
		liar := !o.first
		if x := g.carried.recheck; x != nil {
			liar = x.Refuted(o.url)
		}
		for r := range o.brought.All() {
			earlier.Remove(r)
			if liar {
				doubtful.Add(r)
			}
		}
	}
	return doubtful, parties, earlier.Len() > 0
}

// refute keeps the file for a run with a corrected digest. It returns the error to end with.
func (g *getter) refute(ctx context.Context, s *session) error {
	wrong, err := wrongOf(s.err), s.err
	if !slices.Contains(g.req.Trust.Claims, wrong.Claim) || !verify.Strong([]verify.Claim{wrong.Claim}) {
		return errors.Join(err, g.discard(ctx, s))
	}
	if err := g.restore(); err != nil {
		return err
	}
	id := s.identity()
	id.Refuted = []verify.Claim{wrong.Claim}
	if begun := g.part.Begin(id); begun != nil {
		return errors.Join(err, local(begun))
	}
	g.refuted = true
	return err
}
