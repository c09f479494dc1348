package download

import (
	"errors"
	"slices"
	"time"

	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// resolveFile takes the origin's first answer as what the file is.
func (s *session) resolveFile(o *origin, a source.Answer) error {
	x, err := s.readFirst(o, a)
	switch {
	case x.nature == aDocument:
		return s.end(gotDocument, errRefused)
	case err != nil:
		return s.stop(err)
	case s.wantsHead(x, a):
		return s.end(wantsHead, errRefused)
	}
	a = x.without(a)
	if o.first && s.req.keepsNewer() && !x.decides() && compare(s.carried.here, a) == older {
		if s.req.Require != RequireNothing {
			return s.stop(unprovenNewer(s.req))
		}
		s.result.ETag, s.result.LastModified = a.ETag, a.LastModified
		s.result.NotModified, s.result.Older, s.done = true, true, true
		return errRefused
	}
	file, wrong := x.file, error(nil)
	if x.wrong != nil {
		wrong = mismatch(o, "%w", x.wrong)
	}
	if err := s.compareWithUser(o, file.Claims); err != nil {
		return err
	}
	if err := s.checkVersion(a, &file); err != nil {
		return err
	}
	if d := s.req.Described; d != nil {
		if err := sameFile(o, a, d.Size, s.req.Claims); err != nil {
			return err
		}
	}
	if err := s.checkAgainstOrigin(o, a, &file); err != nil {
		return err
	}
	claims := join(s.req.Claims, file.Claims)
	if err := verify.Agree(claims, a.Claims); err != nil && wrong == nil {
		wrong = otherDigest(o, err)
	}
	if wrong != nil { // a mirror with another file answered: what the origin said still counts
		a.Size, a.ETag, a.LastModified = -1, "", time.Time{}
	}
	_, doc := metalinkOf(file)
	if hint, lacks := foresee(s.req, claims, a, doc || len(signaturesFor(s.req, file)) > 0); lacks != nil {
		return s.stop(fail(NoEvidence, "verify", o.masked, lacks, hint))
	}
	if err := s.checkPin(o, file); err != nil {
		return s.stop(err)
	}
	file.Size, s.carried.first = s.sizeOf(a), a
	s.carried.sizeByMirror = x.decides() && a.Size >= 0 && s.req.Described == nil
	s.carried.announced(a)
	s.tag, s.date = tagOf(file, a), dateOf(file, a)
	s.result.ETag, s.result.LastModified, s.result.Host = a.ETag, a.LastModified, a.Host
	s.originAnswered, s.newMirrors = true, true
	s.sizeBy = o
	if err := s.setFile(file, claims); err != nil {
		return err
	}
	if wrong != nil {
		s.addMirrors()
	}
	return wrong
}

// checkAgainstOrigin compares a stand-in's answer with what the origin said (RFC 6249, section 7). It keeps the digests of the
// origin where the origin itself says less now.
func (s *session) checkAgainstOrigin(o *origin, a source.Answer, file *metalink.File) error {
	before := s.carried.originFile
	if before == nil || !s.standIn() && (!s.carried.single || verify.Strong(file.Claims)) {
		return nil
	}
	if err := sameFile(o, a, before.Size, before.Claims); err != nil {
		return err
	}
	if s.standIn() { // a mirror's digest of itself is no evidence
		file.Claims = nil
	}
	if file.Claims = join(before.Claims, file.Claims); s.carried.single {
		file.Documents = before.Documents // for signatures
	}
	return nil
}

// sizeOf is the size of the file by an answer; if that has none, by the document or the origin's earlier answer.
func (s *session) sizeOf(a source.Answer) int64 {
	switch d, before := s.req.Described, s.carried.originFile; {
	case a.Size >= 0:
		return a.Size
	case d != nil && d.Size >= 0:
		return d.Size
	case before != nil && s.carried.single:
		return before.Size
	}
	return -1
}

// assumeFile begins with a mirror that answered before the origin: the user's digest says what the file is.
func (s *session) assumeFile(o *origin, a source.Answer) error {
	s.claims = s.req.Claims
	if err := s.checkMirror(o, a); err != nil {
		return err
	}
	s.assumed, s.sizeBy = true, o
	return s.setFile(metalink.File{Size: a.Size}, s.claims)
}

// setFile takes file as what is downloaded from here on.
func (s *session) setFile(file metalink.File, claims []verify.Claim) error {
	s.file, s.claims, s.size = file, claims, file.Size
	if err := s.reserve(); err != nil {
		return err
	}
	s.known = true
	if s.originAnswered {
		if !s.standIn() && s.req.Described == nil {
			before := file
			if s.carried.sizeByMirror {
				before.Size = -1
			}
			s.carried.originFile = &before
		}
		s.trees.add(file)
		s.observe(Offered{File: file})
	}
	s.askSignatures()
	s.askDocument()
	s.startHash()
	return nil
}

var errOnlyPieces = errors.New("the torrent has digests of pieces by sha-1 only, which prove nothing against its maker")

var errNoDigest = errors.New("the server gives no digest that could be verified")

// readFirst reads the first answer, together with an answer to HEAD if that may have more.
func (s *session) readFirst(o *origin, a source.Answer) (x resolution, err error) {
	x, err = s.req.resolve(a.Hops, s.roleOf(o), verify.Strong(s.req.Claims))
	if err != nil || !s.headMatters(x) || s.wantsHead(x, a) {
		return x, err
	}
	x.file, err = s.fromHead(x.file)
	return x, err
}

// headMatters reports whether an answer to HEAD may have the digest that this one lacks: some stores send it there only.
func (s *session) headMatters(x resolution) bool {
	return x.nature != aDocument && !s.standIn() && x.file.NoDigest && !s.req.NoMetalink
}

// wantsHead reports whether HEAD is to be asked now: it was not, or it spoke of another version than this answer does.
func (s *session) wantsHead(x resolution, a source.Answer) bool {
	return s.headMatters(x) && (!s.carried.headAsked || !s.carried.headAskedAgain && otherVersion(s.carried.head, a) != "")
}

// roleOf is as what a source is asked.
func (s *session) roleOf(o *origin) role {
	switch {
	case !o.first || s.req.Described != nil:
		return asMirror
	case !s.standIn():
		return asOrigin
	case containsURL(s.req.Mirrors, o.url):
		return asStandIn
	}
	return asMirror
}

// applyRefusal reads the redirects before a mirror's refusal: the origin's fields count all the same, and may name other mirrors.
func (s *session) applyRefusal(o *origin, err error) {
	var e *source.Error
	if !o.first || s.known || !errors.As(err, &e) {
		return
	}
	if x, _ := s.req.resolve(e.Hops, s.roleOf(o), verify.Strong(s.req.Claims)); x.file.Server == nil {
		return
	}
	if s.resolveFile(o, source.Answer{Hops: e.Hops, Host: e.Host, Size: -1, End: -1}) == nil {
		s.newMirrors = false
		s.addMirrors()
	}
}

// fromHead prefers the answer to HEAD if that has the digest that the answer to GET lacks. The two must not contradict each other.
func (s *session) fromHead(file metalink.File) (metalink.File, error) {
	x, err := s.req.resolve(s.carried.head.Hops, asOrigin, false)
	if err != nil || x.file.Server == nil {
		return file, nil
	}
	err = verify.Agree(file.Claims, x.file.Claims)
	x.file.Claims = join(x.file.Claims, file.Claims)
	return x.file, err
}

// corroborate adds the claims of this run's answer to those of an earlier run.
func (s *session) corroborate(claims []verify.Claim) {
	all := join(s.claims, claims)
	if len(all) == len(s.claims) {
		return
	}
	s.claims = all
	switch {
	case s.req.Stream != nil:
	case !s.hashing.begun() || s.hashing.passed() == 0 || s.req.Store == nil:
		s.rehash()
	default: // of the digests that are made anyway
		s.late = join(s.late, slices.DeleteFunc(slices.Clone(claims), func(c verify.Claim) bool { return !isSHA256(c) }))
	}
}

// join is a with those claims of b that are not in it.
func join(a, b []verify.Claim) []verify.Claim {
	return slices.Concat(a, slices.DeleteFunc(slices.Clone(b), func(c verify.Claim) bool { return slices.Contains(a, c) }))
}

// takeDescribed begins with the description of the file in a document.
func (s *session) takeDescribed() {
	d := s.req.Described
	s.claims = join(s.req.Claims, s.claims)
	if d.Size >= 0 {
		s.known, s.size = true, d.Size
	}
	s.file.Size, s.file.Claims, s.file.Documents = d.Size, s.claims, d.Torrents
}

// checkVersion compares the origin's first answer to this session with its answers to earlier ones. It reports an error if the file
// has changed too often.
func (s *session) checkVersion(a source.Answer, file *metalink.File) error {
	before := s.carried.originFile
	if before == nil || s.standIn() {
		return nil
	}
	why := ""
	if err := verify.Agree(before.Claims, file.Claims); err != nil {
		why = err.Error()
	} else if !elsewhere(*file, a) && !(verify.Strong(before.Claims) && verify.Strong(file.Claims)) {
		why = otherVersion(s.carried.first, a)
	}
	if why == "" {
		return nil
	}
	if s.carried.changes++; s.carried.changes > 1 && s.carried.single {
		return s.end(fileChanged, changed(why))
	}
	s.note("%v", changed(why))
	s.carried.renew(s.req)
	return nil
}

// disowned ends the session if the size of the file came from a source that has a document in place of the file.
func (s *session) disowned(o *origin, err error) {
	if errors.Is(err, errInPlace) && s.sizeBy == o {
		s.end(sizeDisowned, err)
	}
}

// contradicted reports whether the user's document contradicts itself: all of its pieces hold, and its digest of the whole file
// does not.
func (s *session) contradicted() bool {
	d, wrong := s.req.Described, wrongOf(s.err)
	return d != nil && wrong != nil && s.hashing.byPieces() && s.hashing.pieces.from == d.By && wrong.Claim.Field == d.By
}
