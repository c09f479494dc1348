// Package gotool builds programs that tests run: the command, and servers of other projects in the versions that
// scripts/go.mod pins.
//
// It must be imported only by tests.
package gotool

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Path returns the path of a tool's program in the build cache, and builds it if necessary. It holds a lock against
// other processes: a program that another go command is writing cannot be started (ETXTBSY).
func Path(name string) (string, error) {
	root, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(os.TempDir(), fmt.Sprintf("braid-gotool-%d.lock", os.Getuid())), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	cmd := exec.Command("go", "-C", filepath.Join(filepath.Dir(strings.TrimSpace(string(root))), "scripts"), "tool", "-n", name)
	cmd.Stderr = os.Stderr
	path, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go tool -n %s: %w", name, err)
	}
	return strings.TrimSpace(string(path)), nil
}
