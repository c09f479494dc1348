package gotool

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Braid returns the path of the command, which must not be changed. It is that of TEST_BRAID, which scripts/test
// builds once for all packages, or else one that it builds in dir.
//
// The results of tests that run the command are not cached across builds of it: the go command sees the path and, by
// Stat, the time of the file.
func Braid(dir string) (string, error) {
	if built := os.Getenv("TEST_BRAID"); built != "" {
		_, err := os.Stat(built)
		return built, err
	}
	path := filepath.Join(dir, "braid")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, "braid").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the command: %w\n%s", err, out)
	}
	return path, nil
}
