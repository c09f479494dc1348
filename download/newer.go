package download

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"braid/download/state"
	"braid/internal/partfile"
	"braid/source"
	"braid/verify"
)

// A condition makes a request conditional (RFC 9110, section 13.1). The zero value is no condition.
type condition struct {
	etag  string
	since time.Time
}

// recall finds the recorded version of the existing file, if the request has IfNewer. The existing file stays until a
// newer file is proven.
func (e *existingFile) recall(ctx context.Context) error {
	r := e.req
	if !r.IfExists.IfNewer || !r.hasName() {
		return nil
	}
	info, there, err := e.find(ctx)
	switch {
	case err != nil:
		return err
	case !there:
	case r.IfExists.Known != nil:
		v := *r.IfExists.Known
		v.LastModified, v.Size = usable(v.LastModified), info.Size
		e.recorded.here = &v
	case !r.IfExists.NoVersions && e.recorded.before == nil: // otherwise follow has set before
		if v, ok := e.c.State.Version(e.result.Path, r.URL); ok && v.Size == info.Size && r.Described == nil {
			e.recorded.here = &v
		}
		v, ok := e.c.State.VersionAt(e.result.Path)
		if ok = ok && v.Size == info.Size; ok {
			if ok, err = e.cameFromElsewhere(ctx, v); err != nil {
				return err
			}
		}
		if ok {
			if r.Described != nil { // the places of a document have dates of their own
				v.LastModified = time.Time{}
			}
			e.recorded.before = &v
		}
	}
	e.recorded.replaces = there
	r.IfExists.Overwrite, r.IfExists.Known = true, nil
	return nil
}

// cameFromElsewhere reports whether the existing file is version v, recorded for another URL. It reads the file,
// because another program may have changed it.
func (e *existingFile) cameFromElsewhere(ctx context.Context, v state.Version) (bool, error) {
	if here := e.recorded.here; here != nil && here.Digest == v.Digest {
		return false, nil
	}
	_, err := e.check(ctx, []verify.Claim{{Digest: v.Digest, Channel: verify.HTTP}}, verify.PieceClaim{})
	if wrongOf(err) != nil {
		return false, nil
	}
	return err == nil, err
}

// ofDocument reports whether the existing file is the version that an earlier run put there for the document of the
// request.
func (e *existingFile) ofDocument() bool {
	v, ok := e.c.State.Version(e.result.Path, e.req.Described.URL)
	return ok && e.recorded.before != nil && e.recorded.before.Digest == v.Digest
}

// knownBy returns the condition for the version that the caller knows (IfExists.Known).
func knownBy(r *Request) condition {
	if r.IfExists.Known == nil {
		return condition{}
	}
	return condition{r.IfExists.Known.ETag, r.IfExists.Known.LastModified}
}

// ask asks the server for its version. done reports whether the existing file is that version.
func (e *existingFile) ask(ctx context.Context) (x inquiry, done bool, err error) {
	x, err = inquire(ctx, e.http, e.req, look, e.recorded.condition(e.req), e.carried.spoken())
	if x.answer.NotModified {
		if err == nil && e.isCurrent(ctx, x) {
			if err := e.compareBeside(ctx, x); err != nil {
				return x, false, err
			}
			// The server answers 304 also if its file is older than the date.
			e.result.Older = e.req.IfExists.IfNewer && e.recorded.relation(x) == older
			e.unchanged(x.answer)
			return x, true, nil
		}
		if ctx.Err() != nil {
			return x, false, context.Cause(ctx)
		}
		e.carried.hear(x.statement())
		x, err = inquire(ctx, e.http, e.req, look, condition{}, e.carried.spoken())
	}
	if err != nil {
		x, err = onTheWay(e.req, x, err)
	}
	e.carried.announced(x.answer)
	if err == nil && x.nature != aDocument && e.req.role() == asOrigin {
		e.carried.learn(x.statement())
	}
	return x, false, err
}

