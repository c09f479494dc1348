package download

import (
	"context"
	"errors"

	"braid/download/partfile"
	"braid/verify"
)

// mostTouched is how often a part file is looked at again that another program writes to.
const mostTouched = 3

// touched prepares another session that goes on with what is still here as it came, where another program changed the part file.
// That session hashes all of it again. It reports false if err has another reason.
func (g *getter) touched(ctx context.Context, s *session, err error) (bool, error) {
	var touched *partfile.TouchedError
	var wrong *verify.MismatchError
	disturbed := errors.As(err, &touched)
	if g.req.Stream != nil || !disturbed && !errors.As(err, &wrong) {
		return false, err
	}
	if disturbed {
		if g.plan.touched++; g.plan.touched > mostTouched {
			return false, err
		}
	}
	bad, failed := g.part.Recheck(ctx)
	if failed != nil {
		return false, errors.Join(&localError{failed}, err)
	}
	if !disturbed && bad.Len() == 0 { // the digest is wrong for another reason
		return false, err
	}
	g.note("%v: all that is here is read again, and %d bytes are fetched again", err, bad.Len())
	for _, o := range s.origins {
		for r := range bad.All() {
			o.brought.Remove(r)
		}
	}
	g.goOn(s)
	return true, nil
}
