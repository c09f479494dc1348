package download

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"

	"braid/byterange"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// An existingFile is the file that has the name before the download begins, on disk or in the Store. Its methods decide
// whether that file is the requested file, or newer than the server's, and whether it may be replaced or continued. The
// evidence is a recorded version, the answers of the server, and the bytes.
type existingFile struct {
	*call
	object *Existing // the file in the Store; nil before find, and if there is none
	path   string    // of the file; empty if there is none
}

// done reports whether the right file already exists, or the server has nothing newer. Any other existing
// file is an error, unless it may be replaced.
func (e *existingFile) done(ctx context.Context) (done bool, err error) {
	if err := e.recall(ctx); err != nil {
		return false, err
	}
	info, there, err := e.find(ctx)
	if there {
		e.path = e.result.Path
	}
	// A server could choose the name of any file of the user.
	if e.req.Described.choseName() && !e.ofDocument() || e.theirs && e.req.IfExists.IfNewer && e.recorded.here == nil {
		e.req.IfExists.Overwrite = false
	}
	if err != nil || !there || e.req.base != nil { // Verify has compared a base file before
		return false, err
	}
	c := e.committed()
	defer c.Close()
	if e.req.renames() && !e.req.IfExists.Continue {
		if !c.Due() || !e.asBefore(ctx, c) { // else an earlier run completed the file and was stopped
			return false, e.inTheWay("")
		}
		e.settle(c)
		return true, nil
	}
	if done, err = e.compare(ctx, info, c); done && err == nil && !e.document {
		e.settle(c)
		e.found(ctx)
		e.http.placed.add(info.ID)
	}
	return done, err
}

