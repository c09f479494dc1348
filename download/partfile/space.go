package partfile

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// sector is what st_blocks counts, see stat(3type).
const sector = 512

// CheckSpace returns a *SpaceError if the file system has no room for the rest of a file of size bytes
// (rule 7). What the part file occupies already counts as there.
func (f *File) CheckSpace(size int64) error {
	var st unix.Stat_t
	if err := fstat(f.part, &st); err != nil {
		return err
	}
	var sys unix.Statfs_t
	if err := control(f.part, func(fd int) error { return unix.Fstatfs(fd, &sys) }); err != nil {
		return &fs.PathError{Op: "statfs", Path: f.part.Name(), Err: err}
	}
	if sys.Blocks == 0 {
		return nil // it does not say
	}
	have := f.Have()
	need := size - max(have.Len(), st.Blocks*sector)
	if free := int64(sys.Bavail) * sys.Frsize; need > free {
		return &SpaceError{Path: f.part.Name(), Need: need, Free: free}
	}
	return nil
}

// Preallocate reserves room for size bytes and leaves the length of the file as it is. A file system that
// cannot do that is left alone (rule 19: "by fallocate that can be refused"); a full one is an error. It
// may be called while others write.
func (f *File) Preallocate(size int64) error {
	if size <= 0 {
		return nil
	}
	return f.allocate("preallocate", unix.FALLOC_FL_KEEP_SIZE, 0, size)
}

// Release gives the blocks below off back to the file system: a pipe has taken these bytes. They read as
// zero then. It is for temporary files only.
func (f *File) Release(off int64) error {
	if !f.temporary() {
		return &StateError{f.Path(), "is not a temporary file"}
	}
	from := f.freed
	if off <= from {
		return nil
	}
	f.freed = off
	return f.allocate("release", unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, off-from)
}

func (f *File) allocate(op string, mode uint32, off, n int64) error {
	err := control(f.part, func(fd int) error { return unix.Fallocate(fd, mode, off, n) })
	switch {
	case err == nil, errors.Is(err, errors.ErrUnsupported): // EOPNOTSUPP, ENOSYS
		return nil
	}
	return &fs.PathError{Op: op, Path: f.part.Name(), Err: err}
}
