package download

import (
	"braid/download/state"
	"braid/metalink"
	"braid/source"
)

// checkPin compares what the server offers to verify the file with with what the URL offered before.
func (s *session) checkPin(o *origin, file metalink.File) error {
	if !o.first || s.standIn() || s.req.NoMetalink {
		return nil
	}
	s.plan.offered = pinOf(file)
	return s.c.checkPin(s.req, s.plan.offered)
}

// pinOf is what a server offers to verify a file with.
func pinOf(file metalink.File) state.Pin {
	var kinds []string
	for _, d := range file.Documents {
		kinds = append(kinds, d.Type)
	}
	return state.PinOf(file.Claims, kinds...)
}

// checkPin is an error if the URL of a request offered more before: what is missing may have been taken away by an attacker who
// changed the file. It makes no difference where the user vouches for the file, or does not mind.
func (c *Client) checkPin(r *Request, offered state.Pin) error {
	if r.LessProof || r.ownWord() {
		return nil
	}
	if err := c.State.CheckPin(r.URL, offered); err != nil {
		return fail(NoEvidence, "verify", source.Mask(r.URL), err, HintLessProof)
	}
	return nil
}

// keepPin remembers what the URL offered, now that it was true.
func (g *getter) keepPin() {
	if g.plan.origin != g.req.URL || g.req.NoMetalink {
		return
	}
	if g.req.LessProof {
		g.c.State.ForgetPin(g.req.URL)
	}
	g.c.State.KeepPin(g.req.URL, g.plan.offered)
}
