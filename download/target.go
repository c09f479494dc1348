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

// A Target takes a file in place of one on disk (Request.Target): an object store, or memory. It serves one request and
// keeps nothing for the next one.
//
// WriteAt and ReadAt are called by several goroutines at once, while the file comes. Each byte is written once, in no
// order; bytes that turn out wrong are written again, and so is all of it when the file changes at its origin. What is
// proven is what ReadAt returns: each byte is read back after it was written for the last time. A read of bytes that
// are being written again may return anything.
//
// Then Commit is called, or Discard if the download ends otherwise, also after a Commit that failed: each at most once,
// and after all that was written and read has returned. An error of any method ends the download with Kind Local; see
// TargetError.
type Target interface {
	io.WriterAt
	io.ReaderAt
	// Commit makes the first p.Size() bytes the file: p says that they are the right ones, and by what. What lies
	// behind them is of no meaning. An error means that there is no file. If ctx ends meanwhile, it should return.
	Commit(ctx context.Context, p verify.Proof) error
	// Discard gives up what was written, if anything was.
	Discard() error
}

// A TargetError is the error of a Target. Errors.Is sees what it is made of, and errors.As only the field: an error
// of a target says nothing about the file or its sources.
type TargetError struct {
	Op  string // "write", "read", "commit" or "discard"
	Err error  // as the target returned it
}

func (e *TargetError) Error() string { return "target: " + e.Op + ": " + e.Err.Error() }

// Is reports whether the target's error is one. A source must not take it for the word that its own bytes are enough.
func (e *TargetError) Is(err error) bool { return err != source.ErrEnough && errors.Is(e.Err, err) }

// nameless opens a part file for a file that gets no name.
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

// A targetFile is a target in the place of the file under a part file. A part file without a name uses no other methods.
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
	case n == len(p): // with io.EOF, perhaps
		return n, nil
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return transferred("read", n, len(p), err, io.ErrNoProgress)
}

// transferred holds a target to the contracts of io.ReaderAt and io.WriterAt: less than all comes with an error. A
// write of all may come with one, too, which is of earlier bytes.
func transferred(op string, n, all int, err, short error) (int, error) {
	switch {
	case n == all && err == nil:
		return n, nil
	case n < 0 || n > all:
		n, err = 0, errors.New("it does not say how many bytes these were")
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
