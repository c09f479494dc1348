package download

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"braid/internal/partfile"
	"braid/internal/version"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// carried is the state that one session of a Get passes to the next session.
type carried struct {
	revision
	origin    *url.URL       // asked first: the URL of the request, or of a mirror if the server of the request has failed
	changes   int            // how often the file changed during the download
	fallbacks []*url.URL     // mirrors that were not asked yet; nothing shows that they have the origin's file
	tried     []*url.URL     // fallbacks that were asked
	fetches   int            // number of fetches that were begun
	heads     int            // number of HEAD requests
	aside     string         // value of partfile.File.Aside that was last reported to Observe
	refuted   []verify.Claim // digests of earlier runs that the resumed bytes do not have
	takenBack bool           // the server stated two digests, so the journal keeps neither
	opposed   []verify.Claim // digests of the server that contradict the known digests, and so ended this download
	former    []verify.Claim // digests that the asked host stated for earlier versions
}

// tellAside reports to Observe if part has set aside more files since the previous call.
func (p *carried) tellAside(r *Request, part *partfile.File) {
	if why := part.Aside(); why != p.aside {
		p.aside = why
		r.observe(Restarted{Reason: why})
	}
}

// fallBack adds u to the fallbacks. It reports false if u is the origin, or is or was a fallback.
func (p *carried) fallBack(u *url.URL) bool {
	known := append(slices.Concat(p.fallbacks, p.tried), p.origin)
	if slices.ContainsFunc(known, func(o *url.URL) bool { return o.String() == u.String() }) {
		return false
	}
	p.fallbacks = append(p.fallbacks, u)
	return true
}

// refutedBefore reports whether the digest in err, which the file does not match, is also one of an earlier run that the
// resumed bytes do not have, and no ETag shows that these are the server's.
func (p *carried) refutedBefore(err error) bool {
	wrong := wrongOf(err)
	same := func(c verify.Claim) bool { return c.Digest == wrong.Claim.Digest }
	return wrong != nil && (p.tag.etag == "" || p.mixed) && slices.ContainsFunc(p.refuted, same)
}

// nextFallback makes the next fallback the origin. It reports false if no fallback is left.
func (p *carried) nextFallback() bool {
	if len(p.fallbacks) == 0 {
		return false
	}
	p.origin, p.fallbacks = p.fallbacks[0], p.fallbacks[1:]
	p.tried = append(p.tried, p.origin)
	return true
}

// attempts decides whether another session follows a session that failed, and prepares the next session. It counts the
// failures. The facts about the file are in carried, and the received bytes in partial.
type attempts struct {
	*call
	partial  *partial
	restarts int   // how often the received bytes could not be combined with the rest
	touched  int   // how often another program changed the part file
	noRoom   error // why a size was given up: the disk had no space for so many bytes; nil: no size was given up
}

// again prepares another session after s has failed. If nothing is left to try, it returns the error of the download.
func (a *attempts) again(ctx context.Context, s *session) error {
	k := s.facts.known
	// Void ranges must be recorded on disk before another session begins: after a kill, a later run would use their bytes.
	if ctx.Err() == nil && s.end.how != failed && !is[*partfile.SpaceError](s.end.err) {
		if err := s.disk.last.wait(ctx); err != nil {
			return err
		}
	}
	for _, w := range a.happened(s).ways(s.end.how) {
		gone, err := a.try(ctx, w, s)
		switch {
		case errors.Is(err, errOtherNow):
			if err := a.otherNow(s, err); err != nil {
				return err
			}
			return a.again(ctx, s)
		case err != nil:
			return err
		case gone && w.fromStart():
			return a.anew(ctx, s)
		case gone:
			return context.Cause(ctx)
		}
	}
	if s.end.how == noSource && k.restated && a.carried.changes == 0 { // both sizes failed: the file has changed
		asked := k.digests.by(theHost)
		s.end.how, s.answers.next = fileChanged, statement{file: metalink.File{Claims: asked}, pin: k.pin, asked: asked}
		return a.again(ctx, s)
	}
	if s.end.how == noSource && a.noRoom != nil {
		return a.noRoom
	}
	return s.end.err
}

// otherNow ends the session with err, which reports that the server has another file now. It returns an error if the
// user's digest is not that of the new file: the digest may be mistyped, so the existing bytes are kept.
func (a *attempts) otherNow(s *session, err error) error {
	s.end.how, s.end.err = fileChanged, err
	if now, ok := errors.AsType[*otherNowError](err); ok {
		s.answers.next.file.Claims, s.answers.next.host = now.claims, now.host
	}
	return s.answers.opposes(s.answers.next.file.Claims)
}

