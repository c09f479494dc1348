package partfile

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// InUseError reports that another process downloads to the same name.
type InUseError struct {
	Path string // path of the part file
	PID  int    // ID of the process that holds the lock; 0 if unknown
}

func (e *InUseError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s: in use by another process", e.Path)
	}
	return fmt.Sprintf("%s: in use by process %d", e.Path, e.PID)
}

// NameError reports that the file at a path must not be written to.
type NameError struct {
	Path string
	What string // "is a symbolic link", "has 2 links", ...
}

func (e *NameError) Error() string { return e.Path + ": " + e.What }

// ErrTaken is matched by the error for a final name that belongs to something other than an ordinary file. A download
// to another name would work.
var ErrTaken = errors.New("the name is taken")

type takenError struct{ *NameError }

func (e takenError) Unwrap() error      { return e.NameError }
func (takenError) Is(target error) bool { return target == ErrTaken }

// SpaceError reports that the rest of a file does not fit on the file system. It wraps syscall.ENOSPC.
type SpaceError struct {
	Path       string // of the part file; for a nameless file, the folder
	Need, Free int64  // bytes still to be written, and bytes available
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("%s: needs %d more bytes, but the file system has %d", e.Path, e.Need, e.Free)
}

// Unwrap returns syscall.ENOSPC, the error that writing the rest would have returned.
func (e *SpaceError) Unwrap() error { return syscall.ENOSPC }

// StateError reports that a method was called in the wrong state, for example on an incomplete file.
type StateError struct {
	Path string
	What string // "not begun", "incomplete", ...
}

func (e *StateError) Error() string { return e.Path + ": " + e.What }

// MovedError reports that a file is not at its path any more: its folder was moved or removed during the download, or
// another program removed the part file.
type MovedError struct {
	Path string // the expected path
	Now  string // the present path; empty if the file is gone or was not found
	What string // "its folder was moved or renamed meanwhile", ...
}

func (e *MovedError) Error() string { return e.Path + ": " + e.What }

// notThere reports whether err means that a path does not exist.
func notThere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
