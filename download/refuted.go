package download

import (
	"context"
	"errors"
	"io"
	"slices"

	"braid/byterange"
	"braid/download/partfile"
	"braid/verify"
)

// What came wholly and does not have the digest that the request gave is kept: the digest may have been mistyped. It counts only for a
// run with another strong digest, which it has (rule 40).

// refute keeps what is here for such a run. It returns the error to end with.
func (g *getter) refute(s *session) error {
	wrong, err := wrongOf(s.err), s.err
	if !slices.Contains(g.req.Claims, wrong.Claim) || !verify.Strong([]verify.Claim{wrong.Claim}) {
		return errors.Join(err, g.empty())
	}
	id := s.identity()
	id.Refuted = []verify.Claim{wrong.Claim}
	if begun := g.part.Begin(id); begun != nil {
		return errors.Join(err, local(begun))
	}
	g.refuted = true
	return err
}

// unrefuted takes over what an earlier run found not to have the digest that was wanted of it, if it has the one that is wanted now;
// else the part file is empty then.
func (g *getter) unrefuted(ctx context.Context, prior partfile.Identity) error {
	strong := func(c verify.Claim) bool { return verify.Strong([]verify.Claim{c}) }
	again := func(c verify.Claim) bool {
		return strong(c) && slices.ContainsFunc(prior.Refuted, func(r verify.Claim) bool { return r.Digest == c.Digest })
	}
	switch {
	case slices.ContainsFunc(g.req.Claims, again):
		return g.part.Restart()
	case !slices.ContainsFunc(g.req.Claims, strong):
		return g.part.Reset("it does not have the digest that was given for it, and there is no other now")
	}
	if err := g.part.Recover(ctx); err != nil {
		return err
	}
	have := g.part.Have()
	check := verify.NewChecker(have.Len(), g.req.Claims)
	if have.Contains(byterange.Range{End: have.Len()}) {
		if err := newReading(g.observe, have.Len(), 0).copy(ctx, check, io.NewSectionReader(g.part, 0, have.Len())); err != nil {
			return err
		}
	}
	if _, err := check.Proof(); err != nil {
		return g.part.Restart()
	}
	g.goOnWith(partfile.Identity{
		URL: prior.URL, URLSum: prior.URLSum, Size: have.Len(), Claims: g.req.Claims, Mirrors: prior.Mirrors, Require: prior.Require,
	})
	return nil
}

// goOnWith begins with what is here.
func (g *getter) goOnWith(id partfile.Identity) {
	have := g.part.Have()
	g.result.Resumed, g.plan.prior = have.Len(), &id
	g.observe(Resumed{Bytes: have.Len(), Have: have})
}
