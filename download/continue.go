package download

import (
	"context"
	"errors"
	"fmt"

	"braid/byterange"
	"braid/download/partfile"
	"braid/source"
)

// A server that gives neither a digest nor a strong validator shows nothing by which the rest of a file could be told to belong to what is
// here (rule 15). What came stays all the same, for a user who says that it is to be gone on with (Request.Continue).

// errOtherNow says that what the server has now is not what was begun.
var errOtherNow = errors.New("the server has another file now, or has it no longer in parts")

const continuedSamples = 16

// resumeUnproven goes on with what an earlier run has left and nothing proves, if the user wants that; else what is here is set
// aside until the new file is in place.
func (g *getter) resumeUnproven(ctx context.Context, prior partfile.Identity) error {
	if !g.mayContinue(prior) || !g.part.Sealed() {
		return g.part.Reset("nothing shows that the rest would be of the same file")
	}
	if err := g.part.Recover(ctx); err != nil {
		return err
	}
	if err := g.sameSamples(ctx, prior); err != nil {
		have := g.part.Have()
		g.kept = have.Len()
		if ctx.Err() != nil || unanswered(err) {
			return err
		}
		return g.part.Reset(err.Error())
	}
	g.plan.continued, g.result.Continued = true, true
	g.goOnWith(prior)
	return nil
}

// mayContinue reports whether the user wants that what nothing proves is gone on with, and nothing more is demanded.
func (g *getter) mayContinue(prior partfile.Identity) bool {
	return g.req.Continue && g.req.Require == RequireNothing && len(g.req.Mirrors) == 0 && !g.req.described() &&
		prior.Host != "" && prior.URLSum == partfile.SumURL(g.req.URL)
}

// unanswered reports whether err says nothing about the file that the server has.
func unanswered(err error) bool {
	var src *source.Error
	return errors.As(err, &src) && src.Fault != source.FaultProtocol && src.Fault != source.FaultMismatch
}

// continueBroken goes on, within one run, with what came before the server broke off, as resumeUnproven does between two. It reports
// whether it did; the error says that the server did not answer as often as it is asked.
func (g *getter) continueBroken(ctx context.Context, s *session) (bool, error) {
	id, have := s.identity(), s.part.Have()
	if g.req.Stream != nil || s.standIn() || s.proves() || have.FirstGap(0) == 0 || !g.mayContinue(id) {
		return false, nil
	}
	err := g.sameSamples(ctx, id)
	for ; err != nil && unanswered(err) && ctx.Err() == nil; err = g.sameSamples(ctx, id) {
		if g.plan.restarts++; g.plan.restarts >= g.c.tries() {
			return false, err
		}
		if err := g.pause(ctx); err != nil {
			return false, err
		}
	}
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err != nil:
		g.note("it begins anew: %v", err)
		return false, nil
	}
	g.note("the server broke off, and gives neither a digest nor a strong ETag: it goes on, as size, date and samples are the same")
	if front := have.FirstGap(0); front > g.plan.brokenAt { // rule 22
		g.plan.brokenAt, g.plan.restarts = front, 0
	}
	g.goOn(s)
	g.plan.continued, g.result.Continued = true, true
	return true, nil
}

// sameSamples fetches the first MiB of what is here, the last one, and samples between them once more, and compares.
func (g *getter) sameSamples(ctx context.Context, prior partfile.Identity) error {
	have := g.part.Have()
	end := have.FirstGap(0)
	parts := []byterange.Range{{End: min(1<<20, end)}}
	for i := range int64(continuedSamples) {
		at := end / (continuedSamples + 1) * (i + 1)
		parts = append(parts, byterange.Range{Start: at, End: min(at+unit, end)})
	}
	parts = append(parts, byterange.Range{Start: max(0, end-1<<20), End: end})
	src := g.http.Source(g.req.URL, g.req.lookOptions(condition{}))
	for _, r := range parts {
		k := &sameAgain{part: g.part, prior: prior, r: r, at: r.Start}
		if err := src.Fetch(ctx, r, k); err != nil {
			return err
		}
		if k.at != r.End {
			return errOtherNow
		}
	}
	return nil
}

// A sameAgain is a sink that wants the bytes that are here already, of the file that was begun.
type sameAgain struct {
	part  *partfile.File
	prior partfile.Identity
	r     byterange.Range
	at    int64
	buf   []byte
}

// Answer implements source.Sink.
func (k *sameAgain) Answer(a source.Answer) error {
	switch {
	case a.Host != k.prior.Host:
		return fmt.Errorf("%w: %s answers, and it was %s", errOtherNow, a.Host, k.prior.Host)
	case a.Size != k.prior.Size:
		return fmt.Errorf("%w: it has %d bytes, and had %d", errOtherNow, a.Size, k.prior.Size)
	case !a.LastModified.Equal(k.prior.Date):
		return fmt.Errorf("%w: its date is another one", errOtherNow)
	case !a.Ranged:
		return fmt.Errorf("%w: it does not send parts", errOtherNow)
	}
	return nil
}

// WriteAt implements source.Sink.
func (k *sameAgain) WriteAt(p []byte, off int64) (int, error) {
	n := min(int64(len(p)), k.r.End-off)
	k.buf = append(k.buf[:0], p[:n]...)
	if m, err := k.part.ReadAt(k.buf, off); int64(m) < n {
		return 0, local(err)
	}
	if i := string(k.buf) != string(p[:n]); i {
		return 0, fmt.Errorf("%w: other bytes at %d", errOtherNow, off)
	}
	if k.at = off + n; k.at >= k.r.End {
		return int(n), source.ErrEnough
	}
	return int(n), nil
}
