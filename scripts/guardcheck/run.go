package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A bench holds the test binaries of the rewritten packages.
type bench struct {
	root, work string
	overlay    string
	fast       bool              // a package's tests end with the first failure
	own        bool              // do not run tests of callers
	by         string            // if not empty, run only the tests of this package
	binaries   map[string]string // by package; "" if it has no tests
	usual      map[string]time.Duration
}

// newBench writes the rewritten files and an overlay for them.
func newBench(root, work string, files map[string][]byte) (*bench, error) {
	overlay, err := writeOverlay(work, files)
	return &bench{root: root, work: work, overlay: overlay, binaries: map[string]string{}, usual: map[string]time.Duration{}}, err
}

// writeOverlay writes files, and the JSON file for -overlay that replaces their paths.
func writeOverlay(dir string, files map[string][]byte) (path string, err error) {
	replace := map[string]string{}
	for path, text := range files {
		at := filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(at, text, 0o600); err != nil {
			return "", err
		}
		replace[path] = at
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

// binary compiles the tests of a package, once, and checks that they pass while nothing is switched.
func (b *bench) binary(pkg string) (string, error) {
	if path, ok := b.binaries[pkg]; ok {
		return path, nil
	}
	path := filepath.Join(b.work, strings.ReplaceAll(pkg, "/", "_")+".test")
	build := exec.Command("go", "test", "-vet=off", "-overlay", b.overlay, "-c", "-o", path, "./"+pkg)
	build.Dir = b.root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the tests of %s: %w\n%s", pkg, err, out)
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		path = ""
	}
	b.binaries[pkg] = path
	if path == "" {
		return "", nil
	}
	start := time.Now()
	if failed, out := b.run(pkg, 0); len(failed) > 0 {
		return "", fmt.Errorf("%s fails while nothing is switched: %v\n%s", pkg, failed, tail(out))
	}
	b.usual[pkg] = time.Since(start)
	return path, nil
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// run runs the tests of a package with one guard switched. A hang is five times the usual time and half a minute.
func (b *bench) run(pkg string, number int) (failed []string, out []byte) {
	limit := 5*b.usual[pkg] + 30*time.Second
	if number == 0 {
		limit = 10 * time.Minute
	}
	if err := os.WriteFile(switchFile(b.work), []byte(strconv.Itoa(number)), 0o600); err != nil {
		return nil, []byte(err.Error())
	}
	return execute(b.binaries[pkg], filepath.Join(b.root, pkg), limit, os.Environ(), "-test.failfast="+strconv.FormatBool(b.fast))
}

// switchFile returns the path of the file with the switched number; see switchSource.
func switchFile(work string) string { return filepath.Join(work, "switch") }

// execute runs a test binary and returns the failed tests, or "crash" or "hang" if it ended otherwise. Its memory is
// limited, because an endless loop may exhaust it.
func execute(binary, dir string, limit time.Duration, env []string, args ...string) (failed []string, out []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args = append([]string{"-c", `ulimit -v 12000000; exec "$0" "$@"`, binary, "-test.paniconexit0", "-test.timeout=0"}, args...)
	c := exec.CommandContext(ctx, "sh", args...)
	c.Dir, c.Env, c.WaitDelay = dir, env, 5*time.Second
	out, err := c.CombinedOutput()
	if err == nil {
		return nil, out
	}
	for _, m := range failure.FindAllSubmatch(out, -1) {
		failed = append(failed, string(m[1]))
	}
	switch {
	case ctx.Err() != nil:
		failed = append(failed, "hang")
	case len(failed) == 0:
		failed = append(failed, "crash")
	}
	return failed, out
}

func tail(out []byte) []byte {
	const most = 4 << 10
	return out[max(0, len(out)-most):]
}
