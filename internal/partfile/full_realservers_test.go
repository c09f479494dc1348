//go:build realservers

package partfile

// This test fills a real file system. It mounts the file system in its own namespaces, which requires root or
// unprivileged user namespaces. Therefore it has a build tag.

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const mountedEnv = "BRAID_PARTFILE_MOUNTED"

func TestRealFullFileSystem_Rule7(t *testing.T) {
	if os.Getenv(mountedEnv) != "" {
		fillUp(t)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRealFullFileSystem_Rule7$", "-test.v")
	cmd.Env = append(os.Environ(), mountedEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("in a name space of its own: %v\n%s", err, out)
	}
}

// fillUp downloads to a file system that is too small, and again after space was freed.
func fillUp(t *testing.T) {
	dir := t.TempDir()
	must(t, unix.Mount("none", dir, "tmpfs", 0, "size=2m"))
	defer unix.Unmount(dir, 0)
	write(t, in(dir, "ballast"), make([]byte, 1<<20))

	want := content(1500 << 10)
	f := begun(t, dir, nil, 0)
	var tooBig *SpaceError
	if err := f.CheckSpace(int64(len(want))); !errors.As(err, &tooBig) || tooBig.Free > 1<<20 {
		t.Errorf("check: %v", err)
	}
	if err := f.Preallocate(int64(len(want))); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("preallocate: %v", err)
	}
	var wrote int
	var err error
	for err == nil && wrote < len(want) {
		var n int
		n, err = f.WriteAt(want[wrote:min(wrote+64<<10, len(want))], int64(wrote))
		wrote += n
	}
	if wrote == 0 || !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "x.part") {
		t.Errorf("%d bytes, %v", wrote, err)
	}
	wantHave(t, f, span(0, int64(wrote)))
	if err := f.Close(); err != nil && !errors.Is(err, unix.ENOSPC) {
		t.Errorf("close: %v", err)
	}
	must(t, os.Remove(in(dir, "ballast")))

	f = recovered(t, dir)
	must(t, f.Begin(Identity{}))
	must(t, f.CheckSpace(int64(len(want))))
	t.Logf("%d bytes were written, %d of them recorded", wrote, f.Front())
	_, err = f.WriteAt(want, 0)
	must(t, err)
	must(t, f.Commit(proof(t, want), Final{}))
	wantContent(t, in(dir, "x"), want)
}
