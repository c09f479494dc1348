package serve

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A write through a mapping whose pages were dirty before hashing is detected. tmpfs does not report such writes;
// TestHashedAgainWhenQuiet covers them.
func TestWrittenThroughMapping(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a", content)
	w := open(t, dir, Options{}, nil)
	f, err := os.OpenFile(filepath.Join(dir, "a"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mapped, err := unix.Mmap(int(f.Fd()), 0, len(content), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mapped)
	mapped[0] = 'X'
	w.get("/a").want(t, 200, "X"+content[1:])
	mapped[0] = 'Y'
	var on unix.Statfs_t
	if err := unix.Statfs(dir, &on); err != nil {
		t.Fatal(err)
	}
	if on.Type == unix.TMPFS_MAGIC {
		w.s.digests.settleAt(0)
	}
	a := w.get("/a")
	a.want(t, 200, "Y"+content[1:])
	if a.digest(t) != digestOf(t, a.body) {
		t.Errorf("digest %v of other bytes", a.digest(t))
	}
}
