package antenna

import (
	"encoding/json"
	"time"

	"go.etcd.io/bbolt"
)

// Keep has f told of each value that is written to the store, once it is on disk, so that it can be kept elsewhere,
// too. Without a value it was removed. It is called before the store is used, and f does not block.
func (s *Store) Keep(f func(bucket, key string, value []byte)) { s.keep = f }

// LastBucket is the bucket with the validators of feeds. A copy of the store that has these, and not what the feed said
// with them, would never be told again: its values are to be stored after those of the other buckets.
const LastBucket = "feeds"

// kept tells of what was written.
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

// AskAnew has each feed asked at once, and in full: the values in the store may be of different moments.
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

// Each calls f with each value of the store.
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

// Replace makes values, by bucket and key, all that is in the store. Buckets of other versions are passed over.
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
