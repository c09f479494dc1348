package partfile

import (
	"strings"
	"syscall"
	"testing"

	"braid/internal/fsys"
	"braid/internal/test/fsystest"
)

// Bytes that were synced, voided and written again are not on disk any more. A failed sync loses them, whether they
// were revoked before or during the sync.
func TestLostSyncOfWhatWasVoid_Rule7(t *testing.T) {
	t.Parallel()
	for _, meanwhile := range []bool{false, true} {
		disk := fsystest.NewDisk()
		must(t, fsys.MkdirAll(disk, "/d", 0o777))
		var during func()
		var fails bool
		files := fsystest.Tap(disk, func(op fsystest.Op) error {
			if !op.Syncs || !strings.HasSuffix(op.Path, ".part") {
				return nil
			}
			if during != nil {
				during()
			}
			if fails {
				return fsystest.LostSync{Err: syscall.EIO}
			}
			return nil
		})
		f, err := Open(files, "/d", "x")
		must(t, err)
		must(t, f.Begin(Identity{URL: "https://a.example/x", Size: 9000}))
		write := func(start, end int) {
			_, err := f.WriteAt(content(9000)[start:end], int64(start))
			must(t, err)
		}
		write(0, 9000)
		if meanwhile {
			during = func() { f.Revoke(span(3000, 6000)) }
		}
		must(t, f.Sync())
		during = nil
		must(t, voided(f, span(3000, 6000)))
		write(3000, 6000)
		fails = true
		if f.Sync() == nil {
			t.Fatal("the sync succeeded")
		}
		if have := f.Have(); have.Contains(span(3000, 3001)) || !have.Contains(span(0, 3000)) ||
			!have.Contains(span(6000, 9000)) {
			t.Errorf("revoked meanwhile: %v: %v is there", meanwhile, &have)
		}
		// Bytes that were written again do not count either: the system reports a failed write only once.
		fails = false
		write(0, 9000)
		if have := f.Have(); !have.Contains(span(0, 9000)) || f.Commit(proof(t, content(9000)), Final{}) == nil {
			t.Errorf("%v was committed", &have)
		}
		must(t, f.Discard())
	}
}
