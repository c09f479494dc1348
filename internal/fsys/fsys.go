// Package fsys is the file system as braid uses it where something must not be lost: the few operations that part files, journals
// and small state files are made of, as interfaces.
//
// There are two file systems: [OS], which is a thin shell around the system's calls and costs nothing beyond them, and the one
// of the tests (internal/test/fsystest), which loses power, runs full and fails at any operation. Folders are held open, and
// names are looked up in them: what is renamed above a folder changes nothing for a program that has it open.
//
// It refuses to be a file system for everything: there are no paths in a [Dir] but names, no symbolic links are made, nothing is
// removed with what is below it, and files are read and written at offsets only.
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

// An FS is where folders are. Errors of all operations are those of the system in an *fs.PathError, which names the file.
type FS interface {
	// OpenDir opens the folder at path, also through symbolic links.
	OpenDir(path string) (Dir, error)
	// Open opens what is at path for reading only, also through symbolic links. It does not wait for the writer of a FIFO.
	Open(path string) (File, error)
	// Stat looks at what is at path, also through symbolic links.
	Stat(path string) (Info, error)
	// OpenTemp makes a file without a name in the folder at path. It is gone when it is closed.
	OpenTemp(path string) (File, error)
}

// A Dir is a folder that is open. Names are those of its entries; none of them is followed if it is a symbolic link.
type Dir interface {
	// OpenDir opens a folder in this one.
	OpenDir(name string) (Dir, error)
	// Create makes a file for reading and writing. If there is something of that name, the error is fs.ErrExist.
	Create(name string, perm fs.FileMode) (File, error)
	// Open opens a file for reading and writing, and anything else as it is: see [File.Info].
	Open(name string) (File, error)
	// Mkdir makes a folder. If there is something of that name, the error is fs.ErrExist.
	Mkdir(name string, perm fs.FileMode) error
	// Stat looks at the entry itself.
	Stat(name string) (Info, error)
	// SetTime says when the content of an entry was changed.
	SetTime(name string, t time.Time) error
	// Remove removes an entry that is not a folder.
	Remove(name string) error
	// Rename replaces what is at to, unless that is a folder.
	Rename(from, to string) error
	// RenameNew never replaces anything: if there is something at to, the error is fs.ErrExist. A file system that cannot promise
	// that says errors.ErrUnsupported.
	RenameNew(from, to string) error
	// Link gives the file at from a second name in another folder of the same FS, which replaces nothing.
	Link(from string, dir Dir, to string) error
	// Names are those of the entries, in order.
	Names() ([]string, error)
	// Where is the path by which the folder is found now, also if it was moved. It is empty if the system does not say.
	Where() string
	// Sync puts the entries on disk. Nothing else does: neither a Sync of the files nor one of the folder above. File
	// systems that cannot are left alone.
	Sync() error
	Close() error
}

// A File is one that is open. Its methods may be called by several goroutines at once.
type File interface {
	io.ReaderAt
	io.WriterAt
	// Name is the path by which it was opened, for messages.
	Name() string
	Info() (Info, error)
	Truncate(size int64) error
	Chmod(mode fs.FileMode) error
	// Reserve makes room for size bytes and leaves the length as it is, and Release gives the room of some bytes back;
	// they read as zero then. File systems that cannot are left alone.
	Reserve(size int64) error
	Release(off, n int64) error
	// Free is how many bytes the file system has room for, or -1 if it does not say.
	Free() (int64, error)
	// Guard is what notices what other programs do to the file. The error says why that cannot be told.
	Guard() (Guard, error)
	// TryLock locks the file until it is closed, against all others that do so. Locked is false if another process has locked it.
	TryLock() (locked bool, err error)
	// Datasync puts content and length on disk, and Sync all that is known of the file but its name.
	Datasync() error
	Sync() error
	Close() error
}

// A Guard notices what other programs do to a file. Its methods may be called by several goroutines at once.
type Guard interface {
	// Watch begins to notice writes. A guard that watches takes milliseconds to close.
	Watch() error
	// Written reports whether another program has had the file open for writing, and closed it, since Watch or Forget.
	Written() (bool, error)
	// Open reports whether another program has it open now, for reading or writing.
	Open() bool
	// Hole reports whether a part of the first size bytes was never written. truncate(2) leaves one without opening the file.
	// A file system may also make holes of written zeros.
	Hole(size int64) bool
	// Forget lets Written begin anew.
	Forget()
	Close() error
}

// An Info is what is known of a file.
type Info struct {
	ID        ID
	Mode      fs.FileMode // kind and permissions
	Links     uint64      // how many names it has
	UID       int         // whose it is; that of this process where files have no owners
	Size      int64
	Allocated int64 // bytes on disk
	BlockSize int64
	ModTime   time.Time
	Changed   time.Time // when anything about the file was, its name excluded; zero if the system does not say
}

// An ID tells files apart.
type ID struct{ Dev, Ino uint64 }
