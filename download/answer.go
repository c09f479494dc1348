package download

import (
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
		awaited: a.End < 0 && (len(a.Content) > 0 || !s.strong()),
		front:   s.frontOf(f.from, *a),
	}
}

// checkAnswer checks the header of an answer before any byte of its body. An error refuses the body.
func (s *session) checkAnswer(id scheduler.FetchID, f *flight, a source.Answer) error {
	if f.sink.limit.Load() == 0 { // the fetch was cancelled before its answer
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
	o.shows(a, s.digests.counting())
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
	if !a.Ranged { // the whole file is sent; the scheduler limits how much of it is written
		f.sink.limit.Store(byterange.Unbounded)
	}
	s.step(scheduler.Answered{Fetch: id, Host: a.Host, RTT: a.RTT, Size: a.Size, Ranged: a.Ranged})
	if s.how != ongoing {
		return s.err
	}
	if s.newMirrors && !(s.pipes() && s.aside.asking) { // for a pipe, mirrors are added once the pieces of the document are known
		s.addMirrors()
	}
	s.usePieces()
	s.askDocument()
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
		s.result.NotModified, s.done = true, true
		return errRefused
	case !s.begun && o.first:
		return s.resolveFile(o, a)
	case !s.begun:
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
	learnt := s.size < 0 && a.Size >= 0
	if learnt {
		if err := s.refuseSize(o, a.Size); err != nil && s.strong() {
			return err
		}
		s.learnSize(a.Size, s.sizeRank(o, a), o.url)
		if err := s.lacksSignature(); err != nil && s.carried.signed.all != nil {
			return s.stop(err)
		}
	}
	if learnt || s.part.Useless() {
		return s.reserve()
	}
	return nil
}

// checkOrigin compares another answer of the origin with its earlier answers. A missing field is not a change.
func (s *session) checkOrigin(o *origin, a source.Answer) error {
	x, err := s.read(o, a, s.trusted())
	switch {
	case err != nil:
		return err
	case x.nature == aDocument && !s.originAnswered:
		return s.end(gotDocument, errRefused)
	case x.nature == aDocument:
		return s.end(fileChanged, changed("the server now sends a Metalink document"))
	}
	st := s.statementOf(o, x, a)
	if err := s.compareWithUser(o, x.file.Claims); err != nil {
		return err
	}
	if err := verify.Agree(s.digests.firm(), x.file.Claims); err != nil { // the server's claims, also if a mirror answers
		if !s.mayAnnounce(a.Hops, x.file.Claims) {
			return mismatch(o, "%w", err)
		}
		s.next = st
		return s.end(fileChanged, changed(err.Error()))
	}
	if err := s.fits(o, x, st, a); err != nil {
		if s.how == ongoing { // the server's facts count even if a mirror sent a wrong answer
			s.heed(x)
		}
		return err
	}
	if !s.originAnswered {
		both, err := s.checkPin(o, x)
		if err != nil {
			return s.stop(err)
		}
		if x.file.Documents = both.file.Documents; verify.Agree(s.digests.firm(), both.file.Claims) == nil {
			x.file.Claims, x.asked = both.file.Claims, both.asked
		}
		s.pin = s.pin.Raise(pinOf(both.own))
	}
	s.digests.add(theHost, noted, x.asked)
	s.mixElsewhere(x, a)
	if !s.originAnswered { // the first answer of the origin in this run: the download was resumed, or a mirror answered first
		s.originAnswered, s.newMirrors, s.carried.copied = true, true, x.decides()
		s.carried.looking.begin(s, o, x, a)
		if s.roleOf(o) == asOrigin {
			s.file = x.file
			s.confirmSize(st)
		}
		if s.corroborate(x.file.Claims) {
			s.describe()
		}
		s.retag(st)
		s.result.ETag, s.result.LastModified, s.result.Host = a.ETag, a.LastModified, a.Host
		s.trees.add(s.file)
		s.observe(Offered{File: s.offered()})
		s.askSignatures()
	} else if s.roleOf(o) == asOrigin && s.corroborate(x.file.Claims) { // not every answer of the server has the digest
		s.describe()
	}
	return nil
}

// fits compares an answer of the origin with the file being fetched. The caller has already compared the digests.
func (s *session) fits(o *origin, x resolution, st statement, a source.Answer) error {
	switch {
	case x.wrong != nil:
		return mismatch(o, "%w", x.wrong)
	case differs(a.Size, s.size) && (s.guessed() || st.sizeBy < byServer):
		return s.otherSize(o, a)
	}
	how, err := s.sameAsBefore(o, st, a)
	switch {
	case how == ongoing:
		return err
	case (how == fileChanged || how == sizeDisowned) && !s.mayAnnounce(a.Hops, x.file.Claims):
		return mismatch(o, "%v", err) // formatted with %v, as a wrapped err would end the download
	case how == sizeDisowned:
		s.stated, s.restated = st.size, true
	case how == notMergeable && !s.req.inOrder() && s.wantsHead(x, a): // a digest would show whether the versions are the same
		return s.end(wantsHead, errRefused)
	}
	s.next = st
	return s.end(how, err)
}

// retag makes the tag of the server's first answer in this session the known tag. Existing bytes came without this tag.
func (s *session) retag(st statement) {
	if st.tag.etag == "" || st.tag == s.tag {
		return
	}
	have := s.part.Have()
	s.tag, s.date, s.host = st.tag, st.date, st.host
	s.mixed = s.mixed || have.Len() > 0 || s.fetches.coming()
	s.describe()
}

// otherSize refuses an answer with another size than s.size. If s.size is from a party of lower rank, another session
// tries the size in the answer.
func (s *session) otherSize(o *origin, a source.Answer) error {
	o.claimed = a.Size
	if err := verify.Agree(s.digests.counting(), a.Claims); err != nil {
		return otherDigest(o, err)
	}
	if s.guessed() && s.sizeRank(o, a) > s.sizeBy && !slices.Contains(s.tried, a.Size) {
		return s.end(sizeDisowned, changed("the server gives a size other than the assumed one"))
	}
	if !s.guessed() && s.roleOf(o) == asOrigin && !s.strong() { // a retry may lead to the known host
		return &source.Error{URL: o.masked, Host: a.Host, Fault: source.FaultNetwork, Retry: true, Err: errOtherHost}
	}
	return mismatch(o, "the file has %d bytes there, not %d", a.Size, s.size)
}

// sameAsBefore compares an answer with earlier answers of the same server. An outcome other than ongoing must end the
// session; otherwise an error refuses the answer.
func (s *session) sameAsBefore(o *origin, st statement, a source.Answer) (outcome, error) {
	if s.contradict(st.file.Claims) {
		s.rehash()
	}
	known := s.view()
	v := version.Compare(known, st.view())
	bothTags := known.ETag != "" && st.tag.etag != ""
	switch {
	case v.Judgment == version.Same:
		return ongoing, nil
	case v.Judgment == version.Other && s.roleOf(o) != asOrigin: // the mirror has another version; the origin may not
		return ongoing, mismatch(o, "%w", v.Why)
	case v.By == version.BySize && verify.Strong(common(s.digests.firm(), st.file.Claims)) && !slices.Contains(s.tried, st.size):
		// The version is the same: its digest decides which size is right.
		return sizeDisowned, changed("the server gives another size for the same digest")
	case v.By == version.BySize && st.host != s.host && !at(st.host, s.req.URL) && s.strong():
		// A host other than the one whose version is known has another file. That does not mean that the known file has
		// changed, unless the host is that of the URL itself.
		return ongoing, mismatch(o, "%w", v.Why)
	case v.By == version.ByDate && (s.strong() || !bothTags), v.Judgment == version.Unproven && !bothTags:
		return s.untied(st, a)
	case v.Judgment == version.Unproven:
		return s.otherHost(st)
	case v.By == version.ByETag && s.digestBy() == byUser: // some servers change their ETag with each answer
		s.mix()
		return ongoing, nil
	}
	return fileChanged, changed(v.Why.Error())
}

// otherHost checks an answer of a host other than the one that gave the known ETag.
func (s *session) otherHost(st statement) (outcome, error) {
	have := s.part.Have()
	switch {
	case s.strong(), verify.Strong(st.file.Claims): // the digest decides
		s.mix()
		return ongoing, nil
	case s.fetches.others(): // a retry may lead to the known host
		return ongoing, &source.Error{URL: source.Mask(s.req.URL), Host: st.tag.host, Fault: source.FaultNetwork,
			Retry: true, Err: errOtherHost}
	case have.Len() == 0: // there are no bytes of another answer
		s.tag, s.date, s.host = st.tag, st.date, st.host
		return ongoing, nil
	}
	return notMergeable, noMerge(errOtherHost.Error(), nil)
}

// untied checks an answer for which no ETag or common digest shows that it is of the same version as the existing
// bytes. Bytes of different versions must not be combined.
func (s *session) untied(st statement, a source.Answer) (outcome, error) {
	have := s.part.Have()
	switch {
	case have.Len() == 0:
		return ongoing, nil
	case s.tied(), verify.Strong(st.file.Claims): // the digest decides
		s.mix()
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
func (s *session) typedBoth(o *origin, host string) bool {
	return o.user && s.req.Described == nil && at(host, o.url) && at(s.host, s.carried.origin)
}

// checkMirror rejects a mirror of another file before any byte of its body (RFC 6249, sections 3.3 and 7).
func (s *session) checkMirror(o *origin, a source.Answer) error {
	if s.req.natureOf(a.Hops, s.roleOf(o)) == anotherFile {
		return mismatch(o, "%w", errInPlace)
	}
	if s.strong() && a.Size >= 0 && !s.bound() {
		if err := s.refuseSize(o, a.Size); err != nil {
			return err
		}
		if s.guessed() && a.Size != s.size {
			return s.otherSize(o, a)
		}
	}
	theirs := viewOf(a)
	theirs.Shares = o.pref || s.typedBoth(o, a.Host)
	v := version.Compare(s.view(), theirs)
	switch {
	case v.Judgment == version.Other && v.By <= version.BySize:
		return sameFile(o, a, s.view().Size, s.digests.counting())
	case v.Judgment == version.Same && (s.tied() || !s.otherDate(o, a)):
		if v.By == version.ByDigest && !s.sharesTag(theirs) {
			s.mix()
		}
		return nil
	case a.IfMatchFailed, o.pref && v.By == version.ByETag:
		return mismatch(o, "another version: its ETag differs, and it has no digest")
	case !s.tied():
		s.carried.fallBack(o.url)
		return errUntied
	case s.pipes() && !s.mayFeed(o, a):
		return errLoose
	}
	s.mix()
	return nil
}

// mix records in the journal that only a digest shows that all existing bytes are of one version.
func (s *session) mix() {
	if !s.mixed && s.begun && s.tag.etag != "" {
		s.mixed = true
		s.describe()
	}
}

// dated reports whether a mirror's date differs from the server's, and no digest or shared ETag shows the same version.
func (s *session) dated(o *origin, a source.Answer) bool {
	then, now := s.askedDate(), a.LastModified
	if o.first || then.IsZero() || now.IsZero() || now.Equal(then) || verify.Strong(common(s.digests.counting(), a.Claims)) {
		return false
	}
	etag := metalink.StrongETag(a.ETag)
	return !o.pref || etag == "" || etag != s.tag.etag
}

// otherDate reports whether a mirror's Last-Modified differs from that of the asked server, or from an earlier date of
// the mirror. Without a digest, that means another version, even with the same ETag.
func (s *session) otherDate(o *origin, a source.Answer) bool {
	other := func(t time.Time) bool { return !t.IsZero() && !a.LastModified.IsZero() && !t.Equal(a.LastModified) }
	return other(s.askedDate()) || other(o.showing.Modified)
}

// askedDate returns the Last-Modified of the asked server; zero if it gave none itself.
func (s *session) askedDate() time.Time {
	if o := s.sources.first(); o != nil && o.showing.Asked {
		return o.showing.Modified
	}
	return time.Time{}
}

// pipes reports whether bytes leave through a pipe before anything has proven them.
func (s *session) pipes() bool {
	return s.req.Stream != nil && !s.req.provenByPieces() && (s.carried.pieces.IsZero() || s.carried.piecesRejected)
}

// mayFeed reports whether the bytes of a may go into the same pipe as the bytes of s.lead. It is true if both have the
// same digest, the same ETag (of one host, or shared: pref, or typedBoth and a size), or the same date and size.
func (s *session) mayFeed(o *origin, a source.Answer) bool {
	t, sized := tagOf(metalink.File{}, a), a.Size >= 0 && a.Size == s.size
	switch {
	case s.lead == nil || s.leader == o || o.swarm || verify.Strong(common(s.digests.counting(), a.Claims)):
		return true
	case t.etag != "" && t.etag == s.tag.etag && (o.pref || t.host == s.tag.host || sized && s.typedBoth(o, t.host)):
		return true
	}
	return sized && !a.LastModified.IsZero() && a.LastModified.Equal(s.lead.LastModified)
}

// frontOf returns the front of an answer that may be a document, or nil if nothing need or can be held back.
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

// checkPin compares the server's evidence with the earlier offers of the URL. It returns x with the evidence of a HEAD.
func (s *session) checkPin(o *origin, x resolution) (resolution, error) {
	if s.roleOf(o) != asOrigin {
		return x, nil
	}
	return s.c.checkBoth(s.ctx, s.http, s.req, x, s.offers, head)
}