// happened counts how s ended, and returns the history that decides about the next session.
func (a *attempts) happened(s *session) history {
	p := a.carried
	switch s.end.how {
	case fileChanged:
		p.changes++
	case notMergeable:
		a.restarts++
	case partTouched:
		a.touched++
	}
	return history{
		changes: p.changes, restarts: a.restarts, tries: a.c.tries(), touched: a.touched,
		single: p.single, several: s.sources.several(), stoodIn: s.standIn(),
		pipe: a.req.inOrder(), out: a.req.Stream != nil && s.facts.streamed(),
		byPieces: a.req.provenByPieces(), listed: a.req.listed(), contradicted: s.proving.contradicted(),
		contested: a.carried.strong() && a.carried.sizeBy < byUser,
		nearby:    a.result.Resumed > 0 && (len(p.digests.used(ties)) > 0 || p.refutedBefore(s.end.err)),
		digest:    s.facts.known.strong(), mixed: p.mixed, recalled: p.recalls(s.end.err), heads: p.heads, drops: p.drops,
	}
}

// try applies the recovery strategy w and reports whether it could be applied. An error ends the download.
func (a *attempts) try(ctx context.Context, w way, s *session) (gone bool, err error) {
	switch w {
	case askHead:
		return true, a.askHead(ctx, s)
	case dropSize:
		return a.dropSize(ctx, s)
	case dropRecalled:
		return true, a.dropRecalled(ctx, s)
	case nextVersion:
		return a.nextVersion(ctx, s)
	case withoutServer:
		return leaveServer(s), nil
	case compareSamples:
		return a.continueBroken(ctx, s)
	case beginAnew:
		return true, nil
	case reread:
		return a.reread(ctx, s)
	case findWrong:
		return a.carried.damage.repair(ctx, s)
	case singleSource:
		return trySingle(s), nil
	case standIn:
		return a.standIn(ctx, s)
	case withoutPieces:
		return rejectPieces(s), nil
	case askPeers:
		return a.rescue(ctx, s), nil
	case blamePlace:
		if o := s.sources.first(); o != nil { // the place was asked alone
			s.sources.ban(o, "%w", s.end.err)
			a.req.observe(SourceDown{ID: o.id, URL: o.masked, Host: o.host, Err: o.err, Banned: true})
		}
	case blameDocument:
		err := fmt.Errorf("in %s, the digests of the pieces match, but the digest of the whole file does not",
			s.proving.hashing.pieces.from)
		return false, a.req.fail(Protocol, err, "get the document again from its publisher")
	case keepRefuted:
		return false, a.refute(ctx, s)
	case discard:
		return false, errors.Join(cmp.Or(a.carried.wrong, s.end.err), a.discard(ctx, s))
	}
	return false, nil
}

// nextVersion discards the facts about the previous version of the file. If the server only refused a range, and a
// digest is known, nextVersion first asks the server whether it has another version. If the server does not answer,
// answers is false and the facts stay. The error is that the user's digest contradicts that of the new file.
func (a *attempts) nextVersion(ctx context.Context, s *session) (answers bool, err error) {
	other, answers := true, true
	if errors.Is(s.end.err, errShrunk) && s.facts.known.strong() {
		x, failed := inquire(ctx, a.http, a.req, glance, condition{}, a.carried.spoken())
		if other, answers = false, failed == nil; answers {
			other = version.Compare(a.carried.view(), x.statement().view()).Judgment == version.Other
			err = s.answers.opposes(join(s.facts.known.digests.by(theHost), x.file.Claims))
		}
	}
	if other && err == nil {
		renewAfter(a.carried, a.req, s)
	}
	if s.answers.looked != nil { // after the change
		a.carried.head, a.carried.heads = *s.answers.looked, a.carried.heads+1
	}
	return answers, err
}

// leaveServer bans the first source of s, if it refused a range and other places are left, and reports whether it did.
func leaveServer(s *session) bool {
	o := s.sources.first()
	if !errors.Is(s.end.err, errShrunk) || !s.facts.known.strong() || o == nil || places(s) < 2 {
		return false
	}
	s.sources.ban(o, "%w", s.end.err)
	goOn(s)
	return true
}

