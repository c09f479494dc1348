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
// The function set by Keep is called for the changes, because this process may end before it has asked each feed.
func (s *Store) AskAnew() error {
	feeds, err := s.all(bucketFeeds)
	if err != nil {
		return err
	}
	for id, value := range feeds {
		var f savedFeed
		err := json.Unmarshal(value, &f)
		if err == nil {
			f.validators, f.Next = validators{}, time.Time{}
			feeds[id], err = json.Marshal(f)
		}
		if err != nil {
			return err
		}
	}
	return s.write(batch{string(bucketFeeds): feeds})
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
