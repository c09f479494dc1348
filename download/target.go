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

// A Target receives a file in place of one on disk (Request.Target): an object store, or memory. It serves
// one request and keeps nothing for the next one.
//
// WriteAt and ReadAt are called by several goroutines at once while the file arrives. Each byte is written
// once, in any order. Bytes that turn out to be wrong are written again, and so is the whole file if it
// changes at its origin. The proof is of the bytes that ReadAt returns: each is read back after it was
// written for the last time. A read of bytes that are being written again may return anything.
//
// Then Commit is called, or Discard if the download ends otherwise, also after a failed Commit. Each is
// called at most once, and after all reads and writes have returned. An error of any method ends the download
// with Kind Local; see TargetError.
type Target interface {
	io.WriterAt
	io.ReaderAt
	// Commit makes the first p.Size() bytes the file. p is the proof that they are right. Bytes after them
	// have no meaning. An error means that no file was made. Commit should return if ctx ends.
	Commit(ctx context.Context, p verify.Proof) error
	// Discard gives up the written bytes, if any.
	Discard() error
}

// A TargetError is the error of a Target. errors.Is examines Err, and errors.As does not: an error of a
// target says nothing about the file or its sources.
type TargetError struct {
	Op  string // "write", "read", "commit" or "discard"
	Err error  // as the target returned it
}

func (e *TargetError) Error() string { return "target: " + e.Op + ": " + e.Err.Error() }

// Is reports whether the target's error is err, except source.ErrEnough: a source would take it for its own.
func (e *TargetError) Is(err error) bool { return err != source.ErrEnough && errors.Is(e.Err, err) }

// nameless returns a part file for a file without a name.
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

// A targetFile is a target as the file of a part file. A part file without a name calls no other methods.
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
	case n == len(p): // perhaps with io.EOF
		return n, nil
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return transferred("read", n, len(p), err, io.ErrNoProgress)
}

// transferred enforces the contracts of io.ReaderAt and io.WriterAt: a short count comes with an error. A
// full write may come with one, too, which is about earlier bytes.
func transferred(op string, n, all int, err, short error) (int, error) {
	switch {
	case n == all && err == nil:
		return n, nil
	case n < 0 || n > all:
		n, err = 0, errors.New("it returned an invalid number of bytes")
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
