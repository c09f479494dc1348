package antenna

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// TestStoreOfBefore checks that a store of an earlier version can be read, and that its history, which is no longer
// used, is deleted.
func TestStoreOfBefore(t *testing.T) {
	dir := t.TempDir()
	closed(t, storeIn(t, dir))
	db, err := bbolt.Open(filepath.Join(dir, "antenna.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	const text = `{"Print":"p","Asked":"a","ETag":"e","Modified":"m","Of":"o","Sum":7,"Rhythm":{"Changed":"2026-01-02T00:00:00Z","Gap":5},` +
		`"Failures":3,"Err":"x","Code":4,"Day":{"Number":1,"Updates":2,"Failed":3,"Bytes":4},"Failed":true,"Get":true}`
	err = db.Update(func(tx *bbolt.Tx) error {
		if err := tx.Bucket(bucketFeeds).Put([]byte("feed f"), []byte(text)); err != nil {
			return err
		}
		history, err := tx.CreateBucket(bucketHistory)
		if err != nil {
			return err
		}
		return history.Put([]byte("1"), []byte("{}"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := storeIn(t, dir)
	defer closed(t, s)
	data, err := s.get(bucketFeeds, "feed f")
	var f savedFeed
	if err != nil || json.Unmarshal(data, &f) != nil {
		t.Fatal(err)
	}
	want := savedFeed{
		Print: "p", Asked: "a", validators: validators{"e", "m", "o"}, Sum: 7,
		Rhythm:  rhythm{time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), 5},
		trouble: trouble{3, "x", 4}, Day: dayCount{1, 2, 3, 4}, Failed: true, Get: true,
	}
	if got := string(encode(f)); got != string(encode(want)) || f.Of != "o" || f.Failures != 3 {
		t.Errorf("%s", got)
	}
	if err := s.db.View(func(tx *bbolt.Tx) error {
		if tx.Bucket(bucketHistory) != nil {
			t.Error("the history is still there")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