// compareBeside returns an error if a host other than the asked server says that the existing file is unchanged, and the
// digests beside the file contradict the existing file. Without an answer, those of an earlier run count.
func (e *existingFile) compareBeside(ctx context.Context, x inquiry) error {
	r, asked := e.req, join(e.req.Trust.Claims, x.asked)
	if r.Described != nil || at(x.answer.Host, r.URL) || verify.Strong(asked) {
		return nil
	}
	found := e.result.Looked
	if x.answer.NotModified {
		var err error
		if found, err = lookUp(ctx, e.http, r, x.answer.Hops, x.file, asked, x.file.Claims); is[*otherHostError](err) {
			return err
		}
		e.result.Looked = found
	}
	beside := found.Claims
	if found.Missed && len(beside) == 0 {
		beside = e.http.state.Opposed(r.URL)
	}
	known := e.result.Proof.Digests()
	if !slices.ContainsFunc(beside, func(c verify.Claim) bool { return !slices.Contains(known, c.Digest) }) {
		return nil
	}
	_, err := e.check(ctx, beside, verify.PieceClaim{})
	if wrong := wrongOf(err); wrong != nil {
		if len(found.Claims) > 0 {
			e.http.state.KeepOpposed(r.URL, found.Claims)
		}
		return fail(Mismatch, "verify", source.Mask(r.URL), &otherHostError{wrong}, HintNoLookup)
	}
	return context.Cause(ctx)
}

// isCurrent reports whether the existing file is the server's version, and is proven as demanded. It reads the bytes in
// three cases: their digest is known, and another program may have changed them; a mirror, which may be stale, answered
// for a server that gave a digest; or the request demands a proof.
func (e *existingFile) isCurrent(ctx context.Context, x inquiry) bool {
	here, known := e.recorded.here, e.recorded.identified()
	switch {
	case x.wrong != nil:
		return false
	// The tag of another server may be the same by chance.
	case here != nil && (known || here.Host != "") && here.Host != x.answer.Host:
		return false
	case !known && !x.decides() && e.req.Trust.Require == RequireNothing:
		return true
	}
	return e.holds(ctx, x.file.Claims, checkersOf(e.req, e.signatures(ctx, x.file))...)
}

// holds reports whether the existing file is still the recorded version, if there is one, and is proven as demanded by
// these claims and signatures, or by the earlier proof.
func (e *existingFile) holds(ctx context.Context, claims []verify.Claim, signatures ...verify.SignatureChecker) bool {
	here, known := e.recorded.here, e.recorded.identified()
	if known && here.Over != 0 {
		claims = join(claims, []verify.Claim{{Digest: here.Digest, Field: "the last download", Channel: here.Over}})
	}
	proof, err := e.check(ctx, claims, verify.PieceClaim{}, signatures...)
	if err != nil || known && !slices.Contains(proof.Digests(), here.Digest) || !e.req.Trust.Require.met(proof) {
		return false
	}
	e.result.Proof = proof
	return true
}

// describe sets the validators of r to those of a.
func (r *Result) describe(a source.Answer) {
	r.ETag, r.LastModified, r.Host, r.Fleeting = a.ETag, a.LastModified, a.Host, a.Fleeting
}

// unchanged sets the result if nothing newer is available.
func (e *existingFile) unchanged(a source.Answer) {
	e.result.NotModified = true
	e.result.describe(a)
	here := e.recorded.here
	if here == nil {
		return
	}
	e.result.Size = here.Size
	if a.NotModified { // a 304 may omit fields
		e.result.ETag = cmp.Or(a.ETag, here.ETag)
		if a.LastModified.IsZero() {
			e.result.LastModified = here.LastModified
		}
	}
}

