//go:build unix

package partfile

import (
	"braid/internal/fsys"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func init() {
	odd = append(odd, struct {
		name string
		make func(t *testing.T, path, aside string)
	}{"FIFO", func(t *testing.T, path, _ string) { must(t, unix.Mkfifo(path, 0o600)) }})
}

// A program that replaces the part file by another name of a file, faster than the checks, gets no bytes.
func TestRace_Rule1(t *testing.T) {
	dir := t.TempDir()
	write(t, in(dir, "aside"), []byte("keep"))
	var aside unix.Stat_t
	must(t, unix.Stat(in(dir, "aside"), &aside))
	d, _, err := openFolder(fsys.OS, dir, "x")
	must(t, err)
	defer d.close()
	for range 3000 {
		write(t, in(dir, "x.part"), nil)
		must(t, os.Link(in(dir, "aside"), in(dir, "link")))
		var racer sync.WaitGroup
		racer.Go(func() {
			if err := os.Rename(in(dir, "link"), in(dir, "x.part")); err != nil {
				t.Error(err)
			}
		})
		f, _, err := d.openOurs("x.part")
		racer.Wait()
		must(t, os.Remove(in(dir, "x.part")))
		if err != nil {
			wantNameError(t, err)
			continue
		}
		info, err := f.Info()
		must(t, err)
		f.Close()
		if info.ID.Ino == aside.Ino {
			t.Fatal("a file with another name was opened for writing")
		}
	}
}
