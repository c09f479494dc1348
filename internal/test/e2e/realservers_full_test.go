//go:build realservers

package e2e

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"braid/internal/test/mirrortest"
)

// A small tmpfs runs full while the command writes to it, in name spaces of its own (rule 7): the witness that what tests make up
// about full disks is what the kernel does. A file that is known not to fit is refused before its first byte.
func TestRealFullDisk_Rule7(t *testing.T) {
	server := mirrortest.New(t, mirrortest.Generate(fullSize, 7), mirrortest.Digest(), mirrortest.Chunked())
	known := mirrortest.New(t, mirrortest.Generate(fullSize, 7), mirrortest.Digest())
	f := &fullRun{t: t, dir: t.TempDir(), attr: &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}}
	out, code := f.sh(`
		mount -t tmpfs -o size=6m none "$1" && head -c 4194304 /dev/zero >"$1/ballast" || exit 99
		"$0" get -q -d "$1" "$3"; echo "known: $?"
		"$0" get -q -d "$1" "$2"; echo "full: $?"
		ls "$1"
		rm "$1/ballast"
		"$0" get --json -d "$1" "$2" >"$1/json"; echo "again: $?"
		grep '"event":"done"' "$1/json"
		exec sha256sum <"$1/file.bin"`, f.dir, server.URL, known.URL)
	if code == 99 {
		t.Fatalf("a tmpfs cannot be mounted:\n%s", out)
	}
	refused, rest, _ := strings.Cut(out, "known: ")
	full, again, found := strings.Cut(rest, "full: ")
	if !found || !strings.HasPrefix(rest, "3\n") ||
		!strings.Contains(refused, "needs 5 MiB more, but the file system has 2 MiB") {
		t.Fatalf("a file that does not fit:\n%s", out)
	}
	f.told(full, int(again[0]-'0'), "no space left on device")
	if !strings.Contains(full, "free some disk space, then run the same command") {
		t.Errorf("the next step is not said:\n%s", full)
	}
	if listed, _, _ := strings.Cut(again, "again: "); strings.Contains(listed, "file.bin\n") ||
		!strings.Contains(listed, "file.bin.part\n") {
		t.Errorf("the folder has\n%s", listed)
	}
	if !strings.Contains(again, "again: 0\n") || !strings.Contains(again, "\n"+server.Digest().Hex()) {
		t.Errorf("with room:\n%s", out)
	}
	if e, err := parseDone(again); err != nil || e.Resumed < 1<<20 {
		t.Errorf("%d bytes of what was kept were used, %v", e.Resumed, err)
	}
}
