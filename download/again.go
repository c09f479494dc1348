package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"braid/download/state"
	"braid/source"
	"braid/verify"
)

// carried is what survives from session to session.
type carried struct {
	version
	origin    *url.URL       // the server to ask; not that of the request when it failed and a mirror stands in
	changes   int            // how often the file changed while it was fetched
	restarts  int            // how often what came was of no use
	fallbacks []*url.URL     // mirrors that nothing ties to the origin and that were not asked yet
	tried     []*url.URL     // those that were
	fetches   int            // that were begun
	touched   int            // how often another program changed the part file
	here      *state.Version // what is known of the file that is there; nil: nothing
}

func (p *carried) fallBack(u *url.URL) {
	if !slices.Contains(p.fallbacks, u) && !slices.Contains(p.tried, u) && u != p.origin {
		p.fallbacks = append(p.fallbacks, u)
	}
}

// nextFallback makes a fall-back the origin, if there is one.
func (p *carried) nextFallback() bool {
	if len(p.fallbacks) == 0 {
		return false
	}
	p.origin, p.fallbacks = p.fallbacks[0], p.fallbacks[1:]
	p.tried = append(p.tried, p.origin)
	return true
}

// again prepares another session after one that failed, if there is a way that another may go; else it gives back the error to end with.
func (g *getter) again(ctx context.Context, s *session) error {
	if ctx.Err() == nil && s.how != failed { // on a part file whose void ranges may come back after a kill nothing goes on
		if err := s.disk.last.wait(ctx); err != nil {
			return err
		}
	}
	for _, w := range g.happened(s).ways(s.how) {
		gone, err := g.try(ctx, w, s)
		switch {
		case errors.Is(err, errOtherNow):
			s.how, s.err = fileChanged, err
			return g.again(ctx, s)
		case err != nil:
			return err
		case gone && w.fromStart():
			return g.anew(ctx, s)
		case gone:
			return context.Cause(ctx)
		}
	}
	return s.err
}

// happened counts how a session ended, and returns what decides about the next one.
func (g *getter) happened(s *session) history {
	p := &g.carried
	switch s.how {
	case fileChanged:
		p.changes++
	case notMergeable:
		p.restarts++
	case partTouched:
		p.touched++
	}
	return history{
		changes: p.changes, restarts: p.restarts, tries: g.c.tries(), touched: p.touched,
		single: p.single, pipe: g.req.inOrder(), out: g.req.Stream != nil && s.streamed(),
		byPieces: g.req.provenByPieces(), listed: g.req.listed(), contradicted: s.contradicted(), unsized: g.unsized(),
	}
}

// try goes a way, if it can be gone. An error ends the download.
func (g *getter) try(ctx context.Context, w way, s *session) (gone bool, err error) {
	switch w {
	case askHead:
		return true, g.askHead(ctx)
	case dropSize:
		return true, g.disown(ctx, s)
	case nextVersion:
		g.carried.renew(&g.req)
		return true, nil
	case compareSamples:
		if err := g.pause(ctx); err != nil {
			return false, err
		}
		return g.continueBroken(ctx, s)
	case beginAnew:
		return true, nil
	case reread:
		return g.reread(ctx, s)
	case findWrong:
		return g.repair(ctx, s)
	case singleSource:
		return g.trySingle(s), nil
	case standIn:
		return g.standIn(), nil
	case withoutPieces:
		return g.rejectPieces(s), nil
	case askPeers:
		return g.rescue(ctx, s), nil
	case blamePlace:
		if o := s.sources.first(); o != nil { // it served alone
			s.sources.ban(o, "%w", s.err)
			g.observe(SourceDown{ID: o.id, URL: o.masked, Host: o.host, Err: o.err, Banned: true})
		}
	case blameDocument:
		err := fmt.Errorf("in %s the digests of the pieces, which hold, contradict that of the whole file", s.hashing.pieces.from)
		return false, g.fail(Protocol, err, "where the document comes from there may be a better one")
	case keepRefuted:
		return false, g.refute(ctx, s)
	case discard:
		return false, errors.Join(cmp.Or(g.carried.wrong, s.err), g.empty(ctx))
	}
	return false, nil
}

// anew lets the next session begin at the first byte.
func (g *getter) anew(ctx context.Context, s *session) error {
	if g.req.Refresh && g.result.Resumed > 0 {
		return keepRefreshed(g, s.err)
	}
	if s.how == notMergeable && g.carried.restarts >= g.c.tries() { // another server is asked from here on
		g.carried.restarts = 1
		if err := g.pause(ctx); err != nil {
			return err
		}
	}
	g.observe(Restarted{Reason: s.err.Error()})
	g.carried.prior, g.result.Resumed = nil, 0
	g.carried.continued, g.result.Continued = false, false
	return g.empty(ctx)
}

