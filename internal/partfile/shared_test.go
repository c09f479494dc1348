package partfile

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"braid/internal/fsys"
	"braid/internal/test/fsystest"
	"braid/verify"
)

// Proves rules 1 and 6 for files that share their folder and its syncs: a committed file survives a loss of power, and
// no final name has other bytes.
func TestPowerLossShared(t *testing.T) {
	const workers, each = 4, 3
	disk := fsystest.NewDisk()
	must(t, fsys.MkdirAll(disk, "/d", 0o777))
	disk.Settle()
	files := fsys.Shared(lateDisk{disk})
	text := func(name string) []byte { return []byte(strings.Repeat(name, 50)) }
	var mu sync.Mutex
	after := map[string]int{} // the changes when a Commit had returned
	var wg sync.WaitGroup
	for w := range workers {
		names, proofs := make([]string, each), make([]verify.Proof, each)
		for i := range each {
			names[i] = fmt.Sprintf("%d-%d", w, i)
			proofs[i] = proof(t, text(names[i]))
		}
		wg.Go(func() {
			for i, name := range names {
				f, err := Open(files, "/d", name)
				if err == nil {
					err = f.Begin(Identity{URL: name, Size: int64(len(text(name)))})
				}
				if err == nil {
					_, err = f.WriteAt(text(name), 0)
				}
				if err == nil {
					err = f.Commit(proofs[i], Final{})
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				after[name] = disk.Changes()
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for n := range disk.Changes() + 1 {
		for _, fate := range fsystest.Fates(uint64(n)<<8, 2) {
			crashed := disk.Crash(n, fate)
			for name, at := range after {
				data, err := fsys.ReadFile(crashed, "/d/"+name, 1<<20)
				if n >= at && err != nil || err == nil && string(data) != string(text(name)) {
					t.Fatalf("%s after %d changes, %v: %d bytes, %v; it was committed after %d", name, n, fate,
						len(data), err, at)
				}
			}
		}
	}
}

// lateDisk is a file system on which a sync of a folder returns late.
type lateDisk struct{ fsys.FS }

type lateFolder struct{ fsys.Dir }

func (x lateDisk) OpenDir(name string) (fsys.Dir, error) {
	d, err := x.FS.OpenDir(name)
	return lateFolder{d}, err
}

func (d lateFolder) Sync() error {
	err := d.Dir.Sync()
	for range 100 {
		runtime.Gosched()
	}
	return err
}
