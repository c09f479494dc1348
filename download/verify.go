package download

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"braid/byterange"
	"braid/internal/fsys"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// A Verdict is the result of checking a file.
type Verdict struct {
	Path        string
	Size        int64          // of the file on disk, in bytes
	Proof       verify.Proof   // zero unless the file is right
	Unvalidated []string       // signatures that were found and that no anchor can check
	Pieces      verify.Pieces  // of the right file; zero if unknown or unusable
	PiecesFrom  string         // the document that has the pieces, masked
	Damaged     byterange.Set  // ranges of the right file that are missing or wrong, according to its pieces
	Looked      verify.Finding // digests found by Request.Trust.Lookup
	Elapsed     time.Duration

	repair *Request // the request that repairs the file; nil if that is impossible
}

// An inspection is one call of Verify.
type inspection struct {
	c       *Client
	http    network
	req     Request
	began   time.Time
	verdict Verdict

	answer     source.Answer // of the server, if a server was asked
	document   bool          // the answer was a document that describes the file
	file       metalink.File // the description by server and documents
	claims     []verify.Claim
	told       []verify.Claim // claims of the host of the URL itself
	size       int64          // the right size; -1: unknown
	mirrorSize bool           // a mirror gave the size, and the asked server's digest decides
	found      []found        // signatures
	carried    carried        // has the documents that were read

	described *Described // the description before pieces shared with neighbours were added; nil if none were
	beside    neighbours
	unchecked *uncheckedError
}

func newInspection(c *Client, hc network, req Request) *inspection {
	x := &inspection{c: c, http: hc, req: req.own(), began: time.Now(), size: -1, file: metalink.File{Size: -1}}
	if x.verdict.Path = filepath.Join(req.Dir, req.Name); req.Store != nil {
		x.verdict.Path = req.Store.Path(req.Name)
	}
	return x
}