// standIn takes a mirror of the user's as the origin when the origin failed. With a strong digest from the
// user they were sources like all others, but for a pipe.
func (g *getter) standIn() bool {
	if (!verify.Strong(g.req.Claims) || g.req.Stream != nil) && !g.req.provenByPieces() {
		for _, u := range g.req.Mirrors {
			if !g.http.opens(u) { // which is asked for ranges only
				g.carried.fallBack(u)
			}
		}
	}
	return g.carried.nextFallback()
}

// empty throws away what is here.
func (g *getter) empty(ctx context.Context) (err error) {
	g.forgetRecheck()
	if g.req.onDisk() {
		return g.part.Restart()
	}
	if err := g.upload.restart(ctx); err != nil {
		return err
	}
	if err = g.part.Close(); err == nil {
		g.part, err = nameless(g.http.files, g.req.Target)
	}
	return err
}

// pause is the time between two sessions of which the first was of no use.
func (g *getter) pause(ctx context.Context) error {
	wait := cmp.Or(g.c.RetryWait, time.Second) << min(g.carried.restarts-1, 5)
	select {
	case <-time.After(min(wait, 30*time.Second)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// askHead asks for the header fields once more, as some servers send Digest on HEAD only.
func (g *getter) askHead(ctx context.Context) error {
	g.carried.headAsked, g.carried.head = true, source.Answer{}
	a, err := g.http.Head(ctx, g.carried.origin, g.req.originOptions(&g.carried, false))
	if err == nil {
		g.carried.head = a
		g.carried.announced(a)
	}
	return context.Cause(ctx)
}

// mostTouched is how often a part file is looked at again that another program writes to.
const mostTouched = 3

// reread prepares another session that goes on with what is still here as it came, where another program changed the part file.
// That session hashes all of it again. It reports false if the digest is wrong for another reason.
func (g *getter) reread(ctx context.Context, s *session) (bool, error) {
	bad, err := g.part.Recheck(ctx)
	if err != nil {
		return false, errors.Join(local(err), s.err)
	}
	if s.how != partTouched && bad.Len() == 0 {
		return false, nil
	}
	g.note("%v: all that is here is read again, and %d bytes are fetched again", s.err, bad.Len())
	for r := range bad.All() {
		s.sources.void(r)
		g.observe(Voided{r})
	}
	g.goOn(s)
	return true, nil
}

// unsized reports whether one of the sources alone gave the size that all were held to.
func (g *getter) unsized() bool { return g.req.unsized() || g.carried.sizeByMirror }

// disown lets the next session begin with what is known of the file, without the size that this source gave.
func (g *getter) disown(ctx context.Context, s *session) error {
	g.goOn(s)
	g.carried.prior.Size, g.carried.prior.ETag, g.carried.prior.ETagHost = -1, "", ""
	if !verify.Strong(s.claims) {
		g.carried.prior = nil
	}
	if g.carried.originFile != nil {
		known := *g.carried.originFile
		known.Size, g.carried.originFile = -1, &known
	}
	return g.empty(ctx)
}

// trySingle prepares a session with one source, after what came is wrong and could not be mended, or after such a session. It reports
// whether there is another one.
func (g *getter) trySingle(s *session) bool {
	p := &g.carried
	if !p.single {
		p.single, p.candidates, p.wrong = true, s.sources.candidates(s.size, g.unsized(), s.req.described()), s.err
		if p.originFile == nil { // it is from an earlier run
			known := s.file
			known.Size, known.Claims = s.size, s.claims
			p.originFile = &known
		}
		p.past = nil // each source gets another chance
	}
	if len(p.candidates) == 0 {
		return false
	}
	p.origin, p.candidateScope = p.candidates[0].url, p.candidates[0].named
	p.candidates = p.candidates[1:]
	return true
}

// refute keeps what is here for such a run. It returns the error to end with.
func (g *getter) refute(ctx context.Context, s *session) error {
	wrong, err := wrongOf(s.err), s.err
	if !slices.Contains(g.req.Claims, wrong.Claim) || !verify.Strong([]verify.Claim{wrong.Claim}) {
		return errors.Join(err, g.empty(ctx))
	}
	id := s.identity()
	id.Refuted = []verify.Claim{wrong.Claim}
	if begun := g.part.Begin(id); begun != nil {
		return errors.Join(err, local(begun))
	}
	g.refuted = true
	return err
}
