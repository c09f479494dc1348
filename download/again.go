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
	"braid/internal/partfile"
	"braid/internal/version"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// carried is the state that is kept from session to session.
type carried struct {
	revision
	origin    *url.URL       // the server to ask; not the request's if that failed and a mirror stands in
	changes   int            // how often the file changed during the download
	restarts  int            // how often the received bytes could not be used
	fallbacks []*url.URL     // mirrors that nothing ties to the origin and that were not asked yet
	tried     []*url.URL     // fallbacks that were asked
	fetches   int            // how many were begun
	heads     int            // how often HEAD was asked
	touched   int            // how often another program changed the part file
	aside     string         // files that were set aside, as reported to Observe
	opposed   []verify.Claim // the server's digests that contradict the known ones and ended this download
	noRoom    error          // error for a size that does not fit and was given up; nil: none was
	replaces  bool           // a file exists, and only the server can tell whether another one is newer
	here      *state.Version // the known version of the existing file; nil: none
	// before is the same of another URL. It is the field here of the getter that found a document in place of
	// the file, whose places are other servers.
	before *state.Version
}

// tellAside reports to Observe the files that were set aside since its last call.
func (p *carried) tellAside(r *Request, part *partfile.File) {
	if why := part.Aside(); why != p.aside {
		p.aside = why
		r.observe(Restarted{Reason: why})
	}
}

// fallBack adds a fallback. It reports false if u was one, or is the server to ask.
func (p *carried) fallBack(u *url.URL) bool {
	known := append(slices.Concat(p.fallbacks, p.tried), p.origin)
	if slices.ContainsFunc(known, func(o *url.URL) bool { return o.String() == u.String() }) {
		return false
	}
	p.fallbacks = append(p.fallbacks, u)
	return true
}

// nextFallback makes the next fallback the origin. It reports false if none is left.
func (p *carried) nextFallback() bool {
	if len(p.fallbacks) == 0 {
		return false
	}
	p.origin, p.fallbacks = p.fallbacks[0], p.fallbacks[1:]
	p.tried = append(p.tried, p.origin)
	return true
}

// again prepares another session after one that failed. If no way is left, it returns the error to end with.
func (g *getter) again(ctx context.Context, s *session) error {
	// A session must not continue on a part file whose void ranges may come back after a kill.
	if ctx.Err() == nil && s.how != failed && !is[*partfile.SpaceError](s.err) {
		if err := s.disk.last.wait(ctx); err != nil {
			return err
		}
	}
	for _, w := range g.happened(s).ways(s.how) {
		gone, err := g.try(ctx, w, s)
		switch {
		case errors.Is(err, errOtherNow):
			if err := g.otherNow(s, err); err != nil {
				return err
			}
			return g.again(ctx, s)
		case err != nil:
			return err
		case gone && w.fromStart():
			return g.anew(ctx, s)
		case gone:
			return context.Cause(ctx)
		}
	}
	if s.how == noSource && s.restated && g.carried.changes == 0 { // both sizes failed: the file has changed
		s.how, s.next = fileChanged, statement{file: metalink.File{Claims: s.asked}, pin: s.pin, asked: s.asked}
		return g.again(ctx, s)
	}
	if s.how == noSource && g.carried.noRoom != nil {
		return g.carried.noRoom
	}
	return s.err
}

// otherNow ends the session with err, which says that the server has another file now. It returns an error if the
// user's digest is not that of the new file: the digest may be mistyped, so the existing bytes are kept.
func (g *getter) otherNow(s *session, err error) error {
	s.how, s.err = fileChanged, err
	if now, ok := errors.AsType[*otherNowError](err); ok {
		s.next.file.Claims = now.claims
	}
	return s.opposes(s.next.file.Claims)
}

// happened counts how a session ended, and returns the history that decides about the next one.
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
		byPieces: g.req.provenByPieces(), listed: g.req.listed(), contradicted: s.contradicted(),
		contested: g.carried.strong() && g.carried.sizeBy < byUser,
		nearby:    len(g.carried.nearby) > 0 && g.result.Resumed > 0,
		digest:    s.strong(), mixed: g.carried.mixed, recalled: g.recalls(s.err), heads: p.heads, drops: p.drops,
	}
}

