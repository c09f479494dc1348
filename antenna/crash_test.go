package antenna

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/internal/fsys"
	"braid/internal/test/fsystest"
)

// TestPowerLossOfCache_Rule8 checks that after a power failure at any moment antenna.lirs is complete or missing. A
// lost store is restored from it.
func TestPowerLossOfCache_Rule8(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, a, j := oneFeed(t)
		dir, disk := t.TempDir(), fsystest.NewDisk()
		if err := fsys.MkdirAll(disk, dir, 0o700); err != nil {
			t.Fatal(err)
		}
		disk.Settle()
		a.Store, a.files = storeIn(t, dir), disk
		j.handle = func(context.Context, Update) (Outcome, error) { return Outcome{Changed: true}, nil }
		watchFor(t, a, j, 3*time.Minute)
		closed(t, a.Store)
		cache := func(files fsys.FS) string {
			data, err := fsys.ReadFile(files, filepath.Join(dir, "antenna.lirs"), 1<<20)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
			return string(data)
		}
		last := cache(disk)
		if !strings.HasSuffix(last, ",have-copy,\n") {
			t.Fatalf("the cache is %q", last)
		}
		whole := map[string]bool{"": true}
		for n := range disk.Changes() + 1 {
			whole[cache(disk.Crash(n, fsystest.Kept))] = true
		}
		for n := range disk.Changes() + 1 {
			for _, fate := range fsystest.Fates(uint64(n), 4) {
				if got := cache(disk.Crash(n, fate)); !whole[got] || n == disk.Changes() && got != last {
					t.Errorf("after %d of %d changes, %v: %q", n, disk.Changes(), fate, got)
				}
			}
		}
	})
}
