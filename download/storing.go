package download

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"braid/internal/fsys"
	"braid/source"
)

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
	fsys.File // nil; its methods are not called
	ctx       context.Context
	of        *Existing
	upload    Upload
	body      io.ReadCloser // nil before the first read
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
	return f.upload.Close()
}