// try applies a recovery strategy and reports whether it could be applied. An error ends the download.
func (g *getter) try(ctx context.Context, w way, s *session) (gone bool, err error) {
	switch w {
	case askHead:
		return true, g.askHead(ctx, s)
	case dropSize:
		return g.dropSize(s)
	case dropRecalled:
		return true, g.dropRecalled(ctx, s)
	case nextVersion:
		other, answers := true, true
		if errors.Is(s.err, errShrunk) && s.strong() {
			other, answers, err = g.announced(ctx, s)
		}
		if other && err == nil {
			renewAfter(&g.carried, &g.req, s)
		}
		if s.looked != nil { // after the change
			g.carried.head, g.carried.heads = *s.looked, g.carried.heads+1
		}
		return answers, err
	case withoutServer:
		o := s.sources.first()
		if !errors.Is(s.err, errShrunk) || !s.strong() || o == nil || g.places(s) < 2 {
			return false, nil
		}
		s.sources.ban(o, "%w", s.err)
		g.goOn(s)
		return true, nil
	case compareSamples:
		if err := g.pause(ctx); err != nil {
			return false, err
		}
		return g.continueBroken(ctx, s)
	case beginAnew:
		return true, nil
	case lookAgain:
		return g.carried.looking.again(g, s), nil
	case reread:
		return g.reread(ctx, s)
	case findWrong:
		return g.repair(ctx, s)
	case singleSource:
		return g.trySingle(s), nil
	case standIn:
		return g.standIn(ctx, s), nil
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
		err := fmt.Errorf("in %s the digests of the pieces match, but that of the whole file does not", s.hashing.pieces.from)
		return false, g.fail(Protocol, err, "get the document again from its publisher")
	case keepRefuted:
		return false, g.refute(ctx, s)
	case discard:
		return false, errors.Join(cmp.Or(g.carried.wrong, s.err), g.discard(ctx, s))
	}
	return false, nil
}

// anew makes the next session start at the first byte.
func (g *getter) anew(ctx context.Context, s *session) error {
	switch {
	case g.req.IfExists.Refresh && g.result.Resumed > 0:
		return keepRefreshed(g, s.err)
	case g.req.base != nil && g.req.base.begun:
		return g.inTheWay("cannot be resumed: " + s.err.Error())
	}
	if s.how == notMergeable && g.carried.restarts >= g.c.tries() { // another server is asked from here on
		g.carried.restarts = 1
		if err := g.pause(ctx); err != nil {
			return err
		}
	}
	g.observe(Restarted{Reason: s.err.Error()})
	g.carried.goesOn, g.result.Resumed = false, 0
	g.carried.continued, g.result.Continued = false, false
	g.carried.forgetOthers()
	g.carried.hear(s.next)
	return g.empty(ctx)
}

// announced asks the server, which refused a range of the known version, whether it has another one. An
// answer that is no success says nothing about the file and withdraws no digest. It is an error if the user's
// digest is not that of the new file.
func (g *getter) announced(ctx context.Context, s *session) (other, answers bool, err error) {
	x, failed := g.req.inquire(ctx, g.http, glance, condition{})
	if failed != nil {
		return false, false, nil
	}
	return version.Compare(g.carried.view(), x.statement().view()).Judgment == version.Other, true,
		s.opposes(join(s.asked, x.file.Claims))
}

// replaced reports whether the server's file is shorter now because a document took its place. That document
// may describe the file that was being downloaded.
func (g *getter) replaced(ctx context.Context, s *session) bool {
	if !errors.Is(s.err, errShrunk) {
		return false
	}
	x, err := g.lookAgain(ctx, partfile.Identity{Size: s.size})
	g.useful = g.useful || g.document
	if err == nil && !g.document && g.req.role() == asOrigin {
		s.looked = &x.answer
	}
	return g.document && err == nil
}

// empty discards the downloaded bytes.
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

// pause waits before the session that follows an unusable one.
func (g *getter) pause(ctx context.Context) error {
	wait := cmp.Or(g.c.RetryWait, time.Second) << min(g.carried.restarts-1, 5)
	select {
	case <-time.After(min(wait, 30*time.Second)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// askHead asks for the header fields with HEAD, because some servers send Digest on HEAD only.
func (g *getter) askHead(ctx context.Context, s *session) error {
	if s.begun { // the next answer to GET shows whether HEAD is of the same version
		g.goOn(s)
	}
	g.carried.head, g.carried.heads = source.Answer{}, g.carried.heads+1
	a, err := g.http.Head(ctx, g.carried.origin, g.req.originOptions(&g.carried, false))
	if err == nil {
		x, err := g.req.resolve(a.Hops, g.req.role(), footing{g.carried.strong(), verify.Strong(g.carried.known.asked)})
		if err == nil && !s.begun && verify.Strong(x.file.Claims) {
			g.carried.update(&g.req, inquiry{resolution: x, answer: a}.statement()) // whatever GET answers
		}
		g.carried.head = a
		g.carried.announced(a)
	}
	return context.Cause(ctx)
}

// mostTouched limits how often a part file is read again because another program wrote to it.
const mostTouched = 3

// reread prepares another session after another program changed the part file. The session keeps the bytes
// that are still as they came and hashes all of them again. reread reports false if the digest is wrong for
// another reason.
func (g *getter) reread(ctx context.Context, s *session) (bool, error) {
	bad, err := g.part.Recheck(ctx)
	if err != nil {
		return false, errors.Join(local(err), s.err)
	}
	if s.how != partTouched && bad.Len() == 0 {
		return false, nil
	}
	g.note("%v: all received bytes are checked again, and %d bytes are fetched again", s.err, bad.Len())
	for r := range bad.All() {
		s.sources.void(r)
		g.observe(Voided{r})
	}
	g.goOn(s)
	return true, nil
}