// nothingNewer reports whether the server has no newer file than the existing file. If a strong digest is known, compare
// has shown that the files differ.
//
// The error is that the server's file is older, and that the existing file, which stays, is not proven as demanded.
func (e *existingFile) nothingNewer(ctx context.Context, x inquiry, claims []verify.Claim) (bool, error) {
	a := x.answer
	if e.dated(a, claims) && !e.contradicted(ctx, claims) {
		e.unchanged(a)
		e.result.Size = a.Size
		return true, nil
	}
	how := e.recorded.relation(x)
	if how == same && verify.Strong(claims) && predates(a, e.recorded.here) { // the server repeats the tag for another file
		how = older
	}
	switch how {
	case same:
		if verify.Strong(claims) || !e.recorded.suffices(e.req) || !e.isCurrent(ctx, x) ||
			!e.recorded.identified() && e.contradicted(ctx, claims) {
			return false, nil
		}
		if err := e.compareBeside(ctx, x); err != nil {
			return false, err
		}
	case older:
		if !e.req.keepsNewer() || e.edited(ctx) {
			return false, nil
		}
		if e.req.Trust.Require != RequireNothing && !e.holds(ctx, nil) { // the server's claims are about the older file
			return false, unprovenNewer(e.req)
		}
		e.result.Older = true
	default:
		return false, nil
	}
	e.unchanged(a)
	return true, nil
}

// contradicted reports whether the existing file on disk does not have the weak digests in claims. It reads the file only
// if there are any.
func (e *existingFile) contradicted(ctx context.Context, claims []verify.Claim) bool {
	if len(claims) == 0 || !e.req.onDisk() {
		return false
	}
	_, err := e.check(ctx, claims, verify.PieceClaim{})
	return wrongOf(err) != nil
}

// edited reports whether another program has changed the existing file since its version was recorded. Such a file does
// not count as newer than the server's, and edited discards the recorded version.
func (e *existingFile) edited(ctx context.Context) bool {
	if !e.recorded.identified() {
		return false
	}
	_, err := e.check(ctx, []verify.Claim{{Digest: e.recorded.here.Digest, Channel: verify.HTTP}}, verify.PieceClaim{})
	if !is[*verify.MismatchError](err) {
		return false
	}
	e.recorded.here = nil
	return true
}

var errLessProven = errors.New("the server's newer file has less proof than the existing one")
var errUnprovenNewer = errors.New("the server has an older file, and nothing proves the existing one")

// unprovenNewer returns the error of an existing file that is newer than the server's, and is not proven as demanded.
func unprovenNewer(r *Request) *Error { return r.fail(NoEvidence, errUnprovenNewer, HintAllowOlder) }

// dated reports whether a file without a recorded version has exactly the date and size that the server states, as
// after curl -R or wget. That is no proof, so it counts only if no proof is demanded.
func (e *existingFile) dated(a source.Answer, claims []verify.Claim) bool {
	r := e.req
	if !r.IfExists.IfNewer || !r.onDisk() || e.recorded.here != nil || r.Trust.Require != RequireNothing ||
		r.Trust.Anchors.Any() || verify.Strong(claims) {
		return false
	}
	info, there, err := partfile.Target(e.http.files, r.Dir, r.Name)
	then := usable(a.LastModified)
	return err == nil && there && !then.IsZero() && then.Equal(usable(info.ModTime)) && info.Size == a.Size
}

// keep records the version of the file that is now in place. host is the server that gave it.
func (e *existingFile) keep(proof verify.Proof, host string) {
	if e.planOnly || e.req.IfExists.NoVersions || !e.req.IfExists.IfNewer || !e.req.hasName() {
		return
	}
	v := state.Version{Size: proof.Size(), Over: channelOfProof(proof)}
	if e.req.Described == nil { // otherwise these facts are about another server's copy
		v.ETag, v.LastModified, v.Host = e.result.ETag, usable(e.result.LastModified), host
	}
	if e.result.Fleeting {
		v = v.Before()
	}
	if v.ETag == "" && v.LastModified.IsZero() && v.Over == 0 {
		return
	}
	i := slices.IndexFunc(proof.Digests(), func(d verify.Digest) bool { return d.Algorithm() == verify.SHA256 })
	if i < 0 {
		return
	}
	v.Digest = proof.Digests()[i]
	if here := e.recorded.here; here != nil && here.Digest == v.Digest {
		if v.Over = max(v.Over, here.Over); *here == v {
			return
		}
	}
	u := e.req.URL
	if e.req.Described.choseName() {
		u = e.req.Described.URL
	}
	if err := e.c.State.KeepVersion(e.result.Path, u, v); err != nil {
		e.req.note("the version of %s cannot be saved: %v", source.Escape(e.result.Path), err)
	}
}
