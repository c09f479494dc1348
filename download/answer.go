package download

import (
	"context"
	"slices"
	"time"

	"braid/byterange"
	"braid/internal/version"
	"braid/metalink"
	"braid/scheduler"
	"braid/source"
	"braid/verify"
)

// reply returns the reply to an answer.
func (s *session) reply(m message, f *flight) reply {
	if err := s.checkAnswer(m.id, f, *m.answer); err != nil {
		return reply{err: err}
	}
	a := m.answer
	return reply{
		awaited: a.End < 0 && (len(a.Content) > 0 || !s.facts.known.strong()),
		front:   frontOf(s.call, s.part, f.from, *a),
	}
}

// checkAnswer checks the header of an answer before any byte of its body. An error refuses the body.
func (s *session) checkAnswer(id scheduler.FetchID, f *flight, a source.Answer) error {
	if f.sink.limit.Load() == 0 { // the fetch was cancelled before its answer
		return abandoned(a, errRefused)
	}
	o := f.from
	if a.Host != "" {
		o.host = a.Host
	}
	if err := s.compareAnswer(o, a); err != nil {
		return err
	}
	if s.answers.dated(s.sources.askedDate(), o, a) && (o.last == 0 || f.lane != o.last) {
		return errDated
	}
	o.shows(a, s.facts.known.digests.counting())
	if s.answers.lead == nil {
		s.answers.lead, s.answers.leader = &a, o
	}
	if !o.up {
		o.up = true
		s.trees.record(o.tree, true)
		s.req.observe(SourceUp{ID: o.id, URL: o.masked, Host: o.host, RTT: a.RTT, Whole: !a.Ranged && f.at > 0})
	}
	s.req.observe(RangeAnswered{Fetch: f.number, ID: o.id, Host: o.host, RTT: a.RTT})
	f.answer = a
	if !a.Ranged { // the whole file is sent; the scheduler limits how much of it is written
		f.sink.limit.Store(byterange.Unbounded)
	}
	s.step(scheduler.Answered{Fetch: id, Host: a.Host, RTT: a.RTT, Size: a.Size, Ranged: a.Ranged})
	if s.end.how != ongoing {
		return s.end.err
	}
	if s.choice.due && !(s.pipes() && s.proving.aside.asking) { // a pipe needs the document's pieces first
		s.choice.addMirrors()
	}
	s.proving.usePieces()
	s.proving.askDocument()
	if f.sink.limit.Load() == 0 {
		return errRefused
	}
	return nil
}

// compareAnswer compares an answer with the known facts of the file. The first answer establishes them.
func (s *session) compareAnswer(o *origin, a source.Answer) error {
	switch {
	case a.NotModified:
		s.result.ETag, s.result.LastModified = a.ETag, a.LastModified
		s.result.NotModified, s.end.done = true, true
		return errRefused
	case !s.facts.begun && o.first:
		return s.resolveFile(o, a)
	case !s.facts.begun:
		return s.assumeFile(o, a)
	case o.first:
		if err := s.checkOrigin(o, a); err != nil {
			return err
		}
	default:
		if err := s.answers.checkMirror(o, a); err != nil {
			return err
		}
	}
	learnt := s.facts.known.size < 0 && a.Size >= 0
	if learnt {
		if err := s.facts.refuseSize(o, a.Size); err != nil && s.facts.known.strong() {
			return err
		}
		s.facts.known.learnSize(a.Size, s.answers.sizeRank(o, a), o.url)
		if err := s.proving.lacksSignature(); err != nil && s.carried.signed.all != nil {
			return s.stop(err)
		}
	}
	if learnt || s.part.Useless() {
		return s.facts.reserve()
	}
	return nil
}

