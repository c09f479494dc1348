package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"braid/internal/render"
	"braid/internal/test/mirrortest"
)

// listFile writes a list of URLs.
func listFile(t *testing.T, urls ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(name, []byte(strings.Join(urls, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestGetListJSON: the lines of downloads that run at the same time can be told apart, and the last one adds them up.
func TestGetListJSON(t *testing.T) {
	a := mirrortest.New(t, []byte("abc"), mirrortest.Name("a"), mirrortest.Digest())
	b := mirrortest.New(t, []byte("defg"), mirrortest.Name("b"))
	gone := mirrortest.New(t, []byte("x"), mirrortest.Name("gone"), mirrortest.Status(404))
	dir := t.TempDir()
	code, out, _ := get(t, dir, "--json", "-i", listFile(t, a.URL, gone.URL, b.URL))
	if code != exitRefused {
		t.Errorf("exit code %d", code)
	}
	var last render.BatchEvent
	ends := map[int]string{}
	for line := range strings.Lines(out) {
		var e struct {
			Event, URL, Path string
			File             int
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.File == 0 && e.Event != "batch" {
			t.Errorf("no file in %s", line)
		}
		if e.Event == "done" || e.Event == "error" {
			ends[e.File] = e.Event + " " + e.URL + " " + e.Path
		}
		last = render.BatchEvent{}
		json.Unmarshal([]byte(line), &last)
	}
	for file, want := range []string{1: "done " + a.URL + " " + dir + "/a",
		2: "error " + gone.URL + " " + dir + "/gone", 3: "done " + b.URL + " " + dir + "/b"} {
		if ends[file] != want {
			t.Errorf("file %d: %q, want %q", file, ends[file], want)
		}
	}
	slices.SortFunc(last.Results, func(a, b render.FileOutcome) int { return a.File - b.File })
	if r := last.Results; len(r) != 3 || r[0].State != "done" || !r[0].Verified || r[0].Path != dir+"/a" ||
		r[1].State != "failed" || r[1].Code != exitRefused || r[1].URL != gone.URL {
		t.Errorf("%+v", r)
	}
	last.Head, last.Elapsed, last.Results = render.Head{}, 0, nil
	if want := (render.BatchEvent{Counts: render.Counts{Files: 3, Complete: 2, Verified: 1, Failed: 1, Fetched: 7},
		Code: exitRefused}); !reflect.DeepEqual(last, want) {
		t.Errorf("%+v, want %+v", last, want)
	}
}

// TestGetListAgain: what is there and proven is not fetched again; what is in the way is left alone if the user wants.
func TestGetListAgain_Rule3(t *testing.T) {
	a := mirrortest.New(t, []byte("abc"), mirrortest.Name("a"), mirrortest.Digest())
	b := mirrortest.New(t, []byte("defg"), mirrortest.Name("b"))
	dir, list := t.TempDir(), listFile(t, a.URL, b.URL)
	if code, _, err := get(t, dir, "-i", list); code != exitDone || !strings.Contains(err, "\n2 files: 7 B in ") ||
		!strings.Contains(err, "; 1 verified, 1 unverified (give one with checksum=") {
		t.Fatalf("exit code %d, %s", code, err)
	}
	sent := a.Sent() + b.Sent()
	code, _, err := get(t, dir, "-i", list)
	if code != exitLocal || !strings.Contains(err, "a: already complete (3 B)") ||
		!strings.Contains(err, "b: already exists, and nothing proves that it is the right file") {
		t.Errorf("exit code %d, %s", code, err)
	}
	if code, _, err = get(t, dir, "-i", list, "--no-clobber"); code != exitDone ||
		!strings.Contains(err, "1 of 2 files: nothing was fetched; ") ||
		!strings.Contains(err, "; 1 verified; 1 already there; 1 left alone\n") {
		t.Errorf("--no-clobber: exit code %d, %s", code, err)
	}
	if n := a.Sent() + b.Sent(); n != sent {
		t.Errorf("%d bytes were sent again", n-sent)
	}
}

// TestGetListThere: files that an earlier run left, from servers without digests, are told of in one line, also with
// -q; what its hint names skips them.
func TestGetListThere(t *testing.T) {
	var urls []string
	for i := range 50 {
		urls = append(urls, mirrortest.New(t, []byte("abc"), mirrortest.Name(fmt.Sprint("f", i))).URL)
	}
	dir, list := t.TempDir(), listFile(t, urls...)
	if code, _, err := get(t, dir, "-q", "-i", list); code != exitDone {
		t.Fatalf("exit code %d, %s", code, err)
	}
	code, _, err := get(t, dir, "-q", "-i", list)
	if code != exitLocal || strings.Count(err, "\n") != 1 ||
		!strings.HasPrefix(err, "braid: files: 50 exist, but could not be verified; the first is ") ||
		!strings.Contains(err, "keep existing files with --no-clobber") {
		t.Errorf("exit code %d, %s", code, err)
	}
	if code, _, err := get(t, dir, "-i", list); code != exitLocal || strings.Count(err, "--no-clobber") != 1 {
		t.Errorf("exit code %d, %s", code, err)
	}
	if code, _, err := get(t, dir, "-v", "-i", list); code != exitLocal ||
		strings.Count(err, "nothing proves that it is the right file") < 50 {
		t.Errorf("-v: exit code %d, %s", code, err)
	}
	if code, _, err := get(t, dir, "-q", "--no-clobber", "-i", list); code != exitDone || err != "" {
		t.Errorf("--no-clobber: exit code %d, %s", code, err)
	}
}

// TestBatchTable: at the end a line for each file says what became of it, in the order of the list.
func TestBatchTable(t *testing.T) {
	a := mirrortest.New(t, []byte("abc"), mirrortest.Name("a"), mirrortest.Digest())
	gone := mirrortest.New(t, []byte("x"), mirrortest.Name("gone"), mirrortest.Status(404))
	dir := t.TempDir()
	b := mirrortest.New(t, []byte("defg"), mirrortest.Name("b"))
	if code, _, err := get(t, dir, "-q", a.URL); code != exitDone {
		t.Fatal(err)
	}
	_, _, err := get(t, dir, gone.URL, b.URL, a.URL)
	lines := strings.Split(strings.TrimSpace(err), "\n")
	if len(lines) < 7 {
		t.Fatal(err)
	}
	for i, want := range []string{`^  failed  gone +.*404`, `^  done    b +4 B +.*s +unverified: `,
		`^  there   a +3 B +verified: sha-256 from Digest over http$`, `^2 of 3 files: 4 B in .*; 1 already there; 1 failed$`} {
		if got := lines[len(lines)-4+i]; !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%q, want %s", got, want)
		}
	}
	if strings.Contains(strings.Join(lines[:len(lines)-4], "\n"), "  failed") {
		t.Errorf("told twice: %s", err)
	}
}

// TestGetListQuiet: -q says nothing but what went wrong.
func TestGetListQuiet(t *testing.T) {
	a := mirrortest.New(t, []byte("abc"), mirrortest.Name("a"), mirrortest.Digest())
	gone := mirrortest.New(t, []byte("x"), mirrortest.Name("gone"), mirrortest.Status(404))
	code, out, err := get(t, t.TempDir(), "-q", "-j", "1", a.URL, gone.URL)
	if code != exitRefused || out != "" || strings.Count(err, "\n") != 1 || !strings.HasPrefix(err, "braid: download "+gone.URL) {
		t.Errorf("exit code %d, %q, %q", code, out, err)
	}
}

// TestGetListVerbose: with -v each line says which file it is about.
func TestGetListVerbose(t *testing.T) {
	var urls []string
	for _, name := range []string{"a", "b"} {
		urls = append(urls, mirrortest.New(t, []byte(name), mirrortest.Name(name), mirrortest.Digest()).URL)
	}
	_, _, err := get(t, t.TempDir(), append([]string{"-v"}, urls...)...)
	for i, name := range []string{"a", "b"} {
		for _, want := range []string{fmt.Sprintf("%d of 2: %s\n", i+1, urls[i]), name + ": server: 1 B, sha-256",
			name + ": mirror " + urls[i] + ": in use", name + ": 1 B in "} {
			if !strings.Contains(err, want) {
				t.Errorf("no %q in\n%s", want, err)
			}
		}
	}
}

// TestGetListInterrupted: one line says what was not done, and the exit code is the signal's.
func TestGetListInterrupted(t *testing.T) {
	slow := mirrortest.New(t, mirrortest.Generate(100_000, 1), mirrortest.Name("slow"), mirrortest.StallAfter(50_000),
		mirrortest.ETag(`"x"`))
	var out, err bytes.Buffer
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	stop := &stopper{when: `"event":"progress","file":1,"done":50000,`, then: func() { cancel(&signalError{syscall.SIGINT}) }}
	words := []string{"braid", "get", "--json", "-j", "1", "-d", t.TempDir(), slow.URL, "http://127.0.0.1:1/x",
		"http://127.0.0.1:1/y"}
	code := run(ctx, words, streams{out: stop, err: &err})
	want := "braid: batch: interrupted: 1 file unfinished, 2 not begun (48.8 KiB kept; run the same command to go on)\n"
	if code != 130 || !strings.HasSuffix(err.String(), want) || strings.Count(err.String(), "interrupted") != 1 {
		t.Errorf("exit code %d, %s%s", code, out.String(), err.String())
	}
	if s := stop.String(); !strings.Contains(s, `"unfinished":1,"not_begun":2,`) || !strings.Contains(s, `"code":130,`) {
		t.Error(s)
	}
}

// A stopper does something when it was told something.
type stopper struct {
	bytes.Buffer
	when string
	then func()
}

func (s *stopper) Write(p []byte) (int, error) {
	if strings.Contains(string(p), s.when) {
		s.then()
	}
	return s.Buffer.Write(p)
}
