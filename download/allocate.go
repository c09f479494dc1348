package download

import "errors"

// An Allocation says when a file gets its room on disk.
type Allocation uint8

const (
	// AllocateNone lets it grow as bytes come; there may be holes until all are here.
	AllocateNone Allocation = iota
	// AllocateTry takes the room at the start where the file system can do that, without writing anything.
	AllocateTry
	// AllocateMust does so, too, and does not begin where the file system cannot.
	AllocateMust
)

var errNoAllocation = errors.New("the file system cannot take the room for a file beforehand")

// allocate takes the room for the file, once its size is known (rule 19).
func (s *session) allocate() error {
	if s.c.Allocation == AllocateNone || s.req.Stream != nil || s.size <= 0 {
		return nil
	}
	if err := s.part.Preallocate(s.size); err != nil || s.c.Allocation == AllocateTry {
		return err
	}
	if ok, err := s.part.Allocated(s.size); err != nil || ok {
		return err
	}
	return errNoAllocation
}
