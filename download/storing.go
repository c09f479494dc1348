package download

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"

	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/source"
	"braid/verify"
)

// A storing is the part of a getter that uses its Store.
type storing struct{ *getter }

// commit makes the uploaded parts the file.
func (g storing) commit(ctx context.Context) error {
	err := g.upload.commit(ctx, UploadFinal{URL: source.Mask(g.req.URL), Result: g.result, Replace: g.req.IfExists.Overwrite})
	if errors.Is(err, fs.ErrExist) {
		return g.inTheWay("")
	}
	g.result.Due = g.req.Due && err == nil
	if err != nil {
		return err
	}
	return g.part.Close()
}

// found reports to the store that the existing file is right, if its bytes were read.
func (g storing) found(ctx context.Context) {
	if g.upload != nil && !g.planOnly && len(g.result.Proof.Digests()) > 0 {
		g.upload.to.Found(ctx, UploadFinal{URL: source.Mask(g.req.URL), Result: g.result})
	}
}

// open opens the window of an upload, and continues that of an earlier run if the rest is of the same file.
func (g storing) open(ctx context.Context) error {
	var err error
	if g.part, err = nameless(g.http.files, nil); err != nil {
		return err
	}
	size, data, err := g.upload.to.Resume(ctx)
	if err != nil || size == 0 {
		return errors.Join(err, g.closeOn(err))
	}
	prior, state, err := g.goesOn(ctx, data)
	if g.document || undecided(ctx, err) {
		g.kept = size
		return errors.Join(err, g.upload.end(true), g.part.Close())
	}
	if err != nil {
		g.observe(Restarted{Reason: err.Error()})
		return g.upload.restart(ctx)
	}
	g.upload.takeOver(size, state)
	for _, s := range state.Signatures {
		g.carried.signed.all = append(g.carried.signed.all, found{from: s.From, data: s.Data, text: s.Text, maybe: s.Maybe})
	}
	g.part.Skip(size)
	return g.goOnWith(prior)
}

// closeOn closes the window if the download ends with err.
func (g storing) closeOn(err error) error {
	if err == nil {
		return nil
	}
	return errors.Join(g.upload.end(true), g.part.Close())
}

var errUploadState = errors.New("the record of the uploaded parts cannot be read")

// goesOn checks whether the uploaded parts are of the requested file, as continues does for bytes on disk.
func (g storing) goesOn(ctx context.Context, data []byte) (prior partfile.Identity, state uploadState, err error) {
	if json.Unmarshal(data, &state) != nil {
		return prior, state, errUploadState
	}
	state.Identity = reinstated(state.Identity, &g.req)
	if !g.continuable(state.Identity) {
		return prior, state, errors.New("nothing shows that the rest is of the same file")
	}
	prior, err = g.continues(ctx, state.Identity, true)
	return prior, state, err
}

// leave keeps the uploaded parts if the next run can continue, and otherwise discards them. If failed is
// about a signature, it discards them: the check would continue with that signature.
func (g storing) leave(failed error) error {
	keep := g.useful && g.upload.begun() && kindOfSignature(failed) == Other
	if keep {
		g.kept, g.keptAt = g.upload.released(), g.result.Path
	}
	return errors.Join(g.upload.end(keep), g.part.Close())
}

// there looks for an existing file of the name.
func (g storing) there(ctx context.Context) (info fsys.Info, there bool, err error) {
	if g.object == nil {
		g.object, err = g.upload.to.Existing(ctx)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return info, false, nil
	}
	if err != nil {
		return info, false, err
	}
	return fsys.Info{Size: g.object.Size, ModTime: g.object.ModTime}, true, nil
}

// check verifies the existing file, by pieces if any are given.
func (g storing) check(ctx context.Context, claims []verify.Claim, pieces verify.PieceClaim,
	signatures ...verify.SignatureChecker) (verify.Proof, error) {
	if _, there, err := g.there(ctx); err != nil || !there {
		return verify.Proof{}, cmp.Or(err, fs.ErrNotExist)
	}
	r, err := g.object.Open(ctx)
	if err != nil {
		return verify.Proof{}, err
	}
	defer r.Close()
	return checkBytes(ctx, r, claims, pieces, signatures...)
}

// open opens the file that is to be checked.
func (x *inspection) open(ctx context.Context) (fsys.File, error) {
	if x.req.Store == nil {
		return openRegular(x.http.files, x.verdict.Path)
	}
	u := x.req.Store.Upload(x.req.Name)
	e, err := u.Existing(ctx)
	if err == nil {
		return &storedFile{ctx: ctx, of: e, upload: u}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return nil, fail(Local, "verify", source.Escape(x.verdict.Path), fs.ErrNotExist, HintFetch)
}

// A storedFile is a file in a store that is read once, in order.
type storedFile struct {
	fsys.File // nil: no other methods are called
	ctx       context.Context
	of        *Existing
	upload    Upload
	body      io.ReadCloser // nil: nothing was read yet
	at        int64
}

// ReadAt implements io.ReaderAt.
func (f *storedFile) ReadAt(p []byte, off int64) (n int, err error) {
	if f.body == nil {
		if f.body, err = f.of.Open(f.ctx); err != nil {
			return 0, err
		}
	}
	if off != f.at {
		return 0, errors.ErrUnsupported
	}
	n, err = io.ReadFull(f.body, p)
	f.at += int64(n)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

func (f *storedFile) Info() (fsys.Info, error) {
	return fsys.Info{Mode: 0o666, Size: f.of.Size, ModTime: f.of.ModTime}, nil
}

func (f *storedFile) Close() error {
	if f.body != nil {
		f.body.Close()
	}
	return f.upload.Close(true)
}
