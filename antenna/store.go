package antenna

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"braid/internal/database"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// A Store keeps the state of an Antenna between runs, in a file with mode 0600. Only one process can have it open at a
// time. A nil Store keeps nothing.
type Store struct {
	path string
	db   *database.DB
	lost error // why the previous file could not be read
	keep func(bucket, key string, value []byte)

	access access
}

var (
	bucketMeta    = []byte("meta")
	bucketFeeds   = []byte("feeds")
	bucketReports = []byte("reports")
	bucketTargets = []byte("watches")
	// bucketGone maps bucket and key to the time since which a feed or watch is not configured.
	bucketGone = []byte("gone")

	// bucketHistory was written by older versions of braid. It is deleted.
	bucketHistory = []byte("history")

	// lastingBuckets lists the buckets with the state.
	lastingBuckets = [][]byte{bucketFeeds, bucketReports, bucketTargets, bucketGone}

	keyVersion = []byte("version")
)

const version = "1"

// errEmpty is the reason to treat an empty store as lost: its file was missing, or a process created an empty store in
// place of a lost store and ended before it restored the state.
var errEmpty = errors.New("the store is empty, but a cache exists")

// A LockedError reports that another process has the store open. PID and Command identify the process, if known.
type LockedError struct {
	Path    string
	PID     int
	Command string
}

func (e *LockedError) Error() string { return (*database.LockedError)(e).Error() }

// OpenStore opens the store at path, or creates it. A store that cannot be read is moved aside to PATH.bad. If the
// store could not be read, or is missing, the state is restored from the file antenna.lirs in the same folder. If
// another process has the store open, the error is a *LockedError.
func OpenStore(path string) (*Store, error) {
	db, err := database.Open(path, prepare)
	if locked, ok := errors.AsType[*database.LockedError](err); ok {
		return nil, (*LockedError)(locked)
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	s := &Store{path: path, db: db, lost: db.Lost}
	if s.lost == nil {
		err = s.missKnowledge()
	}
	return s, err
}

// missKnowledge sets lost if the store is empty although a cache exists.
func (s *Store) missKnowledge() error {
	cache, err := os.Stat(s.cachePath())
	if err != nil || cache.Size() == 0 {
		return nil
	}
	return s.db.Read(func(tx *bbolt.Tx) error {
		feed, _ := tx.Bucket(bucketFeeds).Cursor().First()
		target, _ := tx.Bucket(bucketTargets).Cursor().First()
		if feed == nil && target == nil {
			s.lost = errEmpty
		}
		return nil
	})
}

// prepare creates missing buckets and checks all values.
func prepare(tx *bbolt.Tx) error {
	meta, err := tx.CreateBucketIfNotExists(bucketMeta)
	if err != nil {
		return err
	}
	for _, name := range lastingBuckets {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	if err := tx.DeleteBucket(bucketHistory); err != nil && !errors.Is(err, bolterrors.ErrBucketNotFound) {
		return err
	}
	if err := database.CheckVersion(meta, keyVersion, version); err != nil {
		return err
	}
	return readAll(tx)
}

// readAll decodes all values to check them.
func readAll(tx *bbolt.Tx) error {
	var err error
	each := func(bucket []byte, decode func(data []byte) error) {
		if err == nil {
			err = tx.Bucket(bucket).ForEach(func(k, v []byte) error {
				if err := decode(v); err != nil {
					return &database.DamageError{Err: fmt.Errorf("%s %q: %w", bucket, k, err)}
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

// A batch is a set of changes to write together, by bucket and key. A nil value deletes the key.
type batch map[string]map[string][]byte

// write writes b in one transaction and syncs it.
func (s *Store) write(b batch) error {
	if s == nil {
		return nil
	}
	err := s.db.Write(func(tx *bbolt.Tx) error {
		for bucket, values := range b {
			if err := putAll(tx.Bucket([]byte(bucket)), values); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		s.kept(b)
	}
	return err
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

// get returns the value of key, or nil if the key does not exist.
func (s *Store) get(bucket []byte, key string) (value []byte, err error) {
	if s == nil {
		return nil, nil
	}
	err = s.db.Read(func(tx *bbolt.Tx) error {
		value = append(value, tx.Bucket(bucket).Get([]byte(key))...)
		return nil
	})
	return value, err
}

func (s *Store) all(bucket []byte) (values map[string][]byte, err error) {
	values = map[string][]byte{}
	if s == nil {
		return values, nil
	}
	err = s.db.Read(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucket).ForEach(func(k, v []byte) error {
			values[string(k)] = bytes.Clone(v)
			return nil
		})
	})
	return values, err
}

// cachePath returns the path of the cache in LIRS format, or "" without a store.
func (s *Store) cachePath() string {
	if s == nil {
		return ""
	}
	return filepath.Join(filepath.Dir(s.path), "antenna.lirs")
}

// Close closes the store. No antenna may use it afterwards.
func (s *Store) Close() error {
	if s == nil {
		return nil
	}
	return s.db.Close()
}
