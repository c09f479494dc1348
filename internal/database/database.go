// Package database opens bbolt files that must lose nothing silently: one that is damaged is set aside with its reason,
// and one that another process has open says which.
package database

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"braid/internal/fsys"
	"braid/internal/mask"
)

// A DB is an open file of mode 0600.
type DB struct {
	*bbolt.DB
	// Lost is why the file that was there could not be read, and Aside where it is now.
	Lost  error
	Aside string
}

// lockTimeout is how long another process may take to end.
const lockTimeout = 2 * time.Second

// Open opens the file at path, or makes it. In one transaction, prepare makes what is missing and reads all of it once:
// pages that are wrong are met here, and not at midnight. A file that cannot be read, or for which prepare has a
// *[DamageError], is set aside as PATH.bad. If another process has it open, the error is a *[LockedError].
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
		return nil, fmt.Errorf("it cannot be read (%v), nor set aside: %w", lost, err)
	}
	return d, d.open(path, prepare)
}

// A DamageError says that a file is none that can be read.
type DamageError struct{ Err error }

func (e *DamageError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *DamageError) Unwrap() error { return e.Err }

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
			file.Close() // bbolt leaves it open if it panics
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

// Write changes the file; then that is on disk, or nothing of it is.
func (d *DB) Write(change func(tx *bbolt.Tx) error) error {
	return guarded(func() error { return d.Update(change) })
}

// Read reads.
func (d *DB) Read(look func(tx *bbolt.Tx) error) error {
	return guarded(func() error { return d.View(look) })
}

// tooSmall is what bbolt says of a file that ends in its first two pages, as one does whose making was cut short. It
// has no name for it.
const tooSmall = "file size too small"

// foreign tells a file that is no database from one that cannot be opened.
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

// guarded makes an error of what bbolt panics about: pages that are none, and a file that is shorter than it says.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case runtime.Error: // which speaks of the program, and not of the file
			err = &DamageError{errors.New("damaged: it ends too early, or a page in it is none")}
		default:
			err = &DamageError{fmt.Errorf("damaged: %v", p)}
		}
	}()
	return f()
}

// A LockedError says that another process has the file open.
type LockedError struct {
	Path string
	// PID and Command are those of the process that has it, if they are known.
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

// lockedBy finds the process that has the lock of a file.
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
