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

// A condition makes a request conditional (RFC 9110, section 13.1). The zero value does not.
type condition struct {
	etag  string
	since time.Time
}

// recall finds the known version of the existing file, if only a newer one is wanted. The existing
// file stays until the newer one is proven. For a file that a document describes only the proof counts.
func (e *existingFile) recall(ctx context.Context) error {
	r := e.req
	if !r.IfExists.IfNewer || !r.hasName() {
		return nil
	}
	info, there, err := e.find(ctx)
	switch {
	case err != nil:
		return err
	case !there: // so it is not up to date
	case r.IfExists.Known != nil:
		v := *r.IfExists.Known
		v.LastModified, v.Size = usable(v.LastModified), info.Size
		e.recorded.here = &v
	case !r.IfExists.NoVersions && e.recorded.before == nil: // else follow set it
		if v, ok := e.c.State.Version(e.result.Path, r.URL); ok && v.Size == info.Size && r.Described == nil {
			e.recorded.here = &v
		}
		if v, ok := e.c.State.VersionAt(e.result.Path); ok && v.Size == info.Size && e.cameFromElsewhere(ctx, v) {
			if r.Described != nil { // its places have dates of their own
				v.LastModified = time.Time{}
			}
			e.recorded.before = &v
		}
	}
	e.recorded.replaces = there
	r.IfExists.Overwrite, r.IfExists.Known = true, nil
	return nil
}

// cameFromElsewhere reports whether the existing file is this version of another URL. It reads the file, as another
// program may have changed it.
func (e *existingFile) cameFromElsewhere(ctx context.Context, v state.Version) bool {
	if here := e.recorded.here; !e.req.onDisk() || here != nil && here.Digest == v.Digest {
		return false
	}
	_, err := e.check(ctx, []verify.Claim{{Digest: v.Digest, Channel: verify.HTTP}}, verify.PieceClaim{})
	return err == nil
}

// knownBy returns the condition that the caller gives.
func knownBy(r *Request) condition {
	if r.IfExists.Known == nil {
		return condition{}
	}
	return condition{r.IfExists.Known.ETag, r.IfExists.Known.LastModified}
}

// ask asks the server for its version. If done is true, the existing file is the same.
func (e *existingFile) ask(ctx context.Context) (x inquiry, done bool, err error) {
	x, err = e.req.inquire(ctx, e.http, look, e.recorded.condition(e.req))
	if x.answer.NotModified {
		if err == nil && e.isCurrent(ctx, x) {
			// By the date alone, an older file was not modified either.
			e.result.Older = e.req.IfExists.IfNewer && e.recorded.relation(x) == older
			e.unchanged(x.answer)
			return x, true, nil
		}
		if ctx.Err() != nil {
			return x, false, context.Cause(ctx)
		}
		x, err = e.req.inquire(ctx, e.http, look, condition{})
	}
	if err != nil {
		x, err = e.req.onTheWay(x, err)
	}
	e.carried.announced(x.answer)
	if err == nil && x.nature != aDocument && e.req.role() == asOrigin {
		e.carried.learn(x.statement())
	}
	return x, false, err
}

// isCurrent reports whether the existing file is the server's, and proven as demanded. It reads the bytes
// again if their digest is known, because another program may have changed them; if a mirror answered for a
// server that gave a digest, because the mirror may be stale; and if something must be proven.
func (e *existingFile) isCurrent(ctx context.Context, x inquiry) bool {
	here, known := e.recorded.here, e.recorded.identified()
	switch {
	case x.wrong != nil:
		return false
	// Another server's tag may be the same by chance.
	case here != nil && (known || here.Host != "") && here.Host != x.answer.Host:
		return false
	case !known && !x.decides() && e.req.Trust.Require == RequireNothing:
		return true
	}
	return e.holds(ctx, x.file.Claims, checkersOf(e.req, e.signatures(ctx, x.file))...)
}

// holds reports whether the existing file is the known one, if one is known, and these claims and signatures,
// with its earlier proof, suffice for Require.
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

// unchanged sets the result if nothing newer is available.
func (e *existingFile) unchanged(a source.Answer) {
	e.result.NotModified = true
	e.result.ETag, e.result.LastModified, e.result.Host = a.ETag, a.LastModified, a.Host
	here := e.recorded.here
	if here == nil {
		return
	}
	e.result.Size = here.Size
	if a.NotModified { // it may leave fields out
		e.result.ETag = cmp.Or(a.ETag, here.ETag)
		if a.LastModified.IsZero() {
			e.result.LastModified = here.LastModified
		}
	}
}

// nothingNewer compares the server's file with the existing one. A strong digest has already shown that they
// differ; if it is the user's, the server's file is wanted.
//
// The error is that the existing file stays, because the server has an older one, and is not proven as
// demanded.
func (e *existingFile) nothingNewer(ctx context.Context, x inquiry, claims []verify.Claim) (bool, error) {
	a := x.answer
	if e.dated(a, claims) {
		e.unchanged(a)
		e.result.Size = a.Size
		return true, nil
	}
	switch e.recorded.relation(x) {
	case same:
		if verify.Strong(claims) || !e.recorded.suffices(e.req) || !e.isCurrent(ctx, x) {
			return false, nil
		}
	case older:
		if !e.req.keepsNewer() || e.edited(ctx) {
			return false, nil
		}
		if e.req.Trust.Require != RequireNothing && !e.holds(ctx, nil) { // the server's claims are of the older one
			return false, unprovenNewer(e.req)
		}
		e.result.Older = true
	default:
		return false, nil
	}
	e.unchanged(a)
	return true, nil
}

// edited reports whether another program has changed the existing file since its version was recorded. Such a file
// does not count as newer, and edited forgets the recorded version.
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

var errLessProven = errors.New("a newer one exists, but with less proof than the existing one")

var errUnprovenNewer = errors.New("the server has an older one, and nothing proves the existing one")

// unprovenNewer returns the error of a file that stays, because the server has an older one, and is not
// proven as demanded.
func unprovenNewer(r *Request) *Error { return r.fail(NoEvidence, errUnprovenNewer, HintAllowOlder) }

// dated reports whether a file without a known version has exactly the date and size that the server states,
// as curl -R and wget leave it. That is no proof, so it counts only if none is demanded.
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

// keep records the server's version of the file that is now in place.
func (e *existingFile) keep(proof verify.Proof, host string) {
	if e.planOnly || e.req.IfExists.NoVersions || !e.req.IfExists.IfNewer || !e.req.hasName() {
		return
	}
	v := state.Version{Size: proof.Size(), Over: channelOfProof(proof)}
	if e.req.Described == nil { // else they are another server's
		v.ETag, v.LastModified, v.Host = e.result.ETag, usable(e.result.LastModified), host
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
	if err := e.c.State.KeepVersion(e.result.Path, e.req.URL, v); err != nil {
		e.note("the version of %s cannot be saved: %v", source.Escape(e.result.Path), err)
	}
}
