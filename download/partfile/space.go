package partfile

import "errors"

// CheckSpace returns a *SpaceError if the file system has no room for the rest of a file of size bytes
// (rule 7). What the part file occupies already counts as there.
func (f *File) CheckSpace(size int64) error {
	info, err := f.part.Info()
	if err != nil {
		return err
	}
	free, err := f.part.Free()
	if err != nil || free < 0 { // it does not say
		return err
	}
	have := f.Have()
	if need := size - max(have.Len(), info.Allocated); need > free {
		return &SpaceError{Path: f.part.Name(), Need: need, Free: free}
	}
	return nil
}

// CheckRoom returns a *SpaceError if the file system has no room for n bytes beside the part file.
func (f *File) CheckRoom(n int64) error {
	free, err := f.part.Free()
	if err != nil || free < 0 || n <= free { // it does not say, or there is
		return err
	}
	return &SpaceError{Path: f.part.Name(), Need: n, Free: free}
}

// Preallocate reserves room for size bytes and leaves the length of the file as it is. A file system that
// cannot do that is left alone (rule 19: "by fallocate that can be refused"); a full one is an error. It
// may be called while others write.
func (f *File) Preallocate(size int64) error {
	if size <= 0 {
		return nil
	}
	err := f.part.Reserve(size)
	if !f.temporary() {
		err = errors.Join(err, f.left())
	}
	return err
}

// Allocated says that there is room on disk for size bytes, whatever else is written.
func (f *File) Allocated(size int64) (bool, error) {
	info, err := f.part.Info()
	return info.Allocated >= size, err
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
	return f.part.Release(from, off-from)
}
