package antenna

import "go.etcd.io/bbolt"

// Keep has f told of each value that is written to the store, once it is on disk, so that it can be kept elsewhere, too. Without a value it
// was removed. It is called before the store is used, and f does not block.
func (s *Store) Keep(f func(bucket, key string, value []byte)) { s.keep = f }

// kept tells of what was written.
func (s *Store) kept(b batch) {
	if s.keep == nil {
		return
	}
	for bucket, values := range b {
		for key, value := range values {
			s.keep(bucket, key, value)
		}
	}
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
