package download

import (
	"braid/download/state"
	"braid/metalink"
	"braid/source"
)

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
	if r.LessProof || r.userVouches() {
		return nil
	}
	if err := c.State.CheckPin(r.URL, offered); err != nil {
		return fail(NoEvidence, "verify", source.Mask(r.URL), err, HintLessProof)
	}
	return nil
}
