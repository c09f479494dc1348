package download

import (
	"fmt"
	"time"

	"braid/byterange"
	"braid/metalink"
	"braid/scheduler"
	"braid/source"
	"braid/verify"
)

// reply makes the answer to a fetch. Its sink gets all that it needs: the fetch may be cancelled, and does not wait for it.
func (s *session) reply(m message, f *flight) reply {
	if err := s.checkAnswer(m.id, f, *m.answer); err != nil {
		return reply{err: err}
	}
	a := m.answer
	return reply{
		awaited: a.End < 0 && (len(a.Content) > 0 || !verify.Strong(s.claims)),
		front:   s.frontOf(f.from, *a),
	}
}

// checkAnswer checks the header of an answer before any byte of its body. An error refuses the body.
func (s *session) checkAnswer(id scheduler.FetchID, f *flight, a source.Answer) error {
	if f.sink.limit.Load() == 0 { // cancelled before it answered
		return errRefused
	}
	o := f.from
	if a.Host != "" {
		o.host = a.Host
	}
	if err := s.compareAnswer(o, a); err != nil {
		return err
	}
	if s.dated(o, a) && (o.last == 0 || f.lane != o.last) {
		return errDated
	}
	o.shows(a, s.claims)
	if s.lead == nil {
		s.lead, s.leader = &a, o
	}
	if !o.up {
		o.up = true
		s.trees.record(o.tree, true)
		s.observe(SourceUp{ID: o.id, URL: o.masked, Host: o.host, RTT: a.RTT, Whole: !a.Ranged && f.at > 0})
	}
	s.observe(RangeAnswered{Fetch: f.number, ID: o.id, Host: o.host, RTT: a.RTT})
	f.answer = a
	if !a.Ranged { // the whole file comes; the scheduler limits how much of it is taken
		f.sink.limit.Store(byterange.Unbounded)
	}
	s.step(scheduler.Answered{Fetch: id, Host: a.Host, RTT: a.RTT, Size: a.Size, Ranged: a.Ranged})
	if s.how != ongoing {
		return s.err
	}
	if s.newMirrors && !(s.pipes() && s.aside.asking) { // else the document comes first: its pieces let all mirrors feed a pipe
		s.addMirrors()
	}
	s.usePieces()
	s.askDocument()
	if f.sink.limit.Load() == 0 {
		return errRefused
	}
	return nil
}

// compareAnswer compares an answer with what is known of the file. The first answer makes it known.
func (s *session) compareAnswer(o *origin, a source.Answer) error {
	switch {
	case a.NotModified:
		s.result.ETag, s.result.LastModified = a.ETag, a.LastModified
		s.result.NotModified, s.done = true, true
		return errRefused
	case !s.known && o.first:
		return s.resolveFile(o, a)
	case !s.known:
		return s.assumeFile(o, a)
	case o.first:
		if err := s.checkOrigin(o, a); err != nil {
			return err
		}
	default:
		if err := s.checkMirror(o, a); err != nil {
			return err
		}
	}
	if s.size < 0 && a.Size >= 0 {
		s.size = a.Size
		return s.reserve()
	}
	return nil
}

// checkOrigin compares another answer of the origin with what it said before. A change is another version of the file; an answer
// that says less is not.
func (s *session) checkOrigin(o *origin, a source.Answer) error {
	x, err := s.req.resolve(a.Hops, s.roleOf(o), s.trusted())
	switch {
	case err != nil:
		return err
	case x.nature == aDocument && !s.originAnswered:
		return s.end(gotDocument, errRefused)
	case x.nature == aDocument:
		return s.end(fileChanged, changed("it answers with a Metalink document now"))
	case x.wrong != nil:
		return mismatch(o, "%w", x.wrong)
	}
	file := x.file
	if err := s.compareWithUser(o, file.Claims); err != nil {
		return err
	}
	if elsewhere(file, a) && differs(a.Size, s.size) { // the mirror has another file (RFC 6249, section 7)
		return mismatch(o, "the file has %d bytes there, not %d", a.Size, s.size)
	}
	if how, err := s.sameAsBefore(a, file); how != ongoing {
		return s.end(how, err)
	} else if err != nil {
		return err
	}
	if err := s.checkPin(o, file); err != nil && !s.originAnswered {
		return s.stop(err)
	}
	if !s.originAnswered { // in this run, of a download that goes on or that a mirror began
		s.originAnswered, s.newMirrors = true, true
		file.Size = a.Size
		s.file = file
		s.corroborate(file.Claims)
		if tag := tagOf(file, a); tag.etag != "" {
			s.tag, s.date = tag, dateOf(file, a)
		}
		s.result.ETag, s.result.LastModified, s.result.Host = a.ETag, a.LastModified, a.Host
		s.trees.add(file)
		s.observe(Offered{File: file})
		s.askSignatures()
	}
	return nil
}