// checkOrigin compares another answer of the origin with its earlier answers. A missing field is not a change.
func (s *session) checkOrigin(o *origin, a source.Answer) error {
	k := s.facts.known
	x, err := s.answers.read(o, a, s.facts.trusted())
	switch {
	case err != nil:
		return err
	case x.nature == aDocument && !s.facts.originAnswered:
		return s.end.early(gotDocument, errRefused)
	case x.nature == aDocument:
		return s.end.early(fileChanged, changed("the server now sends a Metalink document"))
	}
	st := s.answers.statementOf(o, x, a)
	if err := s.answers.compareWithUser(o, x.file.Claims); err != nil {
		return err
	}
	if err := verify.Agree(k.digests.firm(), x.file.Claims); err != nil { // the server's claims, also if a mirror answers
		if !s.facts.mayAnnounce(a.Hops, x.file.Claims) {
			return mismatch(o, "%w", err)
		}
		s.answers.next = st
		return s.end.early(fileChanged, changed(err.Error()))
	}
	if err := s.fits(o, x, st, a); err != nil {
		if s.end.how == ongoing { // the server's facts count even if a mirror sent a wrong answer
			s.heed(x)
		}
		return err
	}
	if !s.facts.originAnswered {
		both, err := s.answers.checkPin(s.ctx, o, x)
		if err != nil {
			return s.stop(err)
		}
		if x.file.Documents = both.file.Documents; verify.Agree(k.digests.firm(), both.file.Claims) == nil {
			x.file.Claims, x.asked = both.file.Claims, both.asked
		}
		k.pin = k.pin.Raise(pinOf(both.own))
	}
	k.digests.add(theHost, noted, x.asked)
	s.facts.mixElsewhere(x, a)
	if !s.facts.originAnswered {
		s.originAnswers(o, x, st, a)
	} else if s.roleOf(o) == asOrigin && s.proving.corroborate(x.file.Claims) { // not every answer of the server has the digest
		s.facts.describe()
	}
	return nil
}

// originAnswers uses the first answer of the origin, if an earlier session or run, or a mirror, began the file.
func (s *session) originAnswers(o *origin, x resolution, st statement, a source.Answer) {
	k := s.facts.known
	s.facts.originAnswered, s.choice.due, s.carried.copied = true, true, x.decides()
	s.carried.looking.begin(&s.proving, o, x, a)
	if s.roleOf(o) == asOrigin {
		k.file = x.file
		if st.size >= 0 && st.size == k.size && st.sizeBy > k.sizeBy { // another party gave the size before
			k.learnSize(st.size, st.sizeBy, st.at)
			s.facts.describe()
		}
	}
	if s.proving.corroborate(x.file.Claims) {
		s.facts.describe()
	}
	s.facts.retag(st, s.fetches.coming())
	s.result.describe(a)
	s.facts.announce()
	s.proving.askSignatures()
}

// fits compares an answer of the origin with the file being fetched. The caller has already compared the digests.
func (s *session) fits(o *origin, x resolution, st statement, a source.Answer) error {
	k := s.facts.known
	switch {
	case x.wrong != nil:
		return mismatch(o, "%w", x.wrong)
	case differs(a.Size, k.size) && (k.guessed() || st.sizeBy < byServer):
		return s.answers.otherSize(o, a)
	}
	if k.contradict(st.file.Claims) {
		s.proving.rehash()
	}
	how, err := s.answers.sameAsBefore(o, st, a)
	switch {
	case how == ongoing:
		return err
	case (how == fileChanged || how == sizeDisowned) && !s.facts.mayAnnounce(a.Hops, x.file.Claims):
		return mismatch(o, "%v", err) // formatted with %v, as a wrapped err would end the download
	case how == sizeDisowned:
		k.stated, k.restated = st.size, true
	case how == notMergeable && !s.req.inOrder() && s.answers.wantsHead(o, x, a): // a digest would decide
		return s.end.early(wantsHead, errRefused)
	}
	s.answers.next = st
	return s.end.early(how, err)
}

// otherSize refuses an answer with another size than the known one. If a party of lower rank stated the known size,
// another session tries the size in the answer.
func (s *answers) otherSize(o *origin, a source.Answer) error {
	k := s.facts.known
	o.claimed = a.Size
	if err := verify.Agree(k.digests.counting(), a.Claims); err != nil {
		return otherDigest(o, err)
	}
	if k.guessed() && s.sizeRank(o, a) > k.sizeBy && !slices.Contains(k.tried, a.Size) {
		return s.end.early(sizeDisowned, changed("the server gives a size other than the assumed one"))
	}
	if !k.guessed() && s.roleOf(o) == asOrigin && !k.strong() { // a retry may lead to the known host
		return &source.Error{URL: o.masked, Host: a.Host, Fault: source.FaultNetwork, Retry: true, Err: errOtherHost}
	}
	return mismatch(o, "the file has %d bytes there, not %d", a.Size, k.size)
}

