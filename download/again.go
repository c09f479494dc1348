package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"braid/download/partfile"
	"braid/download/versions"
	"braid/source"
	"braid/verify"
)

// A plan is what a session has to know of those before it.
type plan struct {
	version
	origin    *url.URL          // the server to ask; not that of the request when it failed and a mirror stands in
	changes   int               // how often the file changed while it was fetched
	restarts  int               // how often what came was of no use
	fallbacks []*url.URL        // mirrors that nothing ties to the origin, and that were not asked alone yet
	alones    []*url.URL        // those that were
	fetches   int               // that were begun
	touched   int               // how often another program changed the part file
	here      *versions.Version // what is known of the file that is there; nil: nothing
	host      string            // that gave Result.ETag and LastModified
}

// fallBack remembers a mirror that may serve alone, once.
func (p *plan) fallBack(u *url.URL) {
	if !slices.Contains(p.fallbacks, u) && !slices.Contains(p.alones, u) && u != p.origin {
		p.fallbacks = append(p.fallbacks, u)
	}
}

// next makes a fall-back the origin, if there is one.
func (p *plan) next() bool {
	if len(p.fallbacks) == 0 {
		return false
	}
	p.origin, p.fallbacks = p.fallbacks[0], p.fallbacks[1:]
	p.alones = append(p.alones, p.origin)
	return true
}

// again decides whether another session may do better after err, and prepares for it; else it gives back
// the error to end with.
func (g *getter) again(ctx context.Context, s *session, err error) error {
	var changed *changedError
	var broken *restartError
	var none *NoSourceError
	var wrong *verify.MismatchError
	var size *verify.SizeError
	var disowned *disownedError
	switch {
	case errors.Is(err, errHead):
		return g.askHead(ctx)
	case errors.As(err, &disowned) && !s.streamed():
		return g.disown(s)
	case errors.As(err, &changed): // rule 34
		if g.plan.changes++; g.plan.changes > 1 {
			return err
		}
		g.plan.renew(&g.req)
	case errors.As(err, &broken): // rule 15
		if g.plan.restarts++; g.plan.restarts >= g.c.tries() {
			if !g.standIn() && (!g.plan.alone || g.solo(s, err) != nil) {
				return err
			}
			g.plan.restarts = 1
		}
		if err := g.pause(ctx); err != nil {
			return err
		}
		if went, err := g.continueBroken(ctx, s); went || err != nil {
			return err
		}
	case g.req.provenByPieces() && (errors.As(err, &wrong) || errors.As(err, &size)): // each piece was checked as it came
		return err
	case (errors.As(err, &wrong) || errors.As(err, &size)) && g.req.listed() && !s.contradicted(wrong): // rule 43
		s.refute(err)
		if !g.standIn() {
			return errors.Join(err, g.empty())
		}
	case errors.As(err, &wrong) && s.contradicted(wrong):
		hint := "where the document comes from there may be a better one"
		return g.fail(Protocol, fmt.Errorf("in %s the digests of the pieces, which hold, contradict that of the whole file", s.pieces.from), hint)
	case errors.As(err, &wrong) && s.req.Stream == nil && !g.plan.alone: // rule 40
		found, mending := g.repair(ctx, s, wrong)
		switch {
		case mending != nil:
			return mending
		case found:
			return context.Cause(ctx)
		case !s.req.described() || s.req.Described.Size >= 0:
			return g.refute(s, wrong, err)
		}
		if err := g.solo(s, err); err != nil { // another one has a file of another size, and nobody knows the right one
			return errors.Join(err, g.empty())
		}
	case errors.As(err, &wrong) || errors.As(err, &size): // the last resort
		if err := g.solo(s, err); err != nil {
			return errors.Join(err, g.empty())
		}
	case errors.As(err, &none) && g.plan.alone:
		if err := g.solo(s, err); err != nil {
			return errors.Join(err, g.empty())
		}
	case errors.As(err, &none) && g.distrust(s):
		return nil
	case errors.As(err, &none) && g.rescue(ctx, s):
		return nil
	case errors.As(err, &none) && g.standIn(): // rule 30
	default:
		return err
	}
	if s.streamed() {
		return err // what is out cannot be taken back
	}
	g.observe(Restarted{Reason: err.Error()})
	g.plan.prior, g.result.Resumed = nil, 0
	g.plan.continued, g.result.Continued = false, false
	return g.empty()
}

// standIn takes a mirror of the user's as the origin when the origin failed. With a strong digest from the
// user they were sources like all others, but for a pipe.
func (g *getter) standIn() bool {
	if (!verify.Strong(g.req.Claims) || g.req.Stream != nil) && !g.req.provenByPieces() {
		for _, u := range g.req.Mirrors {
			g.plan.fallBack(u)
		}
	}
	return g.plan.next()
}

// empty throws away what is here.
func (g *getter) empty() (err error) {
	g.forgetRecheck()
	if g.req.Stream == nil {
		return g.part.Restart()
	}
	if err = g.part.Close(); err == nil {
		g.part, err = partfile.OpenTemp(g.c.files(), "")
	}
	return err
}

// pause is the time between two sessions of which the first was of no use.
func (g *getter) pause(ctx context.Context) error {
	wait := cmp.Or(g.c.RetryWait, time.Second) << min(g.plan.restarts-1, 5)
	select {
	case <-time.After(min(wait, 30*time.Second)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// askHead asks for the header fields once more, as some servers send Digest on HEAD only.
func (g *getter) askHead(ctx context.Context) error {
	g.plan.headed, g.plan.head = true, source.Answer{}
	a, err := g.http.Head(ctx, g.plan.origin, g.req.originOptions(&g.plan, false))
	if err == nil {
		g.plan.head = a
		g.plan.announced(a)
	}
	return context.Cause(ctx)
}
