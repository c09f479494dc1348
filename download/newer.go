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
	"braid/verify/signatures"
)

// A condition makes a request conditional (RFC 9110, section 13.1). The zero value does not.
type condition struct {
	etag  string
	since time.Time
}

// recallVersion finds the known version of the existing file, if only a newer one is wanted. The existing
// file stays until the newer one is proven. For a file that a document describes only the proof counts.
func (g *getter) recallVersion(ctx context.Context) error {
	r := &g.req
	if !r.IfExists.IfNewer || !r.hasName() {
		return nil
	}
	info, there, err := g.there(ctx)
	switch {
	case err != nil:
		return err
	case !there: // so it is not up to date
	case r.IfExists.Known != nil:
		v := *r.IfExists.Known
		v.LastModified, v.Size = usable(v.LastModified), info.Size
		g.carried.here = &v
	case !r.IfExists.NoVersions && g.carried.before == nil: // else follow set it
		if v, ok := g.c.State.Version(g.result.Path, r.URL); ok && v.Size == info.Size && r.Described == nil {
			g.carried.here = &v
		}
		if v, ok := g.c.State.VersionAt(g.result.Path); ok && v.Size == info.Size && g.cameFromElsewhere(ctx, v) {
			if r.Described != nil { // its places have dates of their own
				v.LastModified = time.Time{}
			}
			g.carried.before = &v
		}
	}
	g.carried.replaces = there
	r.IfExists.Overwrite, r.IfExists.Known = true, nil
	return nil
}

// cameFromElsewhere reports whether the existing file is this version of another URL. It reads the file, as another
// program may have changed it.
func (g *getter) cameFromElsewhere(ctx context.Context, v state.Version) bool {
	if here := g.carried.here; !g.req.onDisk() || here != nil && here.Digest == v.Digest {
		return false
	}
	_, err := g.checkThere(ctx, []verify.Claim{{Digest: v.Digest, Channel: verify.HTTP}}, verify.PieceClaim{})
	return err == nil
}

// knownBy returns the condition that the caller gives.
func knownBy(r *Request) condition {
	if r.IfExists.Known == nil {
		return condition{}
	}
	return condition{r.IfExists.Known.ETag, r.IfExists.Known.LastModified}
}

// remembered reports whether the digest of the existing version is known.
func (p *carried) remembered() bool { return p.here != nil && !p.here.Digest.IsZero() }

// suffices reports whether nothing more must be proven than when the file was downloaded.
func (g *getter) suffices() bool {
	r := &g.req
	return !g.carried.remembered() || !verify.Strong(r.Trust.Claims) && !r.Trust.Anchors.Any() &&
		(r.Trust.Require == RequireNothing || g.carried.here.Over != 0)
}

// condition returns that of the first request. A date alone does not distinguish an older file from the same
// one.
func (g *getter) condition() condition {
	here, r := g.carried.here, &g.req
	switch {
	case here == nil:
		return knownBy(r)
	case !g.suffices(), r.IfExists.AllowOlder && here.ETag == "":
		return condition{}
	}
	return condition{here.ETag, here.LastModified}
}

// ask asks the server for its version. If done is true, the existing file is the same.
func (g *getter) ask(ctx context.Context) (x inquiry, done bool, err error) {
	x, err = g.req.inquire(ctx, g.http, look, g.condition())
	if x.answer.NotModified {
		if err == nil && g.isCurrent(ctx, x) {
			// By the date alone, an older file was not modified either.
			g.result.Older = g.req.IfExists.IfNewer && g.relation(x) == older
			g.unchanged(x.answer)
			return x, true, nil
		}
		if ctx.Err() != nil {
			return x, false, context.Cause(ctx)
		}
		x, err = g.req.inquire(ctx, g.http, look, condition{})
	}
	if err != nil {
		x, err = g.req.onTheWay(x, err)
	}
	g.carried.announced(x.answer)
	if err == nil && x.nature != aDocument && g.req.role() == asOrigin {
		g.carried.learn(x.statement())
	}
	return x, false, err
}

// isCurrent reports whether the existing file is the server's, and proven as demanded. It reads the bytes
// again if their digest is known, because another program may have changed them; if a mirror answered for a
// server that gave a digest, because the mirror may be stale; and if something must be proven.
func (g *getter) isCurrent(ctx context.Context, x inquiry) bool {
	here, known := g.carried.here, g.carried.remembered()
	switch {
	case x.wrong != nil:
		return false
	// Another server's tag may be the same by chance.
	case here != nil && (known || here.Host != "") && here.Host != x.answer.Host:
		return false
	case !known && !x.decides() && g.req.Trust.Require == RequireNothing:
		return true
	}
	return g.holds(ctx, x.file.Claims, g.checkers(g.existingSignatures(ctx, x.file))...)
}

