package download

import (
	"errors"

	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// errLoose keeps a mirror out of a pipe.
var errLoose = errors.New("nothing ties it to the server's file (the digest, or date and size), and what a pipe has taken cannot be fetched again: left out")

// pipes reports whether bytes are given away that nothing has proven: into a pipe, where no pieces are known.
func (s *session) pipes() bool {
	return s.req.Stream != nil && !s.req.provenByPieces() && (s.plan.pieces.IsZero() || s.plan.mistrust)
}

// mayFeed reports whether an answer is tied to the first one, so that bytes of both may go into one pipe: by the digest, by a strong ETag
// that the server promised to share (pref; RFC 6249, section 3.3) or that of a mirror which the user named, or by date and size.
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

// looseHint is the way out where mirrors were kept out of a pipe.
func (g *getter) looseHint() Hint {
	for _, src := range g.result.Sources {
		if errors.Is(src.Err, errLoose) {
			return HintPipe
		}
	}
	return ""
}
