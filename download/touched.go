package download

import (
	"context"
	"errors"
)

// mostTouched is how often a part file is looked at again that another program writes to.
const mostTouched = 3

// reread prepares another session that goes on with what is still here as it came, where another program changed the part file.
// That session hashes all of it again. It reports false if the digest is wrong for another reason.
func (g *getter) reread(ctx context.Context, s *session) (bool, error) {
	bad, err := g.part.Recheck(ctx)
	if err != nil {
		return false, errors.Join(local(err), s.err)
	}
	if s.how != partTouched && bad.Len() == 0 {
		return false, nil
	}
	g.note("%v: all that is here is read again, and %d bytes are fetched again", s.err, bad.Len())
	for r := range bad.All() {
		s.sources.void(r)
	}
	g.goOn(s)
	return true, nil
}
