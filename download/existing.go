package download

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"
	"time"

	"braid/byterange"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// existing reports whether the right file already exists, or the server has nothing newer. Any other existing
// file is an error, unless it may be replaced.
func (g *getter) existing(ctx context.Context) (done bool, err error) {
	info, there, err := g.there(ctx)
	if there {
		g.remains.there = g.result.Path
	}
	if err != nil || !there || g.req.base != nil { // a base file was compared before
		return false, err
	}
	c := g.committed()
	defer c.Close()
	if g.req.renames() && !g.req.IfExists.Continue {
		if !c.Due() || !g.asBefore(ctx, c) { // else a run completed it and was stopped before it reported that
			return false, g.inTheWay("")
		}
		g.settle(c)
		return true, nil
	}
	if done, err = g.compareExisting(ctx, info, c); done && err == nil && !g.document {
		g.settle(c)
		storing{g}.found(ctx)
	}
	return done, err
}

// compareExisting compares the existing file with the requested one. An earlier run may have left it with the
// journal c.
func (g *getter) compareExisting(ctx context.Context, info fsys.Info, c *partfile.Committed) (done bool, err error) {
	if !g.req.IfExists.IfNewer && g.asBefore(ctx, c) {
		return true, nil
	}
	x, done, err := g.askFile(ctx)
	if done || err != nil {
		return done, err
	}
	claims := join(g.req.Trust.Claims, x.file.Claims)
	signed := sync.OnceValue(func() []found { return g.existingSignatures(ctx, x.file) })
	found, err := g.lookBeside(ctx, x, claims, signed)
	if err != nil {
		return false, err
	}
	all := join(claims, found)
	proven := verify.Strong(all) || g.req.provenByPieces() || g.req.Trust.Require == RequireSignature
	if (proven || g.confirmed(c, x)) && !differs(x.file.Size, info.Size) {
		proof, err := g.checkThere(ctx, all, g.req.byPieces(), g.checkers(signed())...)
		if own, ok := errors.AsType[*Error](err); ok { // of the store
			return false, own
		}
		if err == nil && (proven || c.Is(proof)) && g.req.Trust.Require.met(proof) {
			g.complete(proof, g.versionOf(x, found))
			return true, nil
		}
		if wrong := wrongOf(err); wrong != nil && slices.Contains(found, wrong.Claim) && !g.req.IfExists.IfNewer {
			return false, g.inTheWay(wrong.Error()) // samples prove nothing against it
		}
	}
	if done, err := g.nothingNewer(ctx, x, claims); done || err != nil {
		return done, err
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if g.req.IfExists.Overwrite {
		return false, nil
	}
	if g.document = g.req.inPlace(ctx, g.http, x.answer, info.Size); g.document {
		return true, nil
	}
	done, why, err := g.begun(ctx, info, x, claims)
	if done || err != nil || g.req.base != nil {
		return done, err
	}
	return false, g.inTheWay(why)
}

// lookBeside looks for digests of the file that is there. Where a new one is wanted anyway its own lookup runs beside
// it. A list may be older than the server's file, so where only a newer one is wanted, it counts for the version alone
// that is recorded as the server's. The digest of another host is compared with it always. The error is that the two,
// or the lists, contradict each other.
func (g *getter) lookBeside(ctx context.Context, x inquiry, claims []verify.Claim,
	signed func() []found) ([]verify.Claim, error) {
	counts := g.req.IfExists.IfNewer && g.relation(x) == same || !g.req.IfExists.IfNewer && !g.req.IfExists.Overwrite
	if !counts && !verify.Strong(claims) {
		return nil, nil
	}
	asked, file := join(g.req.Trust.Claims, x.asked), x.file
	if g.req.needsSignature() && len(signaturesOf(&g.req, file)) > 0 && wantsList(&g.req, signed()) {
		file = metalink.File{}
	}
	found, err := lookUp(ctx, g.http, &g.req, x.answer.Hops, file, asked, claims)
	switch {
	case is[*otherHostError](err):
		return nil, err
	case !counts:
		return nil, nil
	case is[*verify.ConflictError](err) && !is[*Error](err) && !g.req.IfExists.IfNewer: // the lists contradict each other
		return nil, g.fail(Protocol, err, HintNoLookup)
	}
	g.result.Looked = found
	return found.Claims, nil
}

// versionOf returns the answer whose ETag and date are those of the existing file. A found digest ties it to none,
// unless the answer is of the recorded version.
func (g *getter) versionOf(x inquiry, found []verify.Claim) source.Answer {
	if len(found) > 0 && g.relation(x) != same {
		return source.Answer{}
	}
	return x.answer
}

// inTheWay is the error of a file that stays as it is.
func (g *getter) inTheWay(why string) error {
	return &Error{Kind: Local, What: "file", Where: source.Escape(g.result.Path), Err: existsError{why}, Hint: HintExists}
}

// askFile asks the server what the file is, unless that is known. If done, the existing file is the right
// one, or a document came in its place. A missing or contradictory answer has no effect.
func (g *getter) askFile(ctx context.Context) (x inquiry, done bool, err error) {
	known := metalink.File{Size: -1}
	if g.req.Described != nil {
		known.Size = g.req.Described.Size
	}
	if g.req.described() || verify.Strong(g.req.Trust.Claims) && !g.req.Trust.Anchors.Any() {
		x.file = known
		return x, false, nil
	}
	x, done, err = g.ask(ctx)
	if g.req.Described != nil || err != nil {
		x.file = known
	}
	switch {
	case ctx.Err() != nil:
		return x, false, context.Cause(ctx)
	case done || err != nil:
		return x, done, nil
	case x.nature == aDocument:
		g.document = true
		return x, true, nil
	}
	if x.decides() { // the digest decides; a mirror gave the size
		x.file.Size = -1
	}
	if g.req.Described == nil { // also for an existing file: the digest is from now
		x.resolution, err = g.c.checkBoth(ctx, g.http, &g.req, x.resolution, pinOf, glance)
	}
	return x, false, err
}

// checkPinned checks the pin of the URL for a file that no trusted key has signed. As long as a signature may come, the
// pin is ignored (userVouches); and if all of the file was here, no answer was compared with it.
func (g *getter) checkPinned(proof verify.Proof) error {
	if proof.Signed() || g.req.Described != nil {
		return nil
	}
	unsigned := g.req
	unsigned.Trust.Anchors = nil
	return g.c.checkPin(&unsigned, g.carried.offers(g.carried.file).Raise(g.carried.pin))
}

// complete sets the result if the right file already exists.
func (g *getter) complete(proof verify.Proof, a source.Answer) {
	g.result.AlreadyComplete, g.result.Proof, g.result.Size = true, proof, proof.Size()
	g.result.ETag, g.result.LastModified, g.result.Host = a.ETag, a.LastModified, a.Host
	g.keepVersion(proof, a.Host)
}

// begun takes an existing file for the beginning of the wanted one, or for all of it, if the user allows that
// (Request.IfExists.Continue) and samples of it are the same when fetched again. The rest is fetched beside it, and
// takes its place when it is complete. If the file is something else, why says so. The error is that the
// server did not answer.
func (g *getter) begun(ctx context.Context, info fsys.Info, x inquiry, claims []verify.Claim) (done bool, why string, err error) {
	k := &known{claims: claims, size: x.answer.Size, sizeBy: byServer, file: x.file}
	k.tag = tagOf(x.file, x.answer)
	prior := identityOf(&g.req, k)
	prior.Host, prior.Date = x.answer.Host, x.answer.LastModified
	whole, known := info.Size == prior.Size, verify.Strong(claims)
	switch {
	case !g.req.onDisk(), !g.mayCompare(prior), whole && known: // else it would be proven
		return false, "", nil
	case !whole && !known && len(g.req.Mirrors) > 0:
		return false, "", nil
	case info.Size > prior.Size:
		return false, "is longer than the server's", nil
	}
	f, err := openRegular(g.http.files, g.result.Path)
	if err != nil {
		return false, "", err
	}
	defer f.Close()
	here := byterange.NewSet(byterange.Range{End: info.Size})
	err = g.sameSamples(ctx, prior, f, samplesOf(here, manySamples))
	if err != nil && (ctx.Err() != nil || unanswered(err)) {
		return false, "", err
	}
	if err != nil {
		return false, "cannot be resumed: " + err.Error(), nil
	}
	g.result.Continued = !known
	if whole {
		proof, err := checkFile(ctx, g.http.files, g.result.Path, claims, verify.PieceClaim{})
		if err != nil {
			return false, "", nil
		}
		g.complete(proof, x.answer)
		return true, "", nil
	}
	g.carried.continued = g.result.Continued
	g.req.IfExists.Overwrite = true
	g.req.base = &baseFile{path: g.result.Path, mode: info.Mode, identity: prior, file: x.file, begun: true}
	g.req.base.useful = here
	return false, "", nil
}

// there looks for an existing file of the name.
func (g *getter) there(ctx context.Context) (info fsys.Info, there bool, err error) {
	if g.upload != nil {
		return storing{g}.there(ctx)
	}
	return partfile.Target(g.http.files, g.req.Dir, g.req.Name)
}

// checkThere verifies the existing file, by pieces if any are given.
func (g *getter) checkThere(ctx context.Context, claims []verify.Claim, pieces verify.PieceClaim,
	signatures ...verify.SignatureChecker) (verify.Proof, error) {
	if g.upload != nil {
		return storing{g}.check(ctx, claims, pieces, signatures...)
	}
	return checkFile(ctx, g.http.files, g.result.Path, claims, pieces, signatures...)
}

// An existsError is the error of an existing file that stays. errors.Is takes it for fs.ErrExist.
type existsError struct{ why string }

func (e existsError) Error() string {
	return "already exists, and " + cmp.Or(e.why, "nothing proves that it is the right file")
}
func (existsError) Is(target error) bool { return target == fs.ErrExist }

// checkFile verifies a file on disk, by pieces if any are given.
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

// existingSignatures fetches the signatures of an existing file, if a key or certificate is trusted.
func (g *getter) existingSignatures(ctx context.Context, offered metalink.File) []found {
	if !g.req.Trust.Anchors.Any() {
		return nil
	}
	return signaturesAt(ctx, g.http, signaturesFor(&g.req, offered), &g.req, vouched(g.req.Trust.Claims))
}

// checkers returns the checkers of signatures.
func (g *getter) checkers(all []found) []verify.SignatureChecker {
	if !g.req.Trust.Anchors.Any() {
		return nil
	}
	return []verify.SignatureChecker{newSignatureSet(all, g.req.Trust.Anchors, fileNames(&g.req))}
}

// committed opens the journal of a run that put the file in place and was then stopped, or left work due. It
// returns nil if no such journal exists or another process uses it.
func (g *getter) committed() *partfile.Committed {
	if !g.req.onDisk() {
		return nil
	}
	c, err := partfile.OpenCommitted(g.http.files, g.req.Dir, g.req.Name)
	if err != nil {
		return nil
	}
	return c
}

// asBefore reports whether an earlier run of the same request put the file in place, by a journal with this
// user's seal and the bytes of the file. No server is asked. It counts only if nothing more is demanded now.
func (g *getter) asBefore(ctx context.Context, c *partfile.Committed) bool {
	r := &g.req
	id, ok := c.Identity()
	if !ok || !g.same(id) || r.IfExists.Overwrite || r.Trust.Anchors.Any() || !c.Sealed(g.http.key) {
		return false
	}
	proof, err := checkFile(ctx, g.http.files, g.result.Path, join(r.Trust.Claims, id.Claims), r.byPieces())
	if err != nil || !c.Is(proof) || !r.Trust.Require.met(proof) {
		return false
	}
	g.complete(proof, source.Answer{ETag: id.ETag, LastModified: id.Date, Host: id.Host})
	return true
}

// confirmed reports whether the file counts as the committed one without a digest: the journal has this
// user's seal, or the server's answer ties the two together. It proves nothing about the bytes.
func (g *getter) confirmed(c *partfile.Committed, x inquiry) bool {
	id, ok := c.Identity()
	if !ok || !g.same(id) || g.req.IfExists.Overwrite || g.req.IfExists.IfNewer {
		return false
	}
	if c.Sealed(g.http.key) {
		return true
	}
	t := tagOf(x.file, x.answer)
	now := partfile.Identity{URLSum: id.URLSum, Size: x.file.Size, ETag: t.etag, ETagHost: t.host,
		LastModified: dateOf(x.file, x.answer)}
	return tagged(now) && goesOnFrom(now, id) == nil
}

// same reports whether id is of the same URL.
func (g *getter) same(id partfile.Identity) bool { return id.URLSum == partfile.SumURL(g.req.URL) }

// settle ends what an earlier run left if the existing file stays: it removes the journal, unless something
// is due.
func (g *getter) settle(c *partfile.Committed) {
	if !g.planOnly {
		c.ClearAsides(g.http.key)
	}
	switch {
	case c.Due() && (g.result.AlreadyComplete || c.Unchanged()):
		g.result.Due = true
	case !g.planOnly:
		c.Clear() // it is of other bytes, or nothing is due
	}
}

// A reading copies bytes of a file and reports the progress.
type reading struct {
	observe         func(Event)
	size            int64 // of everything that is to be copied
	done, first     int64 // bytes copied; first: before this reading
	began, reported time.Time
	buf             []byte
}

func newReading(observe func(Event), size, done int64) *reading {
	now, buf := time.Now(), int64(hashBuffer)
	if size > done { // a document may have ten thousand small files
		buf = min(buf, size-done+1)
	}
	return &reading{observe: observe, size: size, done: done, first: done, began: now, reported: now, buf: make([]byte, buf)}
}

// reportEvery is the interval between two reports.
const reportEvery = 100 * time.Millisecond

// copy copies from to w until from ends or ctx does.
func (r *reading) copy(ctx context.Context, w io.Writer, from io.Reader) error {
	for ctx.Err() == nil {
		n, err := from.Read(r.buf)
		if _, err := w.Write(r.buf[:n]); err != nil {
			return local(err)
		}
		r.done += int64(n)
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return local(err)
		}
		if now := time.Now(); now.Sub(r.reported) >= reportEvery {
			r.reported = now
			r.observe(Progress{Done: r.done, Size: r.size, Rate: float64(r.done-r.first) / now.Sub(r.began).Seconds()})
		}
	}
	return context.Cause(ctx)
}
