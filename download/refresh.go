package download

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"braid/byterange"
	"braid/internal/partfile"
	"braid/internal/recheck"
	"braid/internal/version"
	"braid/source"
	"braid/verify"
)

// A refresh decides whether the part file of an earlier run is a part of the file at a new URL
// (Request.IfExists.Refresh). If not, the download ends, and the part file does not change.
type refresh struct {
	*resumption
	link partfile.Identity // the facts that the new URL states about the file
}

// These are the reasons not to resume a part file.
var (
	errNoPart      = errors.New("there is no part file to resume")
	errUnknownPart = errors.New("no trusted record says which file the part belongs to")
	errUntiedLink  = errors.New("nothing shows that the new link leads to the same file: they have no strong digest in " +
		"common, and no strong ETag of the same host")
)

// lookForPart returns an error if there is nothing to resume. Unlike partfile.Open, it changes nothing.
func lookForPart(c *call) error {
	l, ok, err := partfile.Look(c.http.files, c.req.Dir, c.req.Name)
	switch {
	case err != nil || l.InUse: // Open reports it
		return err
	case !ok || l.Committed:
		return c.req.fail(Local, errNoPart, "")
	case !l.Known || l.Have.Len() == 0:
		return c.req.fail(Local, errUnknownPart, HintAnew)
	}
	return nil
}

// keepRefreshed returns the error of a download that would have to start over because of err. It keeps the resumed bytes.
func (p *partial) keepRefreshed(err error) error {
	p.useful = true
	return p.req.fail(Local, fmt.Errorf("the new link cannot be used to resume: %w", err), HintAnew)
}

// goOn resumes the part file, or ends the download.
func (r *refresh) goOn(ctx context.Context) error {
	r.kept = r.part.Inherited()
	samples, err := r.decide(ctx)
	if err != nil || r.document {
		return err
	}
	if err := r.part.Recover(ctx); err != nil {
		return err
	}
	if err := r.compare(ctx, samples); err != nil {
		return err
	}
	if samples == manySamples {
		r.carried.continued, r.result.Continued = true, true
	}
	r.req.note("the download continues with the part from %s", r.prior.URL)
	return r.goOnWith(r.identity())
}

// These are the sizes of samples in bytes.
const (
	noSamples   = 0
	fewSamples  = 64 << 10 // if the ETag is equal, which may not be unique on the host (RFC 9110, section 8.8.3)
	manySamples = 1 << 20
)

// decide returns an error if the new URL does not lead to the file that was begun. samples is the size of the samples
// that must be compared.
func (r *refresh) decide(ctx context.Context) (samples int64, err error) {
	if len(r.prior.Refuted) > 0 {
		return 0, r.req.fail(Local, errors.New("the part is complete, but does not match the given digest"), HintAnew)
	}
	if err := r.ask(ctx); err != nil || r.document {
		return 0, err
	}
	if err := r.contradiction(); err != nil {
		return 0, r.req.fail(Local, fmt.Errorf("the new link leads to another file: %w", err), HintAnew)
	}
	sameSize := r.link.Size >= 0 && r.link.Size == r.prior.Size
	switch {
	case r.sameDigest():
		return noSamples, nil
	case sameSize && r.link.ETag != "" && !r.prior.Mixed && r.link.ETag == r.prior.ETag && r.link.ETagHost == r.prior.ETagHost:
		return fewSamples, nil
	case r.req.IfExists.Continue && sameSize && r.sealed && r.req.Trust.Require == RequireNothing && len(r.req.Mirrors) == 0 &&
		!r.req.described():
		return manySamples, nil
	}
	return 0, r.req.fail(Local, errUntiedLink, HintRefresh)
}

