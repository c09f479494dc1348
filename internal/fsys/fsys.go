// Package fsys defines interfaces for the file system operations that durable files need: part files, journals and
// small state files.
//
// There are two implementations. [OS] is a thin layer above the system calls, without further cost. The implementation
// for tests (internal/test/fsystest) simulates a loss of power, a full disk and a failure of any operation. Folders are
// held open and names are looked up in them, so renaming a parent of an open folder does not affect the program.
//
// The package is not a general file system: a [Dir] accepts names but no paths, no symbolic links are created, nothing
// is removed recursively, and files are read and written only at offsets.
//
//	d, err := fsys.OS.OpenDir("/srv/files")
//	f, err := d.Create("x.iso.part", 0o600)
//	_, err = f.WriteAt(p, 0)
//	err = f.Sync()
//	err = d.RenameNew("x.iso.part", "x.iso")
//	err = d.Sync()
package fsys

import (
	"io"
	"io/fs"
	"time"
)

// FS opens folders and files by path. The error of each operation is a system error in an *fs.PathError, which names
// the file.
type FS interface {
	// OpenDir opens the folder at path. It follows symbolic links.
	OpenDir(path string) (Dir, error)
	// Open opens the file at path for reading only. It follows symbolic links, and does not wait for the writer of a
	// FIFO.
	Open(path string) (File, error)
	// Stat returns the state of the file at path. It follows symbolic links.
	Stat(path string) (Info, error)
	// OpenTemp creates a nameless file in the folder at path. The file disappears when it is closed.
	OpenTemp(path string) (File, error)
}

// Dir is an open folder. Names are the names of its entries; symbolic links are not followed.
type Dir interface {
	// OpenDir opens a subfolder.
	OpenDir(name string) (Dir, error)
	// Create creates a file for reading and writing. If name exists, the error is fs.ErrExist.
	Create(name string, perm fs.FileMode) (File, error)
	// Open opens a file for reading and writing. It also opens other kinds of entries; see [File.Info].
	Open(name string) (File, error)
	// Mkdir creates a folder. If name exists, the error is fs.ErrExist.
	Mkdir(name string, perm fs.FileMode) error
	// Stat returns the state of an entry, which may be a symbolic link. The name "." stands for the folder itself.
	Stat(name string) (Info, error)
	// SetTime sets the modification time of an entry.
	SetTime(name string, t time.Time) error
	// Remove removes an entry that is not a folder.
	Remove(name string) error
	// Rename renames an entry. It replaces an existing entry to, unless to is a folder.
	Rename(from, to string) error
	// RenameNew renames an entry without ever replacing another: if to exists, the error is fs.ErrExist. On a file
	// system that cannot guarantee that, the error is errors.ErrUnsupported.
	RenameNew(from, to string) error
	// Link links the file from as to in dir, a folder of the same FS. It does not replace an entry.
	Link(from string, dir Dir, to string) error
	// Names returns the sorted names of the entries.
	Names() ([]string, error)
	// Where returns the present path of the folder, even if the folder was moved. It is empty if the system does not
	// provide the path.
	Where() string
	// Sync syncs the entries of the folder. A Sync of its files or of its parent does not do that. Sync does nothing on
	// file systems that cannot sync folders.
	Sync() error
	Close() error
}

// File is an open file. Its methods are safe for concurrent use.
type File interface {
	io.ReaderAt
	io.WriterAt
	// Name returns the path by which the file was opened, for messages.
	Name() string
	Info() (Info, error)
	Truncate(size int64) error
	Chmod(mode fs.FileMode) error
	// Reserve allocates space for size bytes without changing the length of the file. Release deallocates a range,
	// which then reads as zero. Both do nothing on file systems that do not support them.
	Reserve(size int64) error
	Release(off, n int64) error
	// Free returns the available space of the file system in bytes, or -1 if it is unknown.
	Free() (int64, error)
	// Guard returns a Guard for the file. An error means that changes by other programs cannot be detected.
	Guard() (Guard, error)
	// TryLock locks the file until it is closed, against other callers of TryLock. It returns false if another process
	// holds the lock.
	TryLock() (locked bool, err error)
	// Datasync syncs content and length. Sync also syncs all other attributes, but not the name.
	Datasync() error
	Sync() error
	Close() error
}

// Guard detects what other programs do to a file. Its methods are safe for concurrent use.
type Guard interface {
	// Watch begins to detect writes. Closing a Guard that watches takes milliseconds.
	Watch() error
	// Written reports whether another program has opened the file for writing and closed it since Watch or Forget.
	Written() (bool, error)
	// Open reports whether another program has the file open now, for reading or writing.
	Open() bool
	// Hole reports whether a part of the first size bytes was never written. truncate(2) causes such a hole without
	// opening the file. A file system may also turn written zeros into holes.
	Hole(size int64) bool
	// Forget makes Written ignore earlier writes.
	Forget()
	Close() error
}

// Info is the state of a file.
type Info struct {
	ID        ID
	Mode      fs.FileMode // type and permissions
	Links     uint64      // number of names
	UID       int         // owner; the user of this process on systems without owners
	Size      int64
	Allocated int64 // bytes on disk
	BlockSize int64
	ModTime   time.Time
	Changed   time.Time // last change of content or attributes, without the name; zero if unknown
}

// ID identifies a file.
type ID struct{ Dev, Ino uint64 }
