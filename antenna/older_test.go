package antenna

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"braid/internal/test/fsystest"
)

// TestStoreOfNewer_Rule8 checks that the store of a newer braid is refused and kept as it is.
func TestStoreOfNewer_Rule8(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "antenna.db")
	s := storeIn(t, dir)
	setVersion(t, s, "2")
	closed(t, s)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(path); err == nil ||
		!strings.Contains(err.Error(), "written by a newer braid (version 2; this braid knows 1)") {
		t.Errorf("the error is %v", err)
	}
	after, err := os.ReadFile(path)
	if names, _ := os.ReadDir(dir); err != nil || !bytes.Equal(after, before) || len(names) != 1 {
		t.Errorf("the store has changed, or was set aside: %v, %v", names, err)
	}
}

// TestOlderStore_Rule8 checks that the store that revision 696ef86 left is read.
func TestOlderStore_Rule8(t *testing.T) {
	data := fsystest.Unpacked(t, "testdata/696ef86.db.gz")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "antenna.db"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	s := storeIn(t, dir)
	defer closed(t, s)
	buckets := map[string]int{}
	err := s.Each(func(bucket, _ string, _ []byte) { buckets[bucket]++ })
	if err != nil || s.lost != nil || len(buckets) < 2 {
		t.Errorf("%v, lost %v, %v", buckets, s.lost, err)
	}
}