// ask sets link to the facts that the new URL, or a document, states about the file.
func (r *refresh) ask(ctx context.Context) error {
	r.link = identityOf(r.req, &known{digests: counted(r.req.Trust.Claims), size: -1})
	if d := r.req.Described; d != nil {
		r.link.Size = d.Size
	}
	if r.req.described() {
		return nil
	}
	x, err := r.lookAgain(ctx, r.prior)
	// A signed URL may be valid for GET only.
	if e, ok := errors.AsType[*source.Error](err); ok && 400 <= e.Status && e.Status < 500 {
		x, err = inquire(ctx, r.http, r.req, glance, condition{}, r.carried.spoken())
		r.document = err == nil && x.nature == aDocument
	}
	if err != nil || r.document {
		return err
	}
	r.link = x.statement().describe(r.link)
	r.link.Host, r.link.Date = x.answer.Host, x.answer.LastModified
	return nil
}

// contradiction returns an error if the new URL leads to another file or another version.
func (r *refresh) contradiction() error {
	if r.sameDigest() && !differs(r.prior.Size, r.link.Size) {
		return verify.Agree(r.prior.Claims, r.link.Claims)
	}
	v := version.Compare(identityView(r.prior), identityView(r.link))
	if v.Judgment == version.Other {
		return v.Why
	}
	return nil
}

// sameDigest reports whether the new URL and the part file have the same strong digest, or the same digests of pieces.
func (r *refresh) sameDigest() bool {
	shared := slices.DeleteFunc(slices.Clone(r.link.Claims), func(c verify.Claim) bool {
		return !slices.ContainsFunc(r.prior.Claims, func(p verify.Claim) bool { return p.Digest == c.Digest })
	})
	return verify.Strong(shared) || r.link.PieceSum != "" && r.link.PieceSum == r.prior.PieceSum
}

// compare fetches samples of the existing bytes again, of size bytes each. It returns an error if a sample differs.
func (r *refresh) compare(ctx context.Context, size int64) error {
	have := r.part.Have()
	r.kept = have.Len()
	if size == noSamples {
		return nil
	}
	then := r.link // each answer must match the first answer, and earlier answers of the same host
	if r.prior.Host == then.Host {
		then.Date = r.prior.Date
	}
	err := r.sameSamples(ctx, then, r.part, samplesOf(have, size))
	if err == nil || ctx.Err() != nil || unanswered(err) {
		return err
	}
	return r.req.fail(Local, err, HintAnew)
}

// identity returns the facts about the existing bytes, with the new URL and its validators.
func (r *refresh) identity() partfile.Identity {
	id := takenOver(r.link, r.prior, r.sealed)
	id.URL, id.URLSum, id.Host, id.Date = r.link.URL, r.link.URLSum, r.link.Host, r.link.Date
	id.ETag, id.ETagHost, id.LastModified = r.link.ETag, r.link.ETagHost, r.link.LastModified
	if id.Claims = join(id.Claims, r.link.Claims); id.Size < 0 {
		id.Size = r.link.Size
	}
	return id
}

// mostRuns limits how many separate ranges are sampled at both ends.
const mostRuns = 32

// samplesOf returns ranges of the existing bytes: size bytes at the beginning and at the end, 16 shorter ranges between
// them, and, if have has several ranges, both ends of each.
func samplesOf(have byterange.Set, size int64) (parts []byterange.Range) {
	var runs []byterange.Range
	for r := range have.All() {
		runs = append(runs, r)
	}
	if len(runs) == 0 {
		return nil
	}
	first, last := runs[0], runs[len(runs)-1]
	parts = append(parts, byterange.Range{Start: first.Start, End: min(first.Start+size, first.End)})
	for i := range int64(continuedSamples) {
		at := have.Len() / (continuedSamples + 1) * (i + 1)
		for _, r := range runs {
			if at < r.Len() {
				parts = append(parts, byterange.Range{Start: r.Start + at, End: min(r.Start+at+min(recheck.Unit, size), r.End)})
				break
			}
			at -= r.Len()
		}
	}
	for _, r := range runs[:min(len(runs), mostRuns)] {
		if len(runs) > 1 {
			unit := min(recheck.Unit, size)
			parts = append(parts, byterange.Range{Start: r.Start, End: min(r.Start+unit, r.End)},
				byterange.Range{Start: max(r.Start, r.End-unit), End: r.End})
		}
	}
	return append(parts, byterange.Range{Start: max(last.Start, last.End-size), End: last.End})
}
