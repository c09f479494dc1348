package partfile

import (
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"braid/internal/fsys"
	"braid/verify"
)

func wantInUse(t *testing.T, err error, pid int) {
	t.Helper()
	if e, ok := errors.AsType[*InUseError](err); !ok || e.PID != pid || !strings.Contains(err.Error(), ".part") {
		t.Errorf("error is %v, want one that says that process %d uses it", err, pid)
	}
}

// The second Open fails with the ID of the process that holds the lock, in one process or two.
func TestInUse_Rule9(t *testing.T) {
	dir := t.TempDir()
	f := begun(t, dir, []byte("abc"), 0)
	_, err := Open(fsys.OS, dir, "x")
	wantInUse(t, err, os.Getpid())
	must(t, f.Close())

	dir = t.TempDir()
	in, out, err := os.Pipe()
	must(t, err)
	defer out.Close()
	c := startChild(t, dir, in, holdEnv+"=1")
	must(t, in.Close())
	c.resumed(t)
	_, err = Open(fsys.OS, dir, "x")
	wantInUse(t, err, c.cmd.Process.Pid)
	if !c.killAfter(t, 0) {
		t.Error("the child had ended")
	}
	// The lock ends with its process.
	must(t, open(t, dir).Close())
}

// A lock on a file that was removed or replaced is not accepted.
func TestLockOnRemovedFile_Rule9(t *testing.T) {
	dir := t.TempDir()
	d, _, err := openFolder(fsys.OS, dir, "x")
	must(t, err)
	defer d.close()
	for _, then := range []func(){func() {}, func() { write(t, in(dir, "j"), nil) }} {
		f, _, err := d.openOurs("j")
		must(t, err)
		must(t, d.remove("j"))
		then()
		if _, held, err := d.lock(f, "j", "x.part"); held || err != nil {
			t.Errorf("held %v, %v", held, err)
		}
		f.Close()
	}
	f, _, err := d.openLocked("j", "x.part")
	must(t, err)
	defer f.Close()
	_, _, err = d.openLocked("j", "x.part")
	wantInUse(t, err, os.Getpid())
}

// A journal that another process wrote between its creation and the lock is not treated as empty.
func TestLockOnUsedFile_Rule9(t *testing.T) {
	dir := t.TempDir()
	d, _, err := openFolder(fsys.OS, dir, "x")
	must(t, err)
	defer d.close()
	for _, left := range []string{"", "something"} {
		f, isNew, err := d.openOurs("j")
		must(t, err)
		if !isNew {
			t.Fatal("a file that was created is not new")
		}
		write(t, in(dir, "j"), []byte(left))
		held, isNew, err := d.claim(f, "j", "x.part", isNew)
		if !held || err != nil || isNew != (left == "") {
			t.Errorf("%q: held %v, new %v, %v", left, held, isNew, err)
		}
		f.Close()
		must(t, d.remove("j"))
	}
}

// Two owners never have the same part file, however often part file and journal are removed and created again.
func TestOneOwner_Rule9(t *testing.T) {
	dir := t.TempDir()
	var owners, turns atomic.Int64
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 300 {
				f, err := Open(fsys.OS, dir, "x")
				if err != nil {
					if _, ok := errors.AsType[*InUseError](err); !ok {
						t.Error(err)
					}
					continue
				}
				if owners.Add(1) != 1 {
					t.Error("two owners")
				}
				turns.Add(1)
				if _, ok := f.Prior(); ok {
					t.Error("somebody else's bytes")
				}
				err = f.Begin(Identity{})
				if err == nil {
					_, err = f.WriteAt([]byte("abc"), 0)
				}
				owners.Add(-1)
				if (n+i)%2 == 0 {
					err = errors.Join(err, f.Discard())
				} else {
					err = errors.Join(err, f.Commit(verify.Unchecked(3), Final{Replace: true}))
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if turns.Load() == 0 {
		t.Error("nobody ever had it")
	}
}

// The error contains the ID of the other process if it is known.
func TestInUseError(t *testing.T) {
	for pid, want := range map[int]string{0: "a.part: in use by another process", 7: "a.part: in use by process 7"} {
		if got := (&InUseError{Path: "a.part", PID: pid}).Error(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
