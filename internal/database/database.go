// Package database opens bbolt files and reports every loss of data. A damaged file is set aside, and DB has the
// reason. The error about a file that another process has open names that process.
package database

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"braid/internal/fsys"
	"braid/internal/mask"
)

// DB is an open bbolt file. The mode of the file is 0600.
type DB struct {
	*bbolt.DB
	// Lost is the reason why a damaged file was set aside, and Aside is the path that it has now. Both are zero if no
	// file was damaged.
	Lost  error
	Aside string
}

// lockTimeout is the time limit for another process to release the file.
const lockTimeout = 2 * time.Second

// Open opens the file at path, or creates it. It calls prepare in one transaction. prepare creates missing buckets and
// reads the whole content once, so that damaged pages are detected at the start. A file is set aside as PATH.bad if it
// cannot be read or if prepare returns a *[DamageError]. If another process has the file open, the error is a
// *[LockedError].
func Open(path string, prepare func(tx *bbolt.Tx) error) (*DB, error) {
	d := &DB{}
	lost := d.open(path, prepare)
	switch {
	case lost == nil:
		return d, nil
	case errors.Is(lost, bolterrors.ErrTimeout):
		return nil, lockedBy(path)
	case !isDamage(lost):
		return nil, lost
	}
	d.Lost, d.Aside = lost, path+".bad"
	if err := os.Rename(path, d.Aside); err != nil {
		return nil, fmt.Errorf("it can neither be read (%v) nor set aside: %w", lost, err)
	}
	return d, d.open(path, prepare)
}

// DamageError reports that a file is damaged or not a database.
type DamageError struct{ Err error }

func (e *DamageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *DamageError) Unwrap() error { return e.Err }

// A NewerError reports a file that a newer braid has written. The file is not changed.
type NewerError struct{ Version, Known string }

func (e *NewerError) Error() string {
	return fmt.Sprintf("written by a newer braid (version %s; this braid knows %s) and left unchanged", e.Version, e.Known)
}

// CheckVersion compares the version of a file, at a key of the bucket meta, with the known version. It returns a
// *[NewerError] if the version of the file is higher, and a *[DamageError] for any other difference. In a new file, it
// stores the known version.
func CheckVersion(meta *bbolt.Bucket, key []byte, known string) error {
	got := meta.Get(key)
	is, err := strconv.ParseUint(string(got), 10, 31)
	want, _ := strconv.ParseUint(known, 10, 31) // 0 if known is not a number; then no version is newer
	switch {
	case got == nil:
		return meta.Put(key, []byte(known))
	case string(got) == known:
		return nil
	case err == nil && want > 0 && is > want:
		return &NewerError{string(got), known}
	}
	return &DamageError{fmt.Errorf("its version is %.20q, not %q", got, known)}
}

func isDamage(err error) bool {
	_, ok := errors.AsType[*DamageError](err)
	return ok
}

func (d *DB) open(path string, prepare func(tx *bbolt.Tx) error) (err error) {
	var file *os.File
	o := *bbolt.DefaultOptions
	o.Timeout = lockTimeout
	o.OpenFile = func(name string, flag int, mode os.FileMode) (f *os.File, err error) {
		f, err = os.OpenFile(name, flag, mode)
		file = f
		return f, err
	}
	defer func() {
		if isDamage(err) && file != nil {
			file.Close() // bbolt does not close the file after a panic
		}
	}()
	return guarded(func() error {
		db, err := bbolt.Open(path, 0o600, &o)
		if err != nil {
			return foreign(err)
		}
		if err = errors.Join(os.Chmod(path, 0o600), db.Update(prepare)); err != nil {
			return errors.Join(err, db.Close())
		}
		d.DB = db
		return nil
	})
}

// Write runs change in a transaction that is synced to disk, or has no effect if there is an error.
func (d *DB) Write(change func(tx *bbolt.Tx) error) error {
	return guarded(func() error { return d.Update(change) })
}

// Read runs look in a read-only transaction.
func (d *DB) Read(look func(tx *bbolt.Tx) error) error {
	return guarded(func() error { return d.View(look) })
}

// tooSmall is the text of bbolt's error for a file that ends within its first two pages, for example because its
// creation was interrupted. bbolt has no variable for this error.
const tooSmall = "file size too small"

// foreign returns a *DamageError if err means that the file is not a valid database. It returns other errors unchanged.
func foreign(err error) error {
	if strings.HasPrefix(err.Error(), tooSmall) {
		return &DamageError{err}
	}
	for _, damage := range []error{bolterrors.ErrInvalid, bolterrors.ErrChecksum, bolterrors.ErrVersionMismatch} {
		if errors.Is(err, damage) {
			return &DamageError{err}
		}
	}
	return err
}

// guarded calls f. It converts a panic of bbolt, about invalid pages or a truncated file, to an error.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case runtime.Error: // the text of the panic is about the program, not the file
			err = &DamageError{errors.New("damaged: the file is truncated, or a page is invalid")}
		default:
			err = &DamageError{fmt.Errorf("damaged: %v", p)}
		}
	}()
	return f()
}

// LockedError reports that another process has the file open.
type LockedError struct {
	Path string
	// PID and Command identify the process, if they are known.
	PID     int
	Command string
}

func (e *LockedError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	if e.Command != "" {
		who += fmt.Sprintf(" (%s)", mask.Escape(e.Command))
	}
	return fmt.Sprintf("%s is in use by %s", e.Path, who)
}

// lockedBy returns an error with the process that has locked a file.
func lockedBy(path string) *LockedError {
	e := &LockedError{Path: path}
	f, err := fsys.OS.Open(path)
	if err != nil {
		return e
	}
	defer f.Close()
	if e.PID, _ = fsys.Holder(f); e.PID != 0 {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", e.PID))
		e.Command = strings.TrimSpace(string(name))
	}
	return e
}
