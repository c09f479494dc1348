package jetstream

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"reflect"
	"testing"

	"braid/fleet"
)

// TestOlder_Rule8 checks that the queue that revision 696ef86 left is read, that workers go on with it, and that what its
// watcher kept is there.
func TestOlder_Rule8(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, err := zip.OpenReader("testdata/696ef86.zip")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.CopyFS(dir, old), old.Close()); err != nil {
		t.Fatal(err)
	}
	q := opened(t, hosted(t, dir), "new", 0)
	all, err := q.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]fleet.State{}
	for _, r := range all {
		states[r.Job.Name] = r.State
	}
	want := map[string]fleet.State{"isos/disk.iso": fleet.Done, "later.iso": fleet.Queued, "missing.iso": fleet.Waiting,
		"right.iso": fleet.Done, "slow.iso": fleet.Running}
	if !maps.Equal(states, want) {
		t.Errorf("%v, want %v", states, want)
	}
	checkFields(t, q)
	taken := map[string]bool{}
	for range 3 {
		taken[next(t, q).Record.Job.Name] = true
	}
	if !maps.Equal(taken, map[string]bool{"later.iso": true, "missing.iso": true, "slow.iso": true}) {
		t.Errorf("taken are %v", taken)
	}
	l, err := q.Lead(t.Context(), "watch", "1", "watches", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Resign(t.Context())
	buckets := map[string]int{}
	err = l.Kept(t.Context(), func(bucket, _ string, _ []byte) { buckets[bucket]++ })
	if want := map[string]int{"feeds": 1, "reports": 1, "watches": 1}; err != nil || !maps.Equal(buckets, want) {
		t.Errorf("kept are %v, want %v: %v", buckets, want, err)
	}
}

// checkFields checks that each stored record has the same fields after it was decoded and encoded.
func checkFields(t *testing.T, q *Queue) {
	t.Helper()
	for _, name := range []string{"isos/disk.iso", "later.iso", "missing.iso", "right.iso", "slow.iso"} {
		e, err := q.storage.jobs.Get(t.Context(), fleet.KeyOf(name))
		if err != nil {
			t.Fatal(err)
		}
		var r fleet.Record
		var stored, again map[string]any
		err = decode(e.Value(), &r)
		data, failed := json.Marshal(&r)
		err = errors.Join(err, failed, json.Unmarshal(e.Value(), &stored), json.Unmarshal(data, &again))
		if err != nil || !reflect.DeepEqual(again, stored) {
			t.Errorf("%s: %v: stored was\n%s, and it is read as\n%s", name, err, e.Value(), data)
		}
	}
}
