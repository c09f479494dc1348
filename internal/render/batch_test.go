package render

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/download"
)

// TestBatchOnATerminal: of many files, a terminal shows less than a line each.
func TestBatchOnATerminal(t *testing.T) {
	var b bytes.Buffer
	shown := &Batch{Files: 500, Screen: &Screen{Out: &b, Terminal: true}}
	shown.begin()
	at := time.Unix(1e9, 0)
	for i := range 500 {
		end := &Ending{Result: download.Result{Path: fmt.Sprint("d/", i), Size: 1, Fetched: 1}}
		shown.apply(moment{at.Add(time.Duration(i) * time.Millisecond), end, i + 1})
	}
	if code := shown.Close(0, nil); code != 0 {
		t.Errorf("exit code %d", code)
	}
	lines := slices.Collect(strings.Lines(b.String()))
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "0 ... 499: 500 files, 500 B; ") ||
		!strings.HasPrefix(lines[1], "500 files: 500 B in ") {
		t.Errorf("%q", lines)
	}
}

// TestBatchHasOneMeter: the files of a batch do not draw over the progress of all of them.
func TestBatchHasOneMeter(t *testing.T) {
	var b bytes.Buffer
	at := time.Unix(1e9, 0)
	shown := &Batch{Files: 2, Screen: &Screen{Out: &b, Meter: &plain{w: &b}}}
	shown.begin()
	for i := range 251 { // 25 s
		shown.apply(moment{at.Add(time.Duration(i) * 100 * time.Millisecond), download.Progress{Done: int64(i),
			Size: 1000, Rate: 10, Active: 1}, 1 + i%2})
	}
	for line := range strings.Lines(b.String()) {
		if !strings.HasPrefix(line, "0 of 2 files, ") {
			t.Errorf("%q", line)
		}
	}
	if n := strings.Count(b.String(), "\n"); n != 2 {
		t.Errorf("%d lines: %s", n, b.String())
	}
}
