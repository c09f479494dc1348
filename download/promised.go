package download

import (
	"time"

	"braid/download/promises"
	"braid/metalink"
	"braid/source"
)

// keepsPromises compares what the server offers to verify the file with with what the URL offered before.
func (s *session) keepsPromises(o *origin, file metalink.File) error {
	if !o.first || s.standIn() || s.req.NoMetalink {
		return nil
	}
	s.plan.offered = offerOf(file)
	return s.c.promised(s.req, s.plan.offered)
}

// offerOf is what a server offers to verify a file with.
func offerOf(file metalink.File) promises.Promise {
	var kinds []string
	for _, d := range file.Documents {
		kinds = append(kinds, d.Type)
	}
	return promises.Of(file.Claims, kinds...)
}

// promised is an error if the URL of a request offered more before: what is missing may have been taken away by somebody
// who changed the file. It makes no difference where the user vouches for the file, or does not mind.
func (c *Client) promised(r *Request, offered promises.Promise) error {
	if r.LessProof || r.ownWord() {
		return nil
	}
	if err := c.Promises.Check(r.URL, offered, time.Now()); err != nil {
		return fail(NoEvidence, "verify", source.Mask(r.URL), err, HintLessProof)
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
