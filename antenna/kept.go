package antenna

import (
	"encoding/json"
	"time"

	"go.etcd.io/bbolt"
)

// Keep sets f, which copies the store. After each write, f is called for each value that is now on disk. A nil value
// means that the key was deleted. Keep must be called before the store is used, and f must not block.
func (s *Store) Keep(f func(bucket, key string, value []byte)) { s.keep = f }

// LastBucket is the bucket with the validators of feeds. A copy must store its values after those of the other buckets.
// A copy with the validators of a feed but without its records would never get the records again.
const LastBucket = "feeds"

// kept calls the function set by Keep.
func (s *Store) kept(b batch) {
	if s.keep == nil {
		return
	}
	tell := func(bucket string) {
		for key, value := range b[bucket] {
			s.keep(bucket, key, value)
		}
	}
	for bucket := range b {
		if bucket != LastBucket {
			tell(bucket)
		}
	}
	tell(LastBucket)
}

// AskAnew makes each feed due at once and unconditionally, because the values in the store may be from different times.
func (s *Store) AskAnew() error {
	return s.db.Write(func(tx *bbolt.Tx) error {
		b, anew := tx.Bucket(bucketFeeds), map[string][]byte{}
		if err := b.ForEach(func(k, v []byte) error {
			var f savedFeed
			err := json.Unmarshal(v, &f)
			if err == nil {
				f.validators, f.Next = validators{}, time.Time{}
				anew[string(k)], err = json.Marshal(f)
			}
			return err
		}); err != nil {
			return err
		}
		return putAll(b, anew)
	})
}

// Each calls f with each value in the store.
func (s *Store) Each(f func(bucket, key string, value []byte)) error {
	for _, bucket := range lastingBuckets {
		values, err := s.all(bucket)
		if err != nil {
			return err
		}
		for key, value := range values {
			f(string(bucket), key, value)
		}
	}
	return nil
}

// Replace replaces the content of the store. values maps buckets and keys to values. Unknown buckets are ignored.
func (s *Store) Replace(values map[string]map[string][]byte) error {
	return s.db.Write(func(tx *bbolt.Tx) error {
		for _, bucket := range lastingBuckets {
			if err := tx.DeleteBucket(bucket); err != nil {
				return err
			}
			b, err := tx.CreateBucket(bucket)
			if err == nil {
				err = putAll(b, values[string(bucket)])
			}
			if err != nil {
				return err
			}
		}
		return readAll(tx)
	})
}
