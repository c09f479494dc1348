//go:build realservers

package objectstore_test

import (
	"slices"
	"strings"
	"testing"

	"braid/download"
	"braid/internal/test/s3test"
	"braid/objectstore"
)

// TestRealRemove_Rule80 checks that Remove removes an object with its evidence, but neither an object that another program
// replaces after the last look, nor what is not its evidence.
func TestRealRemove_Rule80(t *testing.T) {
	t.Parallel()
	store := s3test.New(t)
	s, err := objectstore.Open("s3://"+s3test.Bucket+"/isos/", objectstore.Options{Getenv: store.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"replaced", "removed", "alone"} {
		store.Put("isos/"+name, []byte("old"))
		store.Put("isos/"+name+".evidence.json", []byte(`{"object":"s3://`+s3test.Bucket+`/isos/`+name+`"}`))
	}
	store.Put("isos/alone.evidence.json", []byte("mine"))
	for name, want := range map[string]string{"replaced": "", "removed": "", "alone": "an unrelated object has this name"} {
		err := s.Remove(t.Context(), name, func(*download.Existing) bool {
			if name == "replaced" {
				store.Put("isos/"+name, []byte("new"))
			}
			return true
		})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	keys := store.Keys()
	slices.Sort(keys)
	want := []string{"isos/alone.evidence.json", "isos/replaced", "isos/replaced.evidence.json"}
	if !slices.Equal(keys, want) {
		t.Errorf("left are %q, want %q", keys, want)
	}
}
