package download

import (
	"errors"
	"fmt"

	"braid/metalink"
	"braid/scheduler"
	"braid/source"
	"braid/verify"
)

// errRefused is what a fetch gets as answer when its body is not wanted. It is nobody's fault.
var errRefused = errors.New("not wanted")

// errHead ends the first request when its answer has links but no digest: some stores send Digest on HEAD only.
var errHead = errors.New("a HEAD may say more")

// errUntied keeps a mirror out whose file nothing ties to the origin's. It may serve alone when the origin fails.
var errUntied = errors.New("nothing shows that it has the same version; kept for when the others fail")

// A changedError says that the origin has another file now than the one that was begun (rule 34).
type changedError struct{ what string }

func (e *changedError) Error() string { return "the file changed at the origin: " + e.what }

// answered judges the header of an answer before any byte of its body. An error refuses the body.
func (s *session) answered(id scheduler.FetchID, f *flight, a source.Answer) error {
	o := f.from
	if a.Host != "" {
		o.host = a.Host
	}
	if err := s.admit(o, a); err != nil {
		return err
	}
	if !o.up {
		o.up = true
		s.observe(SourceUp{ID: o.id, URL: o.masked, Host: o.host, RTT: a.RTT})
	}
	s.step(scheduler.Answered{Fetch: id, Host: a.Host, RTT: a.RTT, Start: a.Start, Size: a.Size, Ranged: a.Ranged})
	if f.sink.limit.Load() == 0 {
		return errRefused
	}
	if s.err != nil {
		return s.err
	}
	if !s.offered {
		s.offered = true
		s.addMirrors()
	}
	return nil
}

// admit compares an answer with what is known of the file; the first answer is what makes it known.
func (s *session) admit(o *origin, a source.Answer) error {
	switch {
	case a.NotModified:
		s.result.NotModified = true
		s.done = true
		return errRefused
	case !s.known:
		return s.learn(o, a)
	case o.first:
		if err := s.admitOrigin(a); err != nil {
			return err
		}
	default:
		if err := s.admitMirror(o, a); err != nil {
			return err
		}
	}
	if s.size < 0 {
		s.size = a.Size
	}
	return nil
}

// admitOrigin: the same server again. What it says must not have changed (rule 34); that it says less is no
// change (rule 64).
func (s *session) admitOrigin(a source.Answer) error {
	file, err := metalink.FromHops(a.Hops, s.trusted())
	if err != nil {
		return err
	}
	if err := s.changed(a, file); err != nil {
		return s.stop(err)
	}
	if !s.offered { // the first answer of this run to a download that goes on
		s.file = file
		s.corroborate(file.Claims)
		s.result.ETag, s.result.LastModified = a.ETag, a.LastModified
		s.observe(Offered{File: file})
	}
	return nil
}

func (s *session) changed(a source.Answer, file metalink.File) error {
	if a.Size >= 0 && s.size >= 0 && a.Size != s.size {
		return &changedError{fmt.Sprintf("%d bytes instead of %d", a.Size, s.size)}
	}
	if err := verify.Agree(s.claims, file.Claims); err != nil {
		return &changedError{err.Error()}
	}
	strong := verify.Strong(s.claims) && verify.Strong(file.Claims)
	etag := etagOf(file, a)
	switch {
	case strong || etag == "" || s.etag == "" || etag == s.etag:
		return nil
	case a.Host != s.etagHost && s.etagHost != "":
		return &restartError{"the server redirects to another host now, and nothing shows that it has the same file"}
	}
	return &changedError{"another ETag"}
}

// etagOf is the strong ETag of the Metalink server, or of who answers if there is none.
func etagOf(file metalink.File, a source.Answer) string {
	if file.Server != nil {
		return file.ETag
	}
	return strongETag(a.ETag)
}

// admitMirror rejects a mirror that has another file, before its first byte (C5, C8, S9, S18, rule 35).
func (s *session) admitMirror(o *origin, a source.Answer) error {
	if a.Size >= 0 && s.size >= 0 && a.Size != s.size {
		return mismatch(o, "the file has %d bytes there, not %d", a.Size, s.size) // C8, rule 16
	}
	if err := verify.Agree(s.claims, a.Claims); err != nil {
		return mismatch(o, "another digest: %w", err) // C5
	}
	same := verify.Strong(common(s.claims, a.Claims))
	etag := strongETag(a.ETag)
	switch {
	case same:
		return nil
	case a.IfMatchFailed:
		return mismatch(o, "stale: its ETag is another one and it gives no digest")
	case o.pref && etag != "" && s.etag != "" && etag != s.etag:
		return mismatch(o, "stale: its ETag is another one and it gives no digest")
	case !verify.Strong(s.claims) && (etag == "" || etag != s.etag):
		s.plan.fallBack(o.url) // S18, rule 30
		return errUntied
	}
	return nil
}

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

// strongETag gives back a strong entity tag and nothing for a weak one (RFC 9110, section 8.8.3).
func strongETag(tag string) string {
	if len(tag) >= 2 && tag[0] == '"' && tag[len(tag)-1] == '"' {
		return tag
	}
	return ""
}
