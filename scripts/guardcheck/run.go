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
	own        bool              // tests of callers are not asked
	binaries   map[string]string // by package; "" if it has no tests
	usual      map[string]time.Duration
}

// newBench writes the rewritten files where -overlay finds them.
func newBench(root, work string, files map[string][]byte) (*bench, error) {
	replace := map[string]string{}
	for path, text := range files {
		at := filepath.Join(work, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(at, text, 0o600); err != nil {
			return nil, err
		}
		replace[path] = at
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	b := &bench{
		root: root, work: work, overlay: filepath.Join(work, "overlay.json"),
		binaries: map[string]string{}, usual: map[string]time.Duration{},
	}
	return b, os.WriteFile(b.overlay, overlay, 0o600)
}

// binary compiles the tests of a package, once, and sees that they pass while nothing is switched.
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

// run runs the tests of a package with one guard switched and returns those that failed; "crash" or "hang" where the binary ended otherwise.
// A hang is five times the usual time and half a minute; memory is limited, as a loop without its end may fill it.
func (b *bench) run(pkg string, number int) (failed []string, out []byte) {
	limit := 5*b.usual[pkg] + 30*time.Second
	if number == 0 {
		limit = 10 * time.Minute
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 12000000; exec "$0" "$@"`, b.binaries[pkg],
		"-test.paniconexit0", "-test.timeout=0", "-test.failfast="+strconv.FormatBool(b.fast))
	c.Dir = filepath.Join(b.root, pkg)
	c.Env = append(os.Environ(), "GUARD="+strconv.Itoa(number))
	c.WaitDelay = 5 * time.Second
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
