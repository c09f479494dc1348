// Package e2e tests the command as users have it: built, and run by scripts of testdata/script or against real servers.
// Its tests run in the root of the module.
package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"braid/internal/test/ftptest"
	"braid/internal/test/gotool"
	"braid/internal/test/mirrortest"
	"braid/internal/test/proxytest"
)

// binary is the path of the command that the scripts run: built as a user builds it, and with the race
// detector when the tests have it.
var binary string

func TestMain(m *testing.M) {
	if err := os.Chdir(filepath.Join("..", "..", "..")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	dir, err := os.MkdirTemp("", "braid-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Setenv("BRAID_NO_LOOKUP", "true") // tests that look for checksums switch it on
	code := 1
	if binary, err = build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func build(dir string) (path string, err error) {
	if !raceDetector() {
		return gotool.Braid(dir)
	}
	path = filepath.Join(dir, "braid")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-race", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the command: %w\n%s", err, out)
	}
	return path, nil
}

func raceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// TestScript runs the command as a user types it: one promise a file.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		Setup:               setupScript,
		Cmds:                scriptCommands,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// setupScript gives each script the command, a home of its own and a place where a data race would be reported.
func setupScript(env *testscript.Env) error {
	races := filepath.Join(env.WorkDir, ".race")
	for _, kv := range [][2]string{
		{"PATH", filepath.Dir(binary) + string(filepath.ListSeparator) + env.Getenv("PATH")},
		{"HOME", filepath.Join(env.WorkDir, ".home")},
		{"XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache")},
		{"XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".config")},
		{"GORACE", "log_path=" + races},
		{"BRAID_NO_LOOKUP", "true"}, // what looks for checksums switches it on
		{"BRAID_BITTORRENT", "off"}, // what asks peers says so, and that it looks for them on this machine only
	} {
		env.Setenv(kv[0], kv[1])
	}
	t, ok := env.T().(testing.TB)
	if !ok {
		return fmt.Errorf("%T is no testing.TB", env.T())
	}
	env.Values[stateKey{}] = &scriptState{t: t, mirrors: map[string]*mirrortest.Server{},
		ftp: map[string]*ftptest.Server{}, proxies: map[string]*proxytest.Server{}}
	env.Defer(func() {
		reports, _ := filepath.Glob(races + ".*")
		for _, name := range reports {
			report, _ := os.ReadFile(name)
			t.Errorf("data race in the command:\n%s", report)
		}
	})
	return nil
}
