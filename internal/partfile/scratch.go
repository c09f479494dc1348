package partfile

import "braid/internal/fsys"

// Scratch is a nameless file for bytes that have not been verified. Bytes may be written more than once, and released
// bytes read as zero. Its methods are safe for concurrent use.
type Scratch struct{ file fsys.File }

// OpenScratch creates a Scratch in the folder dir of the part file, so that the Scratch uses the same disk.
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

// Release returns n bytes from off on to the file system, if the file system supports that.
func (s *Scratch) Release(off, n int64) error {
	return s.file.Release(off, n)
}

// Close closes the file, which releases its space.
func (s *Scratch) Close() error { return s.file.Close() }
