package partfile

import "braid/internal/fsys"

// A Scratch is a nameless file for bytes that are not known to be right yet. They may be written again, and what was
// given back reads as zero. Its methods may be called by several goroutines at once.
type Scratch struct{ file fsys.File }

// OpenScratch makes one in the folder dir, where the part file is: the same disk has room for both or for neither.
func OpenScratch(files fsys.FS, dir string) (*Scratch, error) {
	if dir == "" {
		dir = "."
	}
	f, err := fsys.Or(files).OpenTemp(dir)
	if err != nil {
		return nil, err
	}
	return &Scratch{f}, nil
}

// ReadAt implements io.ReaderAt.
func (s *Scratch) ReadAt(p []byte, off int64) (int, error) { return s.file.ReadAt(p, off) }

// WriteAt implements io.WriterAt.
func (s *Scratch) WriteAt(p []byte, off int64) (int, error) { return s.file.WriteAt(p, off) }

// Release gives n bytes from off on back to the file system, if that can.
func (s *Scratch) Release(off, n int64) error {
	return s.file.Release(off, n)
}

// Close gives back everything.
func (s *Scratch) Close() error { return s.file.Close() }