// sameAsBefore compares an answer with earlier answers of the same server. An outcome other than ongoing must end the
// session; otherwise an error refuses the answer.
func (s *answers) sameAsBefore(o *origin, st statement, a source.Answer) (outcome, error) {
	k := s.facts.known
	known := k.view()
	v := version.Compare(known, st.view())
	bothTags := known.ETag != "" && st.tag.etag != ""
	switch {
	case v.Judgment == version.Same:
		return ongoing, nil
	case v.Judgment == version.Other && s.roleOf(o) != asOrigin: // the mirror has another version; the origin may not
		return ongoing, mismatch(o, "%w", v.Why)
	case v.By == version.BySize && verify.Strong(common(k.digests.firm(), st.file.Claims)) && !slices.Contains(k.tried, st.size):
		// The version is the same: its digest decides which size is right.
		return sizeDisowned, changed("the server gives another size for the same digest")
	case v.By == version.BySize && st.host != k.host && !at(st.host, s.req.URL) && k.strong():
		// A host other than the one whose version is known has another file. That does not mean that the known file has
		// changed, unless the host is that of the URL itself.
		return ongoing, mismatch(o, "%w", v.Why)
	case v.By == version.ByDate && (k.strong() || !bothTags), v.Judgment == version.Unproven && !bothTags:
		return s.untied(st, a)
	case v.Judgment == version.Unproven:
		return s.otherHost(st)
	case v.By == version.ByETag && k.digestBy() == byUser: // some servers change their ETag with each answer
		s.facts.mix()
		return ongoing, nil
	}
	return fileChanged, changed(v.Why.Error())
}

// otherHost checks an answer of a host other than the one that gave the known ETag.
func (s *answers) otherHost(st statement) (outcome, error) {
	k := s.facts.known
	have := s.part.Have()
	switch {
	case k.strong(), verify.Strong(st.file.Claims): // the digest decides
		s.facts.mix()
		return ongoing, nil
	case s.fetches.others(): // a retry may lead to the known host
		return ongoing, &source.Error{URL: source.Mask(s.req.URL), Host: st.tag.host, Fault: source.FaultNetwork,
			Retry: true, Err: errOtherHost}
	case have.Len() == 0: // there are no bytes of another answer
		k.tag, k.date, k.host = st.tag, st.date, st.host
		return ongoing, nil
	}
	return notMergeable, noMerge(errOtherHost.Error(), nil)
}

// untied checks an answer for which no ETag or common digest shows that it is of the same version as the existing
// bytes. Bytes of different versions must not be combined.
func (s *answers) untied(st statement, a source.Answer) (outcome, error) {
	have := s.part.Have()
	switch {
	case have.Len() == 0:
		return ongoing, nil
	case s.facts.tied(), verify.Strong(st.file.Claims): // the digest decides
		s.facts.mix()
		return ongoing, nil
	// Otherwise the samples are compared first.
	case s.carried.continued && s.carried.goesOn && (s.sources.last == nil || s.fetches.others()):
		if a.Host != s.carried.answeredBy || !a.LastModified.Equal(s.carried.answered) {
			return fileChanged, changed("another server answers, or Last-Modified differs")
		}
		return ongoing, nil
	}
	return notMergeable, noMerge(unmergeable, s.sources.last)
}

// typedBoth reports whether the user typed the URLs of the origin and of o. Their ETags then count as shared.
func (s *answers) typedBoth(o *origin, host string) bool {
	return o.user && s.req.Described == nil && at(host, o.url) && at(s.facts.known.host, s.carried.origin)
}

