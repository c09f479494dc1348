package download

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"braid/byterange"
	"braid/metalink"
	"braid/scheduler"
	"braid/source"
	"braid/verify"
)

// errRefused is what a fetch gets as answer when its body is not wanted. It is nobody's fault.
var errRefused = errors.New("not wanted")

// errUntied keeps a mirror out whose file nothing ties to the origin's. It may serve alone when the origin fails.
var errUntied = errors.New("nothing shows that it has the same version: held back until the others fail")

// changed says that the origin has another file now than the one that was begun.
func changed(what string) error {
	return &fault{kind: Mismatch, what: "the file changed at the origin: " + what, final: true}
}

// reply judges an answer. The sink gets what it needs with it: the fetch may have been cancelled, and not wait for it.
func (s *session) reply(m message, f *flight) reply {
	if err := s.answered(m.id, f, *m.answer); err != nil {
		return reply{err: err}
	}
	a := m.answer
	return reply{
		awaited: a.End < 0 && (len(a.Content) > 0 || !verify.Strong(s.claims)),
		front:   s.frontOf(f.from, *a),
	}
}

// answered judges the header of an answer before any byte of its body. An error refuses the body.
func (s *session) answered(id scheduler.FetchID, f *flight, a source.Answer) error {
	if f.sink.limit.Load() == 0 { // cancelled before it answered
		return errRefused
	}
	o := f.from
	if a.Host != "" {
		o.host = a.Host
	}
	if err := s.admit(o, a); err != nil {
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
		s.atlas.tell(o.tree, true)
		s.observe(SourceUp{ID: o.id, URL: o.masked, Host: o.host, RTT: a.RTT, Whole: !a.Ranged && f.at > 0})
	}
	s.observe(RangeAnswered{Fetch: f.number, ID: o.id, Host: o.host, RTT: a.RTT})
	f.answer = a
	if !a.Ranged { // everything comes, whatever was asked for; the scheduler says how much of it is wanted
		f.sink.limit.Store(byterange.Unbounded)
	}
	s.step(scheduler.Answered{Fetch: id, Host: a.Host, RTT: a.RTT, Size: a.Size, Ranged: a.Ranged})
	if s.how != ongoing {
		return s.err
	}
	if s.news && !(s.pipes() && s.aside.asking) { // else the document comes first: its pieces let all mirrors feed a pipe
		s.addMirrors()
	}
	s.usePieces()
	s.askDocument()
	if f.sink.limit.Load() == 0 {
		return errRefused
	}
	return nil
}

// admit compares an answer with what is known of the file; the first answer is what makes it known.
func (s *session) admit(o *origin, a source.Answer) error {
	switch {
	case a.NotModified:
		s.result.ETag, s.result.LastModified = a.ETag, a.LastModified
		s.result.NotModified, s.done = true, true
		return errRefused
	case !s.known && o.first:
		return s.learn(o, a)
	case !s.known:
		return s.assume(o, a)
	case o.first:
		if err := s.admitOrigin(o, a); err != nil {
			return err
		}
	default:
		if err := s.admitMirror(o, a); err != nil {
			return err
		}
	}
	if s.size < 0 && a.Size >= 0 {
		s.size = a.Size
		return s.hold()
	}
	return nil
}

// admitOrigin: the same server again. What it says must not have changed (rule 34); that it says less is no
// change (rule 64).
func (s *session) admitOrigin(o *origin, a source.Answer) error {
	x, err := s.req.resolve(a.Hops, s.roleOf(o), s.trusted())
	switch {
	case err != nil:
		return err
	case x.nature == aDocument && !s.heard:
		return s.end(gotDocument, errRefused)
	case x.nature == aDocument:
		return s.end(fileChanged, changed("it answers with a Metalink document now"))
	case x.wrong != nil:
		return mismatch(o, "%w", x.wrong)
	}
	file := x.file
	if err := s.against(o, file.Claims); err != nil {
		return err
	}
	if elsewhere(file, a) && differs(a.Size, s.size) { // C8: it is the mirror that has another file
		return mismatch(o, "the file has %d bytes there, not %d", a.Size, s.size)
	}
	if how, err := s.sameAsBefore(a, file); how != ongoing {
		return s.end(how, err)
	} else if err != nil {
		return err
	}
	if err := s.checkPin(o, file); err != nil && !s.heard {
		return s.stop(err)
	}
	if !s.heard { // in this run, of a download that goes on or that a mirror began
		s.heard, s.news = true, true
		file.Size = a.Size
		s.file = file
		s.corroborate(file.Claims)
		if tag := tagOf(file, a); tag.etag != "" {
			s.tag, s.date = tag, dateOf(file, a)
		}
		s.result.ETag, s.result.LastModified, s.plan.host = a.ETag, a.LastModified, a.Host
		s.atlas.learn(file)
		s.observe(Offered{File: file})
		s.askSignatures()
	}
	return nil
}