func (x *inspection) run(ctx context.Context) error {
	defer func() { x.verdict.Elapsed = time.Since(x.began) }()
	if x.req.Trust.Require == RequireSignature && !x.req.Trust.Anchors.Any() {
		return errNoAnchor
	}
	if x.req.Name == "" {
		path, err := x.req.Path()
		if err != nil {
			return fail(Usage, "verify", source.Mask(x.req.URL), err, "")
		}
		x.verdict.Path = path
	}
	f, err := x.open(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	before, err := f.Info()
	if err != nil {
		return err
	}
	x.verdict.Size = before.Size
	x.req.observe(Started{URL: source.Mask(x.req.URL), Path: x.verdict.Path})
	if err := x.resolve(ctx); err != nil {
		return err
	}
	signatures, err := x.signatures(ctx)
	if err == nil {
		err = x.worthwhile(signatures)
	}
	if err == nil {
		err = x.judge(ctx, f, signatures)
		asked, found := join(x.req.Trust.Claims, x.told), x.verdict.Looked.Claims
		keepJudged(x.http.state, &x.req, without(x.claims, join(asked, found)), found, err)
		if proof := x.verdict.Proof; err == nil && !proof.Signed() && !verify.Strong(common(asked, proof.Evidence())) {
			if err = compareWith(ctx, f, proof, remaining(x.http.state.Opposed(x.req.URL), x.verdict.Looked)); err != nil {
				x.verdict.Proof = verify.Proof{}
			}
		}
	}
	if kindOf(err) == Mismatch && x.req.onDisk() {
		x.verdict.repair = x.repairOf(before.Mode.Perm())
	}
	if after, failed := f.Info(); failed == nil && (after.Size != before.Size || !after.ModTime.Equal(before.ModTime)) {
		x.verdict.Proof, x.verdict.repair, err = verify.Proof{}, nil, local(errChanging)
	}
	return err
}

var (
	errNoAnchor  = errors.New("a signature is required, and no key or certificate is trusted")
	errNoRegular = errors.New("not a regular file")
	errChanging  = errors.New("was changed while it was read")
	errNothing   = errors.New("there is nothing to check this file against")
)

// openRegular opens the file at path for reading. A file that is not regular is an error, because reads may never end.
func openRegular(files fsys.FS, path string) (fsys.File, error) {
	info, err := files.Stat(path)
	if err == nil && !info.Mode.IsRegular() {
		err = local(errNoRegular)
	}
	if err != nil {
		return nil, err
	}
	return files.Open(path)
}

// signatures fetches the signatures, and returns their checkers. It returns an error if no file could pass the checks.
func (x *inspection) signatures(ctx context.Context) ([]verify.SignatureChecker, error) {
	all := signaturesFor(&x.req, x.file, x.verdict.Looked)
	if !x.req.Trust.Anchors.Any() {
		for _, sig := range all {
			x.verdict.Unvalidated = append(x.verdict.Unvalidated, sig.From)
		}
		return nil, nil
	}
	x.found = signaturesAt(ctx, x.http, all, &x.req, vouched(x.claims))
	for _, f := range x.found {
		if f.err != nil {
			x.req.note("signature %s: %v", f.from, f.err)
		}
	}
	if err := x.lookInstead(ctx); err != nil {
		return nil, err
	}
	set, err := x.signatureSet(source.Escape(x.verdict.Path))
	if err != nil || len(x.found) == 0 {
		return nil, err
	}
	return []verify.SignatureChecker{set}, nil
}

// signatureSet returns the checks of the fetched signatures. It returns an error if no file could pass the checks.
// where is the Where of that error.
func (x *inspection) signatureSet(where string) (*signatureSet, error) {
	set := newSignatureSet(x.found, x.req.Trust.Anchors, append(fileNames(&x.req), filepath.Base(x.verdict.Path)))
	needed := x.req.Trust.needsSignature() && !backed(x.claims, verify.Signed, verify.Signed)
	if err := set.doomed(needed, max(x.file.Size, x.verdict.Size)); err != nil {
		return nil, err
	}
	if len(set.checkers) == 0 && needed {
		return nil, noSignature(&x.req, where, x.found, x.verdict.Looked)
	}
	return set, nil
}

// worthwhile returns an error if reading the file would show nothing.
func (x *inspection) worthwhile(signatures []verify.SignatureChecker) error {
	pieces := x.verdict.Pieces
	switch {
	case differs(x.size, x.verdict.Size) && pieces.IsZero():
		return &verify.SizeError{Got: x.verdict.Size, Want: x.size}
	case len(x.claims)+len(signatures) == 0 && pieces.IsZero():
		return fail(NoEvidence, "verify", source.Escape(x.verdict.Path), x.lacks(), x.wouldHelp())
	}
	return nil
}

// lacks returns the error of a file without evidence.
func (x *inspection) lacks() error {
	nothing := errNothing
	if x.asked() {
		nothing = fmt.Errorf("%s has no digest of this file", source.Mask(x.req.URL))
	}
	if places := x.verdict.Looked.Where(); places != "" {
		nothing = fmt.Errorf("%w; looked at %s", nothing, places)
	}
	if len(x.verdict.Unvalidated) > 0 {
		return fmt.Errorf("%w, and no trusted key is given for its signature (%s)", nothing, x.verdict.Unvalidated[0])
	}
	return nothing
}

// asked reports whether a server was asked what the file should be.
func (x *inspection) asked() bool { return x.req.URL != nil && x.req.Described == nil }

// wouldHelp returns the hint about evidence that could be given.
func (x *inspection) wouldHelp() Hint {
	if x.asked() {
		return HintEvidence
	}
	return HintAnyEvidence
}

// judge reads the file. It returns an error if the file is wrong, or if the proof is less than Require demands.
func (x *inspection) judge(ctx context.Context, f fsys.File, signatures []verify.SignatureChecker) error {
	proof, err := x.read(ctx, f, signatures)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	x.weighPieces(proof, err)
	switch {
	case err != nil:
		return x.beside.suspects(err)
	case x.verdict.Damaged.Count() > 0:
		what := "its pieces do not match " + x.verdict.PiecesFrom
		if x.unchecked != nil {
			what += "; " + x.unchecked.Error()
		}
		return &fault{kind: Mismatch, what: what}
	case x.unchecked != nil && !proof.Verified():
		return fail(NoEvidence, "verify", source.Escape(x.verdict.Path), x.unchecked, HintDigest)
	}
	x.verdict.Proof = proof
	switch r := x.req.Trust.Require; {
	case r.met(proof):
		return nil
	case r == RequireSignature:
		return noSignature(&x.req, source.Escape(x.verdict.Path), x.found, x.verdict.Looked)
	default:
		text := proof.String()
		if proof.ByPieces() {
			text = "the pieces match, but SHA-1 proves nothing (" + text + ")"
		}
		return fail(NoEvidence, "verify", source.Escape(x.verdict.Path), errors.New(text), HintDigestOrList)
	}
}

// weighPieces removes pieces that contradict the digest of the whole file: that digest decides (RFC 6249, section 7).
func (x *inspection) weighPieces(proof verify.Proof, err error) {
	v := &x.verdict
	var wrong *verify.MismatchError
	right := err == nil && proof.Verified() && v.Damaged.Count() > 0
	if right || errors.As(err, &wrong) && v.Damaged.Count() == 0 && !v.Pieces.IsZero() {
		x.req.note("the pieces in %s contradict the digest of the whole file: not used", v.PiecesFrom)
		v.Pieces, v.Damaged = verify.Pieces{}, byterange.Set{}
	}
}

// explain returns err as the error for the caller, with the next step.
func (x *inspection) explain(ctx context.Context, err error) *Error {
	if own := (*Error)(nil); errors.As(err, &own) {
		return own
	}
	e := fail(kindOf(err), "verify", source.Escape(x.verdict.Path), err, "")
	var path *fs.PathError
	if errors.As(err, &path) {
		e.Err = path.Err
	}
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		e.Kind = Interrupted
	}
	switch {
	case e.Kind == NoEvidence && errors.Is(err, errNoAnchor):
		e.Hint = HintSigners
	case e.Kind == Local && errors.Is(err, fs.ErrNotExist):
		e.Hint = HintFetch
	case e.Kind == Mismatch && x.req.URL == nil:
		e.Hint = HintRepair
	case e.Kind == Mismatch && x.verdict.Damaged.Count() > 0:
		e.Hint = HintRepairPart
	case e.Kind == Mismatch:
		e.Hint = HintRepairAll
	}
	return e
}
