package daemon

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"

	"go.etcd.io/bbolt"

	"braid/daemon/queue"
	"braid/internal/database"
)

// A store keeps the queue on disk.
type store struct {
	db      *database.DB
	entries []queue.Entry // the stored entries, as read by prepare
	global  map[string]string
}

// storeFile is the name of the store's file in the state folder.
const storeFile = "queue.db"

const version = "1"

var (
	bucketMeta    = []byte("meta")
	bucketEntries = []byte("entries")
	keyVersion    = []byte("version")
	keyGlobal     = []byte("global")
)

func openStore(dir string) (*store, error) {
	s := &store{}
	var err error
	s.db, err = database.Open(filepath.Join(dir, storeFile), s.prepare)
	return s, err
}

// prepare creates missing buckets and reads all entries and the global options.
func (s *store) prepare(tx *bbolt.Tx) error {
	s.entries, s.global = nil, nil
	meta, err := tx.CreateBucketIfNotExists(bucketMeta)
	if err != nil {
		return err
	}
	all, err := tx.CreateBucketIfNotExists(bucketEntries)
	if err != nil {
		return err
	}
	if err := database.CheckVersion(meta, keyVersion, version); err != nil {
		return err
	}
	if data := meta.Get(keyGlobal); data != nil {
		if err := json.Unmarshal(data, &s.global); err != nil {
			return &database.DamageError{Err: fmt.Errorf("global options: %w", err)}
		}
	}
	return all.ForEach(func(k, v []byte) error {
		var e queue.Entry
		if err := json.Unmarshal(v, &e); err != nil || string(k) != string(key(e.GID)) {
			return &database.DamageError{Err: fmt.Errorf("entry %x: not an entry, or one with another GID (%v)", k, err)}
		}
		s.entries = append(s.entries, e)
		return nil
	})
}

func key(g queue.GID) []byte { return binary.BigEndian.AppendUint64(nil, uint64(g)) }

// A batch is a set of changes that are written together. A nil Entry means that the entry is deleted.
type batch struct {
	entries map[queue.GID]*queue.Entry
	global  map[string]string // nil if unchanged
}

func (b *batch) empty() bool { return len(b.entries) == 0 && b.global == nil }

// add adds c to b. The changes in c are newer than those in b.
func (b *batch) add(c *queue.Changes) {
	if b.entries == nil {
		b.entries = map[queue.GID]*queue.Entry{}
	}
	for _, g := range c.Delete { // first, because a deleted GID may have been added again
		b.entries[g] = nil
	}
	for i := range c.Store {
		b.entries[c.Store[i].GID] = &c.Store[i]
	}
	if c.Global != nil {
		b.global = c.Global
	}
}

// before adds the changes of old, an older batch that could not be written. Where both batches have a change, that of b stays.
func (b *batch) before(old batch) {
	merged := maps.Clone(old.entries)
	maps.Copy(merged, b.entries)
	b.entries = merged
	if b.global == nil {
		b.global = old.global
	}
}

// write writes b in one transaction and syncs the file.
func (s *store) write(b batch) error {
	return s.db.Write(func(tx *bbolt.Tx) error {
		all := tx.Bucket(bucketEntries)
		for g, e := range b.entries {
			if err := put(all, g, e); err != nil {
				return err
			}
		}
		if b.global == nil {
			return nil
		}
		data, err := json.Marshal(b.global)
		if err != nil {
			return err
		}
		return tx.Bucket(bucketMeta).Put(keyGlobal, data)
	})
}

// empty deletes all entries and options from the store.
func (s *store) empty() error {
	s.entries, s.global = nil, nil
	return s.db.Write(func(tx *bbolt.Tx) error {
		if err := tx.DeleteBucket(bucketEntries); err != nil {
			return err
		}
		if _, err := tx.CreateBucket(bucketEntries); err != nil {
			return err
		}
		return tx.Bucket(bucketMeta).Delete(keyGlobal)
	})
}

func put(all *bbolt.Bucket, g queue.GID, e *queue.Entry) error {
	if e == nil {
		return all.Delete(key(g))
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return all.Put(key(g), data)
}