// checkMirror rejects a mirror of another file before any byte of its body (RFC 6249, sections 3.3 and 7).
func (s *answers) checkMirror(o *origin, a source.Answer) error {
	k := s.facts.known
	if s.req.natureOf(a.Hops, s.roleOf(o)) == anotherFile {
		return mismatch(o, "%w", errInPlace)
	}
	if k.strong() && a.Size >= 0 && !k.bound() {
		if err := s.facts.refuseSize(o, a.Size); err != nil {
			return err
		}
		if k.guessed() && a.Size != k.size {
			return s.otherSize(o, a)
		}
	}
	theirs := viewOf(a)
	theirs.Shares = o.pref || s.typedBoth(o, a.Host)
	v := version.Compare(k.view(), theirs)
	switch {
	case v.Judgment == version.Other && v.By <= version.BySize:
		return sameFile(o, a, k.view().Size, k.digests.counting())
	case v.Judgment == version.Same && (s.facts.tied() || !otherDate(s.sources.askedDate(), o, a)):
		if v.By == version.ByDigest && !k.sharesTag(theirs) {
			s.facts.mix()
		}
		return nil
	case a.IfMatchFailed, o.pref && v.By == version.ByETag:
		return mismatch(o, "another version: its ETag differs, and it has no digest")
	case !s.facts.tied():
		s.carried.fallBack(o.url)
		return errUntied
	case s.pipes() && !s.mayFeed(o, a):
		return errLoose
	}
	s.facts.mix()
	return nil
}

// dated reports whether a mirror's date differs from asked, that of the asked server, and no digest or shared ETag
// shows the same version.
func (s *answers) dated(asked time.Time, o *origin, a source.Answer) bool {
	k := s.facts.known
	now := a.LastModified
	if o.first || asked.IsZero() || now.IsZero() || now.Equal(asked) || verify.Strong(common(k.digests.counting(), a.Claims)) {
		return false
	}
	etag := metalink.StrongETag(a.ETag)
	return !o.pref || etag == "" || etag != k.tag.etag
}

// otherDate reports whether a mirror's Last-Modified differs from asked, that of the asked server, or from an earlier
// date of the mirror. Without a digest, that means another version, even with the same ETag.
func otherDate(asked time.Time, o *origin, a source.Answer) bool {
	other := func(t time.Time) bool { return !t.IsZero() && !a.LastModified.IsZero() && !t.Equal(a.LastModified) }
	return other(asked) || other(o.showing.Modified)
}

// askedDate returns the Last-Modified of the asked server; zero if it gave none itself.
func (x *sources) askedDate() time.Time {
	if o := x.first(); o != nil && o.showing.Asked {
		return o.showing.Modified
	}
	return time.Time{}
}

// pipes reports whether bytes leave through a pipe before anything has proven them.
func (c *call) pipes() bool {
	return c.req.Stream != nil && !c.req.provenByPieces() && (c.carried.pieces.IsZero() || c.carried.piecesRejected)
}

// mayFeed reports whether the bytes of a may go into the same pipe as the bytes of lead. An answer of another server
// must have the known digest, the known ETag (of the same host, or shared), or the known size and the date of lead.
func (s *answers) mayFeed(o *origin, a source.Answer) bool {
	k := s.facts.known
	t, sized := tagOf(metalink.File{}, a), a.Size >= 0 && a.Size == k.size
	switch {
	case s.lead == nil || s.leader == o || o.swarm || verify.Strong(common(k.digests.counting(), a.Claims)):
		return true
	case t.etag != "" && t.etag == k.tag.etag && (o.pref || t.host == k.tag.host || sized && s.typedBoth(o, t.host)):
		return true
	}
	return sized && !a.LastModified.IsZero() && a.LastModified.Equal(s.lead.LastModified)
}

// checkPin compares the server's evidence with the earlier offers of the URL. It returns x with the evidence of a HEAD.
func (s *answers) checkPin(ctx context.Context, o *origin, x resolution) (resolution, error) {
	if s.roleOf(o) != asOrigin {
		return x, nil
	}
	return s.c.checkBoth(ctx, s.http, s.req, x, s.facts.known.offers, head)
}
