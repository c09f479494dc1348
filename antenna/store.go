package antenna

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// A Store keeps what an Antenna knows from one run to the next, in a file of 0600. One process has it open at a time. The nil Store
// keeps nothing.
type Store struct {
	path string
	db   *bbolt.DB
	// lost is why the file that was there could not be read, and aside where it is now.
	lost  error
	aside string
}

var (
	bucketMeta    = []byte("meta")
	bucketFeeds   = []byte("feeds")
	bucketReports = []byte("reports")
	bucketTargets = []byte("watches")
	// bucketGone has since when what is in another bucket is no longer configured.
	bucketGone = []byte("gone")

	// bucketHistory is of earlier versions, and not read.
	bucketHistory = []byte("history")

	keyVersion = []byte("version")
)

const (
	version = "1"
	// lockTimeout is how long another process may take to end.
	lockTimeout = 2 * time.Second
)

// errEmpty is why a store is lost that is gone, or that a process made in place of a lost one before it ended at once.
var errEmpty = errors.New("nothing is in it, though there is a cache")

// OpenStore opens the store at path, or makes it. A store that cannot be read is set aside as PATH.bad. In place of one that
// was, or that is not there any more, what is known is taken from the file antenna.lirs in the same folder. If another process has it
// open, the error is a *LockedError.
func OpenStore(path string) (*Store, error) {
	s := &Store{path: path}
	lost := s.open()
	switch {
	case lost == nil:
		return s, s.missKnowledge()
	case errors.Is(lost, bolterrors.ErrTimeout):
		return nil, lockedBy(path)
	case !isDamage(lost):
		return nil, fmt.Errorf("store: %w", lost)
	}
	s.lost, s.aside = lost, path+".bad"
	if err := os.Rename(path, s.aside); err != nil {
		return nil, fmt.Errorf("store: it cannot be read (%v), nor set aside: %w", lost, err)
	}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return s, nil
}

// missKnowledge finds out whether there was more in the store once.
func (s *Store) missKnowledge() error {
	cache, err := os.Stat(s.cachePath())
	if err != nil || cache.Size() == 0 {
		return nil
	}
	return s.db.View(func(tx *bbolt.Tx) error {
		feed, _ := tx.Bucket(bucketFeeds).Cursor().First()
		target, _ := tx.Bucket(bucketTargets).Cursor().First()
		if feed == nil && target == nil {
			s.lost = errEmpty
		}
		return nil
	})
}

// A damageError says that a file is no store that can be read.
type damageError struct{ err error }

func (e *damageError) Error() string { return e.err.Error() }
func (e *damageError) Unwrap() error { return e.err }

func isDamage(err error) bool {
	var damage *damageError
	return errors.As(err, &damage)
}

// open opens the file and reads all of it once: pages that are wrong are met here, and not at midnight.
func (s *Store) open() (err error) {
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
		db, err := bbolt.Open(s.path, 0o600, &o)
		if err != nil {
			return foreign(err)
		}
		if err = errors.Join(os.Chmod(s.path, 0o600), prepare(db)); err != nil {
			return errors.Join(err, db.Close())
		}
		s.db = db
		return nil
	})
}

// tooSmall is what bbolt says of a file that ends in its first two pages, as one does whose making was cut short. It has no name for it.
const tooSmall = "file size too small"

// foreign tells a file that is no database from one that cannot be opened.
func foreign(err error) error {
	if strings.HasPrefix(err.Error(), tooSmall) {
		return &damageError{err}
	}
	for _, damage := range []error{bolterrors.ErrInvalid, bolterrors.ErrChecksum, bolterrors.ErrVersionMismatch} {
		if errors.Is(err, damage) {
			return &damageError{err}
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
			err = &damageError{errors.New("damaged: it ends too early, or a page in it is none")}
		default:
			err = &damageError{fmt.Errorf("damaged: %v", p)}
		}
	}()
	return f()
}

// prepare makes what is missing in a new store, and reads an old one.
func prepare(db *bbolt.DB) error {
	return db.Update(func(tx *bbolt.Tx) error {
		meta, err := tx.CreateBucketIfNotExists(bucketMeta)
		if err != nil {
			return err
		}
		for _, name := range [][]byte{bucketFeeds, bucketReports, bucketTargets, bucketGone} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		if err := tx.DeleteBucket(bucketHistory); err != nil && !errors.Is(err, bolterrors.ErrBucketNotFound) {
			return err
		}
		switch got := meta.Get(keyVersion); {
		case got == nil:
			return meta.Put(keyVersion, []byte(version))
		case string(got) != version:
			return &damageError{fmt.Errorf("it is of version %.20q, not %q", got, version)}
		}
		return readAll(tx)
	})
}

// readAll decodes everything.
func readAll(tx *bbolt.Tx) error {
	var err error
	each := func(bucket []byte, decode func(data []byte) error) {
		if err == nil {
			err = tx.Bucket(bucket).ForEach(func(k, v []byte) error {
				if err := decode(v); err != nil {
					return &damageError{fmt.Errorf("%s %q: %w", bucket, k, err)}
				}
				return nil
			})
		}
	}
	each(bucketFeeds, func(data []byte) error { return json.Unmarshal(data, &savedFeed{}) })
	each(bucketTargets, func(data []byte) error { return json.Unmarshal(data, &savedTarget{}) })
	each(bucketReports, func(data []byte) error { _, err := restored(data); return err })
	return err
}

// A batch is what is written at once: by bucket, values by their keys. Nil is removed.
type batch map[string]map[string][]byte

// write writes all of b, or nothing; then it is on disk.
func (s *Store) write(b batch) error {
	if s == nil {
		return nil
	}
	return guarded(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			for bucket, values := range b {
				if err := putAll(tx.Bucket([]byte(bucket)), values); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func putAll(b *bbolt.Bucket, values map[string][]byte) error {
	for key, value := range values {
		err := b.Delete([]byte(key))
		if len(value) > 0 {
			err = b.Put([]byte(key), value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// get returns a value, or nil.
func (s *Store) get(bucket []byte, key string) (value []byte, err error) {
	if s == nil {
		return nil, nil
	}
	err = guarded(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			value = append(value, tx.Bucket(bucket).Get([]byte(key))...)
			return nil
		})
	})
	return value, err
}

// all returns what is in a bucket.
func (s *Store) all(bucket []byte) (values map[string][]byte, err error) {
	values = map[string][]byte{}
	if s == nil {
		return values, nil
	}
	err = guarded(func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			return tx.Bucket(bucket).ForEach(func(k, v []byte) error {
				values[string(k)] = bytes.Clone(v)
				return nil
			})
		})
	})
	return values, err
}

// cachePath is where the cache in LIRS form is; empty if there is no store.
func (s *Store) cachePath() string {
	if s == nil {
		return ""
	}
	return filepath.Join(filepath.Dir(s.path), "antenna.lirs")
}

// Close closes the store.
func (s *Store) Close() error {
	if s == nil {
		return nil
	}
	return s.db.Close()
}