// sameAsBefore compares an answer with earlier ones of the same server. With an outcome the session has to end; an error without
// one refuses the answer.
func (s *session) sameAsBefore(a source.Answer, file metalink.File) (outcome, error) {
	if differs(a.Size, s.size) {
		if s.assumed && !s.originAnswered {
			return notMergeable, noMerge("the mirror that answered before the server has another file", nil)
		}
		return fileChanged, changed(fmt.Sprintf("%d bytes instead of %d", a.Size, s.size))
	}
	if err := verify.Agree(s.claims, file.Claims); err != nil {
		return fileChanged, changed(err.Error())
	}
	strong := verify.Strong(s.claims) && verify.Strong(file.Claims)
	tag := tagOf(file, a)
	switch {
	case strong:
		return ongoing, nil
	case tag == s.tag && tag.etag != "":
		return s.sameDate(dateOf(file, a))
	case tag.etag == "" || s.tag.etag == "":
		return s.untied(a)
	case tag.host != s.tag.host:
		return s.otherHost(tag)
	}
	return fileChanged, changed("another ETag")
}

// otherHost checks an answer of another host than the one that gave the known ETag.
func (s *session) otherHost(t tag) (outcome, error) {
	have := s.part.Have()
	switch {
	case verify.Strong(s.claims): // which decides
		return ongoing, nil
	case s.fetches.others(): // the next request to the server may be led back
		return ongoing, &source.Error{URL: source.Mask(s.req.URL), Host: t.host, Fault: source.FaultNetwork, Retry: true, Err: errOtherHost}
	case have.Len() == 0: // nothing is here that would have to be put together with it
		s.tag = t
		return ongoing, nil
	}
	return notMergeable, noMerge(errOtherHost.Error(), nil)
}

// untied checks an answer that neither a digest nor an ETag ties to the bytes that are here: they must not be put together.
func (s *session) untied(a source.Answer) (outcome, error) {
	have := s.part.Have()
	switch p := s.carried.prior; {
	case verify.Strong(s.claims) || have.Len() == 0:
		return ongoing, nil
	case s.carried.continued && p != nil && (s.sources.last == nil || s.fetches.others()): // else its samples come first
		if a.Host != p.Host || !a.LastModified.Equal(p.Date) {
			return fileChanged, changed("another server or Last-Modified")
		}
		return ongoing, nil
	}
	return notMergeable, noMerge(unmergeable, s.sources.last)
}

// ties reports whether a mirror's ETag shows that it has the server's version: both hosts gave the same ETag, or the user typed the
// URLs of both.
func (s *session) ties(o *origin, t tag) bool {
	typed := o.user && s.req.Described == nil && at(t.host, o.url) && at(s.tag.host, s.carried.origin)
	return t.etag != "" && t.etag == s.tag.etag && (t.host == s.tag.host || typed)
}

// checkMirror rejects a mirror that has another file, before the first byte of its body (RFC 6249, sections 3.3 and 7).
func (s *session) checkMirror(o *origin, a source.Answer) error {
	if s.req.natureOf(a.Hops, s.roleOf(o)) == anotherFile {
		return mismatch(o, "%w", errInPlace)
	}
	if err := sameFile(o, a, s.size, s.claims); err != nil {
		return err
	}
	same := verify.Strong(common(s.claims, a.Claims))
	t := tagOf(metalink.File{}, a)
	switch {
	case same:
		return nil
	case a.IfMatchFailed:
		return mismatch(o, "stale: its ETag is another one and it gives no digest")
	case o.pref && t.etag != "" && s.tag.etag != "" && t.etag != s.tag.etag:
		return mismatch(o, "stale: its ETag is another one and it gives no digest")
	case !s.tied() && (!s.ties(o, t) || s.otherDate(o, a)):
		s.carried.fallBack(o.url)
		return errUntied
	case s.pipes() && !s.mayFeed(o, a):
		return errLoose
	}
	return nil
}