// holds reports whether the existing file is the known one, if one is known, and these claims and signatures,
// with its earlier proof, suffice for Require.
func (g *getter) holds(ctx context.Context, claims []verify.Claim, signatures ...verify.SignatureChecker) bool {
	here, known := g.carried.here, g.carried.remembered()
	if known && here.Over != 0 {
		claims = join(claims, []verify.Claim{{Digest: here.Digest, Field: "the last download", Channel: here.Over}})
	}
	proof, err := g.checkThere(ctx, claims, verify.PieceClaim{}, signatures...)
	if err != nil || known && !slices.Contains(proof.Digests(), here.Digest) || !g.req.Trust.Require.met(proof) {
		return false
	}
	g.result.Proof = proof
	return true
}

// unchanged sets the result if nothing newer is available.
func (g *getter) unchanged(a source.Answer) {
	g.result.NotModified = true
	g.result.ETag, g.result.LastModified, g.result.Host = a.ETag, a.LastModified, a.Host
	here := g.carried.here
	if here == nil {
		return
	}
	g.result.Size = here.Size
	if a.NotModified { // it may leave fields out
		g.result.ETag = cmp.Or(a.ETag, here.ETag)
		if a.LastModified.IsZero() {
			g.result.LastModified = here.LastModified
		}
	}
}

// nothingNewer compares the server's file with the existing one. A strong digest has already shown that they
// differ; if it is the user's, the server's file is wanted.
//
// The error is that the existing file stays, because the server has an older one, and is not proven as
// demanded.
func (g *getter) nothingNewer(ctx context.Context, x inquiry, claims []verify.Claim) (bool, error) {
	a := x.answer
	if g.dated(a, claims) {
		g.unchanged(a)
		g.result.Size = a.Size
		return true, nil
	}
	switch g.relation(x) {
	case same:
		if verify.Strong(claims) || !g.suffices() || !g.isCurrent(ctx, x) {
			return false, nil
		}
	case older:
		if !g.req.keepsNewer() || g.edited(ctx) {
			return false, nil
		}
		if g.req.Trust.Require != RequireNothing && !g.holds(ctx, nil) { // the server's claims are of the older one
			return false, unprovenNewer(&g.req)
		}
		g.result.Older = true
	default:
		return false, nil
	}
	g.unchanged(a)
	return true, nil
}

// edited reports whether another program has changed the existing file since its version was recorded. Such a file
// does not count as newer, and edited forgets the recorded version.
func (g *getter) edited(ctx context.Context) bool {
	if !g.carried.remembered() {
		return false
	}
	_, err := g.checkThere(ctx, []verify.Claim{{Digest: g.carried.here.Digest, Channel: verify.HTTP}}, verify.PieceClaim{})
	if !is[*verify.MismatchError](err) {
		return false
	}
	g.carried.here = nil
	return true
}

var errLessProven = errors.New("a newer one exists, but with less proof than the existing one")

// stepsDown reports whether a proven file would be replaced by a newer one with less proof (rule 56).
func (g *getter) stepsDown(proof verify.Proof) bool {
	less := func(here *state.Version) bool {
		return here != nil && !slices.Contains(proof.Digests(), here.Digest) && channelOfProof(proof) < here.Over
	}
	return g.carried.replaces && !g.req.Trust.LessProof && (less(g.carried.here) || less(g.carried.before))
}

var errUnprovenNewer = errors.New("the server has an older one, and nothing proves the existing one")

// unprovenNewer returns the error of a file that stays, because the server has an older one, and is not
// proven as demanded.
func unprovenNewer(r *Request) *Error { return r.fail(NoEvidence, errUnprovenNewer, HintAllowOlder) }

// dated reports whether a file without a known version has exactly the date and size that the server states,
// as curl -R and wget leave it. That is no proof, so it counts only if none is demanded.
func (g *getter) dated(a source.Answer, claims []verify.Claim) bool {
	r := &g.req
	if !r.IfExists.IfNewer || !r.onDisk() || g.carried.here != nil || r.Trust.Require != RequireNothing ||
		r.Trust.Anchors.Any() || verify.Strong(claims) {
		return false
	}
	info, there, err := partfile.Target(g.http.files, r.Dir, r.Name)
	then := usable(a.LastModified)
	return err == nil && there && !then.IsZero() && then.Equal(usable(info.ModTime)) && info.Size == a.Size
}

// relation returns how an answer relates to the existing file. The date and ETag of a mirror that answered
// for a server with a digest do not count.
func (g *getter) relation(x inquiry) relation {
	if x.wrong != nil || x.decides() {
		return unknown
	}
	if g.carried.older(x.answer) {
		return older
	}
	return compare(g.carried.here, x.answer)
}

