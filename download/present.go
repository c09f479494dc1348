package download

import (
	"context"
	"fmt"
	"io/fs"

	"braid/download/partfile"
	"braid/internal/fsys"
	"braid/metalink"
	"braid/source"
	"braid/verify"
)

// present tells whether the right file is there already (rules 3 and 4), or one that the server has nothing newer than. One that
// is not the right one is in the way, unless it may be replaced.
func (g *getter) present(ctx context.Context) (done bool, err error) {
	info, there, err := partfile.Target(g.c.files(), g.req.Dir, g.req.Name)
	if err != nil || !there || g.req.seed != nil { // a seed was looked at
		return false, err
	}
	c := g.committed()
	defer c.Close()
	if done, err = g.compareWith(ctx, info, c); done && err == nil && !g.document {
		g.settle(c)
	}
	return done, err
}

// compareWith compares the file with what is asked for. It may be one that an earlier run has left with its journal c.
func (g *getter) compareWith(ctx context.Context, info fsys.Info, c *partfile.Committed) (done bool, err error) {
	if !g.req.IfNewer && g.asBefore(ctx, c) {
		return true, nil
	}
	a, offered, done, err := g.hear(ctx)
	if done || err != nil {
		return done, err
	}
	claims, size := join(g.req.Claims, offered.Claims), offered.Size
	told := verify.Strong(claims) || g.req.provenByPieces()
	if (told || g.confirmed(c, a, offered)) && !differs(size, info.Size) {
		proof, err := checkFile(ctx, g.c.files(), g.result.Path, claims, g.req.byPieces(), g.presentWitnesses(ctx, offered)...)
		if err == nil && (told || c.Is(proof)) && g.req.accepts(proof) {
			g.complete(proof, a)
			return true, nil
		}
	}
	if g.nothingNewer(ctx, a, claims) {
		return true, nil
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if g.req.Overwrite {
		return false, nil
	}
	if g.document = g.req.inPlace(ctx, g.http, a, info.Size); g.document {
		return true, nil
	}
	return false, &Error{
		Kind: Local, What: "file", Where: source.Escape(g.result.Path), Err: existsError{},
		Hint: HintExists,
	}
}

// hear asks the server what the file is, unless that is known. The file that is there is the one if done is true. A server that
// does not answer has said nothing.
func (g *getter) hear(ctx context.Context) (a source.Answer, offered metalink.File, done bool, err error) {
	offered.Size = -1
	if g.req.Described != nil {
		offered.Size = g.req.Described.Size
	}
	if g.req.described() || verify.Strong(g.req.Claims) && !g.req.Anchors.Any() {
		return a, offered, false, nil
	}
	a, done, err = g.ask(ctx)
	switch {
	case ctx.Err() != nil:
		return a, offered, false, context.Cause(ctx)
	case done || err != nil:
		return a, offered, done, nil
	}
	x, err := g.req.resolve(a.Hops, g.req.role(), false)
	switch {
	case x.nature == aDocument:
		g.document = true
		return a, offered, true, nil
	case err != nil:
		return a, offered, false, nil
	}
	a = x.without(a)
	if d := g.req.Described; d == nil {
		offered = x.file
		offered.Size = a.Size
	}
	if !g.req.NoMetalink { // it makes no difference that a file is there: its digest is the server's word of now
		err = g.c.checkPin(&g.req, pinOf(x.file))
	}
	return a, offered, false, err
}

// complete is the result where the right file is there already.
func (g *getter) complete(proof verify.Proof, a source.Answer) {
	g.result.AlreadyComplete, g.result.Proof, g.result.Size = true, proof, proof.Size()
	g.result.ETag, g.result.LastModified = a.ETag, a.LastModified
	g.keepVersion(proof, a.Host)
}

// An existsError says that a file is in the way. It is fs.ErrExist for errors.Is.
type existsError struct{}

func (existsError) Error() string        { return "exists, and is not known to be the right file" }
func (existsError) Is(target error) bool { return target == fs.ErrExist }

// checkFile verifies a file that is on disk, by pieces only if there are any.
func checkFile(ctx context.Context, files fsys.FS, path string, claims []verify.Claim, pieces verify.PieceClaim, witnesses ...verify.Witness) (verify.Proof, error) {
	f, err := files.Open(path)
	if err != nil {
		return verify.Proof{}, err
	}
	defer f.Close()
	r := verify.NewReader(fsys.Reader(f), -1, claims, witnesses...)
	if !pieces.Pieces.IsZero() {
		r.ByPieces(pieces)
	}
	buf := make([]byte, hashBuffer)
	for ctx.Err() == nil {
		if _, err := r.Read(buf); err != nil {
			if r.Proof().Valid() {
				return r.Proof(), nil
			}
			return verify.Proof{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	return verify.Proof{}, context.Cause(ctx)
}