// dated reports whether a mirror's date contradicts that of the asked server, and nothing else shows that it has the same version.
func (s *session) dated(o *origin, a source.Answer) bool {
	asked := s.askedDate()
	if o.first || asked.IsZero() || a.LastModified.IsZero() || a.LastModified.Equal(asked) || verify.Strong(common(s.claims, a.Claims)) {
		return false
	}
	etag := metalink.StrongETag(a.ETag)
	return !o.pref || etag == "" || etag != s.tag.etag
}

// otherDate reports whether a mirror's Last-Modified differs from the asked server's, or from the mirror's own earlier one. Without
// a digest that is another version, also with the same ETag.
func (s *session) otherDate(o *origin, a source.Answer) bool {
	other := func(t time.Time) bool { return !t.IsZero() && !a.LastModified.IsZero() && !t.Equal(a.LastModified) }
	return other(s.askedDate()) || other(o.showing.modified)
}

// askedDate returns the Last-Modified of the asked server; zero if it gave none itself.
func (s *session) askedDate() time.Time {
	if o := s.sources.first(); o != nil && o.showing.asked {
		return o.showing.modified
	}
	return time.Time{}
}

// pipes reports whether bytes leave through a pipe before anything has proven them.
func (s *session) pipes() bool {
	return s.req.Stream != nil && !s.req.provenByPieces() && (s.carried.pieces.IsZero() || s.carried.piecesRejected)
}

// mayFeed reports whether bytes of an answer may go into the same pipe as those of the first one: the digest ties them, an ETag
// that the server promised to share (pref; RFC 6249, section 3.3) or that of a mirror which the user named, or date and size.
func (s *session) mayFeed(o *origin, a source.Answer) bool {
	t := tagOf(metalink.File{}, a)
	switch {
	case s.lead == nil || s.leader == o || o.swarm || verify.Strong(common(s.claims, a.Claims)):
		return true
	case o.pref && t.etag != "" && t.etag == s.tag.etag, s.ties(o, t):
		return true
	}
	sized := a.Size >= 0 && a.Size == s.size
	return sized && !a.LastModified.IsZero() && a.LastModified.Equal(s.lead.LastModified)
}

// frontOf returns the front of an answer, or nil if nothing has to be held back: a document was asked for, or the bytes before are
// not here.
func (s *session) frontOf(o *origin, a source.Answer) *front {
	if !s.req.follows() || isXML(s.req.URL) || o.swarm || a.Start >= sniffSize {
		return nil
	}
	f := &front{held: make([]byte, a.Start), written: a.Start}
	if have := s.part.Have(); !have.Contains(byterange.Range{End: a.Start}) {
		return nil
	}
	if !s.req.mayReplace(a.Hops, s.roleOf(o)) {
		f.refusal = mismatch(o, "%w", errInPlace)
	}
	return f
}

// tied reports whether a digest of the whole file, or its pieces, prove all answers together.
func (s *session) tied() bool { return verify.Strong(s.claims) || s.req.provenByPieces() }

// trusted reports whether a strong digest came from the user or over https: then a redirect to http does no harm.
func (s *session) trusted() bool { return vouched(s.claims) || vouched(s.req.Claims) }

// compareWithUser compares the server's digests with the user's. A contradiction ends the session, but for a place of a document, which is
// one of several.
func (s *session) compareWithUser(o *origin, claims []verify.Claim) error {
	err := verify.Agree(s.req.Claims, claims)
	switch {
	case err == nil:
		return nil
	case s.req.Described != nil:
		return otherDigest(o, err)
	}
	return s.stop(fail(Mismatch, "verify", o.masked, err, "the server has another file than the one that was asked for"))
}

// checkPin compares what the server offers to verify the file with with what the URL offered before.
func (s *session) checkPin(o *origin, file metalink.File) error {
	if !o.first || s.standIn() || s.req.NoMetalink {
		return nil
	}
	s.carried.offered = pinOf(file)
	return s.c.checkPin(s.req, s.carried.offered)
}
