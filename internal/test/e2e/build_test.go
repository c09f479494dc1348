package e2e

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// Each line that builds, for readers and in scripts, does without a C compiler: with one, Go compiles a library for
// minutes that is not used. Only the race detector needs it.
func TestBuildsWithoutC(t *testing.T) {
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "doc/tour.md", "scripts/test", "scripts/tour",
		"scripts/bench", "scripts/demo"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		builds, off := 0, false
		for line := range strings.Lines(string(data)) {
			off = off || strings.Contains(line, "export CGO_ENABLED=0")
			own := strings.Contains(line, "CGO_ENABLED=0")
			switch {
			case strings.Contains(line, "go build"):
				if builds++; !off && !own {
					t.Errorf("%s: builds with C: %s", name, line)
				}
			case strings.Contains(line, "go test -race") && !strings.Contains(line, "CGO_ENABLED=1") && off:
				t.Errorf("%s: the race detector needs C: %s", name, line)
			}
		}
		if builds == 0 {
			t.Errorf("%s builds nothing", name)
		}
	}
}

// With the tags of scripts/test the race detector sees the code that is built without C: nothing but the detector has any.
func TestRaceBuildHasNoOtherC(t *testing.T) {
	script := readFile(t, "scripts/test")
	tags := regexp.MustCompile(`(?m)^race_tags=(.+)$`).FindStringSubmatch(script)
	if tags == nil || !strings.Contains(script, "go test -race -tags $race_tags ") {
		t.Fatal("scripts/test has no line race_tags=, or does not use it")
	}
	list := exec.Command("go", "list", "-race", "-deps", "-test", "-tags", tags[1], "-f",
		"{{if .CgoFiles}}{{.ImportPath}}{{end}}", "./...")
	list.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := list.Output(); err != nil || string(out) != "runtime/cgo\nruntime/race\n" {
		t.Errorf("%v: C is compiled for:\n%s", err, out)
	}
}
