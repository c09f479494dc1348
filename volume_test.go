package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestVolume checks that scripts/test runs each test that it leaves out under the race detector: without it, in one of the
// folders that it names for that. A test of the same name elsewhere would not run at all.
func TestVolume(t *testing.T) {
	script, err := os.ReadFile("scripts/test")
	if err != nil {
		t.Fatal(err)
	}
	value := func(name string) string {
		var all strings.Builder
		for _, m := range regexp.MustCompile(`(?ms)^`+name+`\+?='([^']*)'`).FindAllStringSubmatch(string(script), -1) {
			all.WriteString(m[1])
		}
		return all.String()
	}
	left := regexp.MustCompile(`(?m)^func (` + value("volume") + `)\(t \*testing\.T\)`)
	run := strings.Fields(value("voluminous") + " " + value("pure") + " " + value("plain"))
	found := 0
	files, err := filepath.Glob("*/*_test.go")
	for _, pattern := range []string{"*/*/*_test.go", "*/*/*/*_test.go"} {
		more, wrong := filepath.Glob(pattern)
		if files = append(files, more...); wrong != nil {
			err = wrong
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range left.FindAllStringSubmatch(string(src), -1) {
			found++
			if dir := path.Dir(filepath.ToSlash(name)); !slices.Contains(run, dir) {
				t.Errorf("%s: %s is not run: %s is in none of the lists of scripts/test", name, m[1], dir)
			}
		}
	}
	if found < 10 {
		t.Errorf("%d tests of volume are left", found)
	}
}