// anew makes the session after s start at the first byte.
func (a *attempts) anew(ctx context.Context, s *session) error {
	switch {
	case a.req.IfExists.Refresh && a.result.Resumed > 0:
		return a.partial.keepRefreshed(s.end.err)
	case a.req.base != nil && a.req.base.begun:
		return a.inTheWay("cannot be resumed: " + s.end.err.Error())
	}
	if s.end.how == notMergeable && a.restarts >= a.c.tries() { // the next server has its own tries
		a.restarts = 1
		if err := a.pause(ctx); err != nil {
			return err
		}
	}
	a.req.observe(Restarted{Reason: s.end.err.Error()})
	a.carried.goesOn, a.result.Resumed = false, 0
	a.carried.digests.forget(ties)
	a.carried.continued, a.result.Continued = false, false
	a.carried.forgetOthers()
	if s.facts.originAnswered && s.end.how != fileChanged {
		a.carried.take(*a.result)
	}
	a.carried.hear(s.answers.next)
	return a.partial.empty(ctx)
}

// replaced reports whether the server now sends a document in place of the file, so that the file seems to be shorter.
// The document may describe the file that was being downloaded.
func (a *attempts) replaced(ctx context.Context, s *session) bool {
	if !errors.Is(s.end.err, errShrunk) {
		return false
	}
	x, err := a.lookAgain(ctx, partfile.Identity{Size: s.facts.known.size})
	a.partial.useful = a.partial.useful || a.document
	if err == nil && !a.document && a.req.role() == asOrigin {
		s.answers.looked = &x.answer
	}
	return a.document && err == nil
}

// pause waits before the next session, longer after each restart.
func (a *attempts) pause(ctx context.Context) error {
	wait := cmp.Or(a.c.RetryWait, time.Second) << min(a.restarts-1, 5)
	select {
	case <-time.After(min(wait, 30*time.Second)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// askHead asks the origin for its header fields with HEAD, because some servers send Digest on HEAD only.
func (a *attempts) askHead(ctx context.Context, s *session) error {
	if s.facts.begun { // the next answer to GET shows whether the answer to HEAD is of the same version
		goOn(s)
	}
	a.carried.head, a.carried.heads = source.Answer{}, a.carried.heads+1
	head, err := a.http.Head(ctx, a.carried.origin, a.req.originOptions(a.carried, false))
	if err == nil {
		k := a.carried.known
		x, err := a.req.resolve(head.Hops, a.req.role(), footing{k.strong(), a.carried.spoken()})
		if err == nil && !s.facts.begun && verify.Strong(x.file.Claims) {
			a.carried.update(a.req, a.http.state, inquiry{resolution: x, answer: head}.statement())
		}
		a.carried.head = head
		a.carried.announced(head)
	}
	return context.Cause(ctx)
}

// mostTouched limits how often a part file is read again because another program wrote to it.
const mostTouched = 3

// reread prepares another session after another program changed the part file. The session keeps the bytes that have
// not changed since they were received, and hashes these bytes again. reread reports false if the digest is wrong
// although no bytes have changed.
func (a *attempts) reread(ctx context.Context, s *session) (bool, error) {
	bad, err := a.partial.part.Recheck(ctx)
	if err != nil {
		return false, errors.Join(local(err), s.end.err)
	}
	if s.end.how != partTouched && bad.Len() == 0 {
		return false, nil
	}
	a.req.note("%v: all received bytes are checked again, and %d bytes are fetched again", s.end.err, bad.Len())
	for r := range bad.All() {
		s.sources.void(r)
		a.req.observe(Voided{r})
	}
	goOn(s)
	return true, nil
}

// continueBroken makes the next session resume after the server broke off, if samples of the received bytes are the
// same when fetched again. It reports whether the next session resumes. The error is that the server did not answer
// several attempts. resumeUnproven does the same for the bytes of an earlier run.
func (a *attempts) continueBroken(ctx context.Context, s *session) (bool, error) {
	if err := a.pause(ctx); err != nil {
		return false, err
	}
	id, have := s.facts.identity(), s.part.Have()
	if a.req.inOrder() || s.standIn() || s.facts.proves() || have.FirstGap(0) == 0 || !mayContinue(a.req, id) {
		return false, nil
	}
	parts := samplesOf(have, manySamples)
	err := a.sameSamples(ctx, id, a.partial.part, parts)
	for ; err != nil && unanswered(err) && ctx.Err() == nil; err = a.sameSamples(ctx, id, a.partial.part, parts) {
		if a.restarts++; a.restarts >= a.c.tries() {
			return false, err
		}
		if err := a.pause(ctx); err != nil {
			return false, err
		}
	}
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err != nil:
		a.req.note("the download starts over: %v", err)
		return false, nil
	}
	a.req.note("the transfer was cut off, and the server sends neither a digest nor a strong ETag: " +
		"resuming, as size, date and samples match")
	if front := have.FirstGap(0); front > a.carried.brokenAt { // after progress, the tries are counted from 0 again
		a.carried.brokenAt, a.restarts = front, 0
	}
	goOn(s)
	a.carried.continued, a.result.Continued = true, true
	return true, nil
}