// sameAsBefore compares an answer with what the same server said before. The outcome is that with which the session has to end; an
// error without one only refuses the answer.
func (s *session) sameAsBefore(a source.Answer, file metalink.File) (outcome, error) {
	if differs(a.Size, s.size) {
		if s.assumed && !s.heard {
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

// otherHost judges an answer of another host than the one whose tag is known.
func (s *session) otherHost(t tag) (outcome, error) {
	have := s.part.Have()
	switch {
	case verify.Strong(s.claims): // which will tell
		return ongoing, nil
	case s.fetches.others(): // the next request to the server may be led back
		return ongoing, &source.Error{URL: source.Mask(s.req.URL), Host: t.host, Fault: source.FaultNetwork, Retry: true, Err: errOtherHost}
	case have.Len() == 0: // nothing is here that would have to be put together with it
		s.tag = t
		return ongoing, nil
	}
	return notMergeable, noMerge(errOtherHost.Error(), nil)
}

// dateOf is the Last-Modified that goes with tagOf.
func dateOf(file metalink.File, a source.Answer) time.Time {
	if elsewhere(file, a) {
		return time.Time{}
	}
	return a.LastModified
}

// untied says that what comes next cannot be put together with what is here: no digest will tell whether it is
// of the same file, and no ETag does (S18).
func (s *session) untied(a source.Answer) (outcome, error) {
	have := s.part.Have()
	switch p := s.plan.prior; {
	case verify.Strong(s.claims) || have.Len() == 0:
		return ongoing, nil
	case s.plan.continued && p != nil && (s.sources.last == nil || s.fetches.others()): // else its samples come first
		if a.Host != p.Host || !a.LastModified.Equal(p.Date) {
			return fileChanged, changed("another server or Last-Modified")
		}
		return ongoing, nil
	}
	return notMergeable, noMerge(unmergeable, s.sources.last)
}

// differs compares two sizes, if both are known.
func differs(a, b int64) bool { return a >= 0 && b >= 0 && a != b }

// elsewhere says that it was not the Metalink server itself that gave the final answer.
func elsewhere(file metalink.File, a source.Answer) bool {
	return file.Server != nil && source.HostPort(file.Server) != a.Host
}

var errOtherHost = errors.New("the server redirects to another host now, and nothing shows that it has the same file")

// A tag is a strong ETag and the host:port that gave it. The same ETag of another host is about another resource (RFC 9110,
// section 8.8.3) and ties nothing.
type tag struct{ etag, host string }

// tagOf is the tag of the Metalink server, or of the server that answers if there is none.
func tagOf(file metalink.File, a source.Answer) tag {
	t := tag{metalink.StrongETag(a.ETag), a.Host}
	if file.Server != nil {
		t = tag{file.ETag, source.HostPort(file.Server)}
	}
	if t.etag == "" {
		return tag{}
	}
	return t
}

// ties reports whether a mirror's ETag shows that it has the version of the server (S18): it has the same tag, or the user typed the
// URLs of both, and each answered with that ETag itself (rule 30).
func (s *session) ties(o *origin, t tag) bool {
	typed := o.user && s.req.Described == nil && at(t.host, o.url) && at(s.tag.host, s.plan.origin)
	return t.etag != "" && t.etag == s.tag.etag && (t.host == s.tag.host || typed)
}

// at reports whether host is the host:port of a URL, where http may have become https.
func at(host string, u *url.URL) bool {
	secure := *u
	secure.Scheme = "https"
	return host == source.HostPort(u) || u.Scheme == "http" && u.Port() == "" && host == source.HostPort(&secure)
}

// admitMirror rejects a mirror that has another file, before its first byte (C5, C8, S9, S18, rule 35).
func (s *session) admitMirror(o *origin, a source.Answer) error {
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
		s.plan.fallBack(o.url) // S18, rule 30
		return errUntied
	case s.pipes() && !s.mayFeed(o, a):
		return errLoose
	}
	return nil
}

// sameFile compares a mirror's answer with what is known: another size (C8, rule 16) or another digest (C5) is of
// another file.
func sameFile(o *origin, a source.Answer, size int64, claims []verify.Claim) error {
	if differs(a.Size, size) {
		return mismatch(o, "the file has %d bytes there, not %d", a.Size, size)
	}
	if err := verify.Agree(claims, a.Claims); err != nil {
		return otherDigest(o, err)
	}
	return nil
}

// otherDigest is short, as it stands in a list of mirrors; the whole digests are in the error behind it.
func otherDigest(o *origin, err error) error {
	var c *verify.ConflictError
	if !errors.As(err, &c) {
		return mismatch(o, "another digest: %w", err)
	}
	return mismatch(o, "another digest: %w", &shortConflict{c})
}

type shortConflict struct{ *verify.ConflictError }

func (e *shortConflict) Error() string {
	return fmt.Sprintf("its %v is %.12s..., want %.12s...", e.A.Digest.Algorithm(), e.B.Digest.Hex(), e.A.Digest.Hex())
}

func (e *shortConflict) Unwrap() error { return e.ConflictError }

func mismatch(o *origin, format string, args ...any) error {
	return &source.Error{URL: o.masked, Host: o.host, Fault: source.FaultMismatch, Err: fmt.Errorf(format, args...)}
}

// common are the claims of b that a makes too.
func common(a, b []verify.Claim) (out []verify.Claim) {
	for _, x := range a {
		for _, y := range b {
			if x.Digest == y.Digest {
				out = append(out, y)
			}
		}
	}
	return out
}
