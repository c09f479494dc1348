package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnits: systemd finds nothing wrong with the units in doc, where it is installed.
func TestUnits(t *testing.T) {
	files, err := filepath.Glob("../doc/*.service")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		const program = "/usr/local/bin/braid"
		if !strings.Contains(string(data), "\nExecStart="+program+" ") {
			t.Errorf("%s does not start %s", file, program)
		}
		unit := filepath.Join(t.TempDir(), filepath.Base(file))
		if err := os.WriteFile(unit, []byte(strings.ReplaceAll(string(data), program, self)), 0o644); err != nil {
			t.Fatal(err)
		}
		systemd, err := exec.LookPath("systemd-analyze")
		if err != nil {
			continue
		}
		if out, err := exec.Command(systemd, "verify", "--man=no", unit).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}
