package partfile

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// An InUseError says that another process downloads to the same name.
type InUseError struct {
	Path string // of the part file
	PID  int    // of the process that holds it; 0 if unknown
}

func (e *InUseError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s: in use by another process", e.Path)
	}
	return fmt.Sprintf("%s: in use by process %d", e.Path, e.PID)
}

// A NameError says that what a name stands for is not ours to write to.
type NameError struct {
	Path string
	What string // "is a symbolic link", "has 2 links", ...
}

func (e *NameError) Error() string { return e.Path + ": " + e.What }

// ErrTaken is the error of a final name that something has that is no file: another name would do.
var ErrTaken = errors.New("the name is taken")

type takenError struct{ *NameError }

func (e takenError) Unwrap() error      { return e.NameError }
func (takenError) Is(target error) bool { return target == ErrTaken }

// A SpaceError says that the rest of a file does not fit. It is syscall.ENOSPC for errors.Is.
type SpaceError struct {
	Path       string // of the part file, or the folder of one that has no name
	Need, Free int64  // bytes that are still to be written, and that may be
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("%s: needs %d more bytes and the file system has %d", e.Path, e.Need, e.Free)
}

// Unwrap makes it the error that writing would have ended with.
func (e *SpaceError) Unwrap() error { return syscall.ENOSPC }

// A StateError says that a method was called out of turn, or for a file that is not complete.
type StateError struct {
	Path string
	What string // "not begun", "incomplete", ...
}

func (e *StateError) Error() string { return e.Path + ": " + e.What }

// A MovedError says that a file is not where it was put: its folder was moved or removed under way, or another program
// removed the part file.
type MovedError struct {
	Path string // where it should be
	Now  string // where it is; empty if it is gone, or that is not known
	What string // "its folder was moved or renamed meanwhile", ...
}

func (e *MovedError) Error() string { return e.Path + ": " + e.What }

// notThere reports whether a path leads nowhere.
func notThere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
