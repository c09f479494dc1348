package download

import (
	"errors"
	"slices"

	"braid/source"
	"braid/verify"
)

// wrongBytes reports whether a fetch ended because what it brought is not of the file.
func wrongBytes(err error) bool {
	return errors.As(err, new(*overrunError)) || errors.As(err, new(*source.ContentError))
}

// vouched takes note of an answer that came as a whole and fits its own Content-Digest (RFC 9530, section 2). If that is the
// whole file, from the server that the user asked, it is worth as much as a Digest of that server; of a part of the file, or of a
// mirror, it says that nothing was damaged on the way and no more.
func (s *session) vouched(f *flight) {
	o, a := f.from, f.answer
	if f.sink.cut || a.Ranged || len(a.Content) == 0 || !o.first || s.standIn() || s.req.described() || verify.Strong(s.claims) {
		return
	}
	if s.roleOf(o) != asOrigin || ownAnswers(a.Hops, asOrigin) < len(a.Hops) {
		return
	}
	// A SHA-256 is made of every file; for what else there is the file is read again.
	if i := slices.IndexFunc(a.Content, isSHA256); i >= 0 {
		s.claims = join(s.claims, a.Content[i:i+1])
		s.late = a.Content[i : i+1]
		return
	}
	s.corroborate(a.Content)
}

func isSHA256(c verify.Claim) bool { return c.Digest.Algorithm() == verify.SHA256 }

// mayVouch reports whether an answer is evidence by its own digest once it came as a whole.
func mayVouch(a source.Answer) bool { return !a.Ranged && verify.Strong(a.Content) }