// compare compares the existing file with the requested file. c is the journal of an earlier run that put the existing
// file in place, or nil.
func (e *existingFile) compare(ctx context.Context, info fsys.Info, c *partfile.Committed) (done bool, err error) {
	if !e.req.IfExists.IfNewer && e.asBefore(ctx, c) {
		return true, nil
	}
	x, done, err := e.askFile(ctx)
	if done || err != nil {
		return done, err
	}
	claims := join(e.req.Trust.Claims, x.file.Claims)
	signed := sync.OnceValue(func() []found { return e.signatures(ctx, x.file) })
	found, err := e.lookBeside(ctx, x, claims, signed)
	if err != nil {
		return false, err
	}
	all, weak := join(claims, found), e.result.Looked.Weak
	unsigned := !e.req.IfExists.Overwrite && !e.req.Trust.Anchors.Any() // a signature would outweigh a weak digest
	if unsigned {
		all = join(all, weak)
	}
	proven := verify.Strong(all) || e.req.provenByPieces() || e.req.Trust.Require == RequireSignature
	counts := proven || e.confirmed(c, x)
	if (counts || unsigned && len(all) > 0) && !differs(x.file.Size, info.Size) {
		proof, err := e.check(ctx, all, e.req.byPieces(), checkersOf(e.req, signed())...)
		if own, ok := errors.AsType[*Error](err); ok { // an error of the store
			return false, own
		}
		if err == nil && counts && (proven || c.Is(proof)) && e.req.Trust.Require.met(proof) {
			e.complete(proof, e.versionOf(x, found))
			return true, nil
		}
		wrong := wrongOf(err)
		if wrong != nil && (!proven || slices.Contains(join(found, weak), wrong.Claim)) && !e.req.IfExists.IfNewer {
			return false, e.inTheWay(wrong.Error()) // samples would prove nothing against a published digest
		}
	}
	if done, err := e.nothingNewer(ctx, x, claims); done || err != nil {
		return done, err
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if e.req.IfExists.Overwrite {
		return false, nil
	}
	if e.document = inPlace(ctx, e.http, e.req, x.answer, info.Size); e.document {
		return true, nil
	}
	done, why, err := e.begun(ctx, info, x, claims)
	if done || err != nil || e.req.base != nil {
		return done, err
	}
	return false, e.inTheWay(why)
}

// lookBeside looks for published digests of the existing file. It does not do so if the existing file will be replaced
// anyway: the new file gets its own lookup. With IfNewer, the digests count only if the existing file is recorded as
// the server's version, because a published list may be older. They are always compared with the digest of a host to
// which the server redirects. The error is that they contradict that digest, or each other.
func (e *existingFile) lookBeside(ctx context.Context, x inquiry, claims []verify.Claim,
	signed func() []found) ([]verify.Claim, error) {
	counts := e.req.IfExists.IfNewer && e.recorded.relation(x) == same || !e.req.IfExists.IfNewer && !e.req.IfExists.Overwrite
	if !counts && !verify.Strong(claims) {
		return nil, nil
	}
	asked, file := join(e.req.Trust.Claims, x.asked), x.file
	if e.req.Trust.needsSignature() && len(signaturesOf(e.req, file)) > 0 && wantsList(e.req, signed()) {
		file = metalink.File{}
	}
	found, err := lookUp(ctx, e.http, e.req, x.answer.Hops, file, asked, claims)
	switch {
	case is[*otherHostError](err):
		return nil, err
	case !counts:
		return nil, nil
	case is[*verify.ConflictError](err) && !is[*Error](err) && !e.req.IfExists.IfNewer:
		return nil, e.req.fail(Protocol, err, HintNoLookup)
	}
	e.result.Looked = found
	return found.Claims, nil
}

// versionOf returns the answer whose ETag and date describe the existing file. The result is empty if they are those of
// a mirror's copy. If only a published digest proved the file, the answer may be of another version, and the result is
// empty unless the answer is of the recorded version.
func (e *existingFile) versionOf(x inquiry, found []verify.Claim) source.Answer {
	switch {
	case len(found) > 0 && e.recorded.relation(x) != same:
		return source.Answer{}
	case x.decides():
		return source.Answer{Host: x.answer.Host}
	}
	return x.answer
}

// askFile asks the server what the file is, unless the request states that. If done is true, the existing file is the
// right file, or the server answered with a document. A missing or contradictory answer has no effect.
func (e *existingFile) askFile(ctx context.Context) (x inquiry, done bool, err error) {
	known := metalink.File{Size: -1}
	if e.req.Described != nil {
		known.Size = e.req.Described.Size
	}
	if e.req.described() || verify.Strong(e.req.Trust.Claims) && !e.req.Trust.Anchors.Any() {
		x.file = known
		return x, false, nil
	}
	x, done, err = e.ask(ctx)
	if e.req.Described != nil || err != nil {
		x.file = known
	}
	switch {
	case ctx.Err() != nil:
		return x, false, context.Cause(ctx)
	case is[*otherHostError](err):
		return x, false, err
	case done || err != nil:
		return x, done, nil
	case x.nature == aDocument:
		e.document = true
		return x, true, nil
	}
	if x.decides() { // the digest decides, because a mirror gave the size
		x.file.Size = -1
	}
	if e.req.Described == nil { // the pin applies to an existing file, too: the file is compared with this answer
		x.resolution, err = e.c.checkBoth(ctx, e.http, e.req, x.resolution, pinOf, glance)
	}
	return x, false, err
}

// complete sets the result to the right file, which already exists. proof is about that file, and the answer a describes
// it. If the server was not asked, the recorded version does.
func (e *existingFile) complete(proof verify.Proof, a source.Answer) {
	if here := e.recorded.here; a.Host == "" && here != nil && slices.Contains(proof.Digests(), here.Digest) {
		a = source.Answer{ETag: here.ETag, LastModified: here.LastModified, Host: here.Host}
	}
	e.result.AlreadyComplete, e.result.Proof, e.result.Size = true, proof, proof.Size()
	e.result.describe(a)
	e.keep(proof, a.Host)
}

// begun takes the existing file for the first part of the wanted file, or for all of it, if the user allows that
// (Request.IfExists.Continue) and samples are the same when fetched again. The completed file then replaces the
// existing file. done reports whether the existing file is complete. why is the reason if the existing file cannot be
// continued. The error is that the server did not answer.
func (e *existingFile) begun(ctx context.Context, info fsys.Info, x inquiry, claims []verify.Claim) (
	done bool, why string, err error) {
	k := &known{digests: counted(claims), size: x.answer.Size, sizeBy: byServer, file: x.file}
	k.tag = tagOf(x.file, x.answer)
	prior := identityOf(e.req, k)
	prior.Host, prior.Date = x.answer.Host, x.answer.LastModified
	whole, known := info.Size == prior.Size, verify.Strong(claims)
	switch {
	case !e.req.onDisk(), e.req.Described.choseName(), !mayCompare(e.req, prior),
		whole && known: // otherwise compare would have proven it
		return false, "", nil
	case !whole && !known && len(e.req.Mirrors) > 0:
		return false, "", nil
	case info.Size > prior.Size:
		return false, "is longer than the server's file", nil
	}
	f, err := openRegular(e.http.files, e.result.Path)
	if err != nil {
		return false, "", err
	}
	defer f.Close()
	here := byterange.NewSet(byterange.Range{End: info.Size})
	err = e.sameSamples(ctx, prior, f, samplesOf(here, manySamples))
	if err != nil && (ctx.Err() != nil || unanswered(err)) {
		return false, "", err
	}
	if err != nil {
		return false, "cannot be resumed: " + err.Error(), nil
	}
	e.result.Continued = !known
	if whole {
		proof, err := checkFile(ctx, e.http.files, e.result.Path, claims, verify.PieceClaim{})
		if err != nil {
			return false, "", nil
		}
		e.complete(proof, x.answer)
		return true, "", nil
	}
	e.carried.continued = e.result.Continued
	e.req.IfExists.Overwrite = true
	e.req.base = &baseFile{path: e.result.Path, mode: info.Mode, identity: prior, file: x.file, begun: true}
	e.req.base.useful = here
	return false, "", nil
}

// An existsError is the error of an existing file that is not replaced. It matches fs.ErrExist in errors.Is.
type existsError struct{ why string }

func (e existsError) Error() string {
	return "already exists, and " + cmp.Or(e.why, "nothing proves that it is the right file")
}
func (existsError) Is(target error) bool { return target == fs.ErrExist }

// checkFile verifies the file at path with the claims, the signatures and, if there are any, the pieces.
func checkFile(ctx context.Context, files fsys.FS, path string, claims []verify.Claim, pieces verify.PieceClaim,
	signatures ...verify.SignatureChecker) (verify.Proof, error) {
	f, err := files.Open(path)
	if err != nil {
		return verify.Proof{}, err
	}
	defer f.Close()
	return checkBytes(ctx, fsys.Reader(f), claims, pieces, signatures...)
}

func checkBytes(ctx context.Context, from io.Reader, claims []verify.Claim, pieces verify.PieceClaim,
	signatures ...verify.SignatureChecker) (verify.Proof, error) {
	check := verify.NewChecker(-1, claims, signatures...)
	if !pieces.Pieces.IsZero() {
		check.ByPieces(pieces)
	}
	if err := newReading(func(Event) {}, -1, 0).copy(ctx, check, from); err != nil {
		return verify.Proof{}, err
	}
	return check.Proof()
}

// signatures fetches the signatures of the file, if a key or certificate is trusted.
func (e *existingFile) signatures(ctx context.Context, offered metalink.File) []found {
	if !e.req.Trust.Anchors.Any() {
		return nil
	}
	return signaturesAt(ctx, e.http, signaturesFor(e.req, offered, e.result.Looked), e.req, vouched(e.req.Trust.Claims))
}

// checkersOf returns the checker of the signatures all, or nothing if r has no anchors.
func checkersOf(r *Request, all []found) []verify.SignatureChecker {
	if !r.Trust.Anchors.Any() {
		return nil
	}
	return []verify.SignatureChecker{newSignatureSet(all, r.Trust.Anchors, fileNames(r))}
}

// find looks for an existing file with the name of the requested file. there reports whether it exists.
func (e *existingFile) find(ctx context.Context) (info fsys.Info, there bool, err error) {
	if e.upload == nil {
		return partfile.Target(e.http.files, e.req.Dir, e.req.Name)
	}
	if e.object == nil {
		e.object, err = e.upload.to.Existing(ctx)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return info, false, nil
	}
	if err != nil {
		return info, false, err
	}
	return fsys.Info{Size: e.object.Size, ModTime: e.object.ModTime}, true, nil
}

// check verifies the existing file, by pieces if any are given.
func (e *existingFile) check(ctx context.Context, claims []verify.Claim, pieces verify.PieceClaim,
	signatures ...verify.SignatureChecker) (verify.Proof, error) {
	if e.upload == nil {
		return checkFile(ctx, e.http.files, e.result.Path, claims, pieces, signatures...)
	}
	if _, there, err := e.find(ctx); err != nil || !there {
		return verify.Proof{}, cmp.Or(err, fs.ErrNotExist)
	}
	r, err := e.object.Open(ctx)
	if err != nil {
		return verify.Proof{}, err
	}
	defer r.Close()
	return checkBytes(ctx, r, claims, pieces, signatures...)
}

// committed opens the journal of an earlier run that put the file in place, and was then stopped or left work due. It
// returns nil if there is no such journal, or if another process uses the journal.
func (e *existingFile) committed() *partfile.Committed {
	if !e.req.onDisk() {
		return nil
	}
	c, _ := partfile.OpenCommitted(e.http.files, e.req.Dir, e.req.Name)
	return c
}

// asBefore reports whether an earlier run of the same request put the file in place, according to a journal with this
// user's seal and the bytes of the file. No server is asked. The result is false if the request now demands more than
// the file was proven by.
func (e *existingFile) asBefore(ctx context.Context, c *partfile.Committed) bool {
	r := e.req
	id, ok := c.Identity()
	if !ok || id.URLSum != partfile.SumURL(r.URL) || r.IfExists.Overwrite || r.Trust.Anchors.Any() || !c.Sealed(e.http.key) {
		return false
	}
	proof, err := checkFile(ctx, e.http.files, e.result.Path, join(r.Trust.Claims, id.Claims), r.byPieces())
	if err != nil || !c.Is(proof) || !r.Trust.Require.met(proof) {
		return false
	}
	e.complete(proof, source.Answer{ETag: id.ETag, LastModified: id.Date, Host: id.Host})
	return true
}

// confirmed reports whether the existing file may count as the file of the journal c without a digest: the journal has
// this user's seal, or the server's answer matches the journal. That proves nothing about the bytes.
func (e *existingFile) confirmed(c *partfile.Committed, x inquiry) bool {
	id, ok := c.Identity()
	if !ok || id.URLSum != partfile.SumURL(e.req.URL) || e.req.IfExists.Overwrite || e.req.IfExists.IfNewer {
		return false
	}
	if c.Sealed(e.http.key) {
		return true
	}
	t := tagOf(x.file, x.answer)
	now := partfile.Identity{URLSum: id.URLSum, Size: x.file.Size, ETag: t.etag, ETagHost: t.host,
		LastModified: dateOf(x.file, x.answer)}
	return tagged(now) && goesOnFrom(now, id) == nil
}

// settle removes what an earlier run left beside an existing file that stays. It keeps the journal if work is due.
func (e *existingFile) settle(c *partfile.Committed) {
	if !e.planOnly {
		c.ClearAsides(e.http.key)
	}
	switch {
	case c.Due() && (e.result.AlreadyComplete || c.Unchanged()):
		e.result.Due = true
	case !e.planOnly:
		c.Clear() // the journal is about other bytes, or nothing is due
	}
}

// found reports to the store that the existing file is right, if the bytes were read.
func (e *existingFile) found(ctx context.Context) {
	if e.upload != nil && !e.planOnly && len(e.result.Proof.Digests()) > 0 {
		e.upload.to.Found(ctx, UploadFinal{URL: source.Mask(e.req.URL), Result: *e.result})
	}
}
