package download

import (
	"time"

	"braid/download/promises"
	"braid/metalink"
)

// keepsPromises compares what the server offers to verify the file with with what the URL offered before. What is missing may
// have been taken away by somebody who changed the file.
func (s *session) keepsPromises(o *origin, file metalink.File) error {
	if !o.first || s.standIn() || s.req.NoMetalink {
		return nil
	}
	var kinds []string
	for _, d := range file.Documents {
		kinds = append(kinds, d.Type)
	}
	s.plan.offered = promises.Of(file.Claims, kinds...)
	if s.req.LessProof || s.req.ownWord() {
		return nil // the user vouches for the file, or does not mind
	}
	if err := s.c.Promises.Check(s.req.URL, s.plan.offered, time.Now()); err != nil {
		return fail(NoEvidence, "verify", o.masked, err, promises.Hint)
	}
	return nil
}

// keepPromises remembers what the URL offered, now that it was true.
func (g *getter) keepPromises() {
	if g.plan.origin != g.req.URL || g.req.NoMetalink {
		return
	}
	if g.req.LessProof {
		g.c.Promises.Forget(g.req.URL)
	}
	g.c.Promises.Keep(g.req.URL, g.plan.offered, time.Now())
}
