package download

import (
	"context"
	"errors"
	"io"

	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/source"
	"braid/verify"
)

// A Target receives a file instead of the disk (Request.Target), for example in memory. It serves one request, and
// keeps nothing for the next request.
//
// WriteAt and ReadAt are called by several goroutines at once while the file arrives. Each byte is written once, in any
// order. Wrong bytes are written again, and so is the whole file if it changes at its origin. The proof is about the
// bytes that ReadAt returns: each byte is read back after it was written for the last time. A read of bytes that are
// being written again may return anything.
//
// At the end, Commit is called, or Discard if the download fails, also after a failed Commit. Each is called at most
// once, after all reads and writes have returned. An error ends the download with Kind Local; see TargetError.
type Target interface {
	io.WriterAt
	io.ReaderAt
	// Commit makes the first p.Size() bytes the file. p is the proof that they are right. Bytes after them have no
	// meaning. An error means that no file was made. Commit should return once ctx is done.
	Commit(ctx context.Context, p verify.Proof) error
	// Discard gives up the written bytes, if any.
	Discard() error
}

// A TargetError is the error of a Target. errors.Is examines Err. errors.As does not, because an error of a target must
// not be mistaken for an error of a source.
type TargetError struct {
	Op  string // "write", "read", "commit" or "discard"
	Err error  // error of the target
}

func (e *TargetError) Error() string { return "target: " + e.Op + ": " + e.Err.Error() }

// Is reports whether the target's error is err. It is false for source.ErrEnough, which has a meaning for sources.
func (e *TargetError) Is(err error) bool { return err != source.ErrEnough && errors.Is(e.Err, err) }

// nameless returns a part file without a name: around t, or in a temporary file if t is nil.
func nameless(files fsys.FS, t Target) (*partfile.File, error) {
	if t != nil {
		return partfile.Around(targetFile{target: t}), nil
	}
	return partfile.OpenTemp(files, "")
}

// A delivery commits or discards a target. Without a target it does nothing.
type delivery struct {
	to   Target
	done bool
}

// commit commits the target. An error of the target ends the download.
func (d *delivery) commit(ctx context.Context, proof verify.Proof) error {
	if err := d.to.Commit(ctx, proof); err != nil {
		return &TargetError{"commit", err}
	}
	d.done = true
	return nil
}

// discard discards the target at the end of a download, unless it was committed.
func (d *delivery) discard() error {
	if d.to == nil || d.done {
		return nil
	}
	if err := d.to.Discard(); err != nil {
		return &TargetError{"discard", err}
	}
	return nil
}

// A targetFile is a target as the file of a part file without a name. The part file calls only the methods below.
type targetFile struct {
	fsys.File // nil
	target    Target
}

// WriteAt implements io.WriterAt.
func (f targetFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.target.WriteAt(p, off)
	return transferred("write", n, len(p), err, io.ErrShortWrite)
}

// ReadAt implements io.ReaderAt.
func (f targetFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.target.ReadAt(p, off)
	switch {
	case n == len(p): // err may be io.EOF
		return n, nil
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return transferred("read", n, len(p), err, io.ErrNoProgress)
}

// transferred enforces the contracts of io.ReaderAt and io.WriterAt: it returns an error for a short count. It also
// returns the error of a complete write, which may be about earlier bytes.
func transferred(op string, n, all int, err, short error) (int, error) {
	switch {
	case n == all && err == nil:
		return n, nil
	case n < 0 || n > all:
		n, err = 0, errors.New("an invalid number of bytes was returned")
	case err == nil:
		err = short
	}
	return n, &TargetError{op, err}
}

func (targetFile) Name() string               { return "target" }
func (targetFile) Info() (fsys.Info, error)   { return fsys.Info{}, nil }
func (targetFile) Free() (int64, error)       { return -1, nil }
func (targetFile) Reserve(int64) error        { return nil }
func (targetFile) Release(int64, int64) error { return nil }
func (targetFile) Close() error               { return nil }