// older reports whether an answer is about an older file than the existing one.
func (p *carried) older(a source.Answer) bool {
	return compare(p.here, a) == older || compare(p.before, a) == older
}

// outdated reports whether an earlier run left a part of an older version than that of the existing file,
// which must not be replaced by it.
func (g *getter) outdated(prior partfile.Identity) bool {
	then := source.Answer{ETag: prior.ETag, LastModified: prior.Date, Host: prior.Host, Size: prior.Size}
	return g.req.IfExists.IfNewer && g.req.keepsNewer() && g.carried.older(then)
}

// modified returns the date for the file, if the server's is wanted.
func (g *getter) modified() time.Time {
	if !g.req.RemoteTime || !g.req.onDisk() {
		return time.Time{}
	}
	t := usable(g.result.LastModified)
	if t.IsZero() {
		why := "no date"
		if date := g.result.LastModified; !date.IsZero() {
			why = "an unusable date, " + date.UTC().Format(time.RFC1123)
		}
		g.req.observe(Note{Text: "the server gave " + why + ": the file gets its present date", Plain: true})
	}
	return t
}

// keepVersion records the server's version of the file that is now in place.
func (g *getter) keepVersion(proof verify.Proof, host string) {
	if g.planOnly || g.req.IfExists.NoVersions || !g.req.IfExists.IfNewer || !g.req.hasName() {
		return
	}
	v := state.Version{Size: proof.Size(), Over: channelOfProof(proof)}
	if g.carried.origin == g.req.URL && g.req.Described == nil { // else they are another server's
		v.ETag, v.LastModified, v.Host = g.result.ETag, usable(g.result.LastModified), host
	}
	if v.ETag == "" && v.LastModified.IsZero() && v.Over == 0 {
		return
	}
	i := slices.IndexFunc(proof.Digests(), func(d verify.Digest) bool { return d.Algorithm() == verify.SHA256 })
	if i < 0 {
		return
	}
	v.Digest = proof.Digests()[i]
	if here := g.carried.here; here != nil && here.Digest == v.Digest {
		if v.Over = max(v.Over, here.Over); *here == v {
			return
		}
	}
	if err := g.c.State.KeepVersion(g.result.Path, g.req.URL, v); err != nil {
		g.note("the version of %s cannot be saved: %v", source.Escape(g.result.Path), err)
	}
}

// channelOfProof returns the channel of the best evidence. That of a signer or of the user was checked here.
func channelOfProof(p verify.Proof) verify.Channel {
	if !p.Verified() {
		return 0
	}
	best := channelOfClaims(p.Evidence())
	if best == 0 || best >= verify.Signed || p.Signed() {
		return verify.User
	}
	return best
}

// keepPin records the evidence that the URL offered, now that it has proven true: in the answers of its own host. A
// document, a list or a server that this one led to may have more, and none of them may come the next time. With
// NoMetalink it records nothing: the file may be the document that otherwise describes the file of this URL.
func (g *getter) keepPin() {
	own := g.req.Described == nil
	if own && g.req.Trust.LessProof && g.carried.origin == g.req.URL {
		g.c.State.ForgetPin(g.req.URL)
	}
	if own && !g.req.NoMetalink {
		g.c.State.KeepPin(g.req.URL, g.carried.pin)
	}
}

// follow downloads the file that the document at the URL of the request describes, with another getter. The
// user's demands and name hold for that file.
func (g *getter) follow(ctx context.Context) (*getter, error) {
	req, err := g.asked.describedInPlace(ctx, g.http, (*Document).Request)
	if err != nil {
		return g, err
	}
	if err := g.checkInPlace(&req); err != nil {
		return g, err
	}
	next := newGetter(g.c, g.http, req, g.trees)
	next.began = g.began
	if req.Name == g.req.Name {
		next.carried.before = cmp.Or(g.carried.here, g.carried.before)
	}
	next.carried.fetches, next.result.Fetched, next.result.Duplicate = g.carried.fetches, g.result.Fetched, g.result.Duplicate
	return next.getNamed(ctx)
}

// checkInPlace returns an error if a document in place of the file offers less evidence than the URL did
// before.
func (g *getter) checkInPlace(described *Request) error {
	var kinds []string
	for _, sig := range described.Trust.Signatures {
		if sig.Data != nil {
			kinds = append(kinds, signatures.Of(sig.Data).Types[0])
		}
	}
	return g.c.checkPin(&g.asked, state.PinOf(withoutUser(described.Trust.Claims), kinds...))
}
