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
	"time"

	"braid/download"
	"braid/internal/problem"
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
	var last batchEvent
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
		last = batchEvent{}
		json.Unmarshal([]byte(line), &last)
	}
	for file, want := range []string{1: "done " + a.URL + " " + dir + "/a", 2: "error " + gone.URL + " " + dir + "/gone", 3: "done " + b.URL + " " + dir + "/b"} {
		if ends[file] != want {
			t.Errorf("file %d: %q, want %q", file, ends[file], want)
		}
	}
	slices.SortFunc(last.Results, func(a, b outcomeLine) int { return a.File - b.File })
	if r := last.Results; len(r) != 3 || r[0].State != wasDone || !r[0].Verified || r[0].Path != dir+"/a" || r[1].State != wasFailed || r[1].Code != exitRefused || r[1].URL != gone.URL {
		t.Errorf("%+v", r)
	}
	last.head, last.Elapsed, last.Results = head{}, 0, nil
	if want := (batchEvent{batchCounts: batchCounts{Files: 3, Complete: 2, Verified: 1, Failed: 1, Fetched: 7}, Code: exitRefused}); !reflect.DeepEqual(last, want) {
		t.Errorf("%+v, want %+v", last, want)
	}
}

// TestGetListAgain: what is there and proven is not fetched again; what is in the way is left alone if the user wants.
func TestGetListAgain_Rule3(t *testing.T) {
	a := mirrortest.New(t, []byte("abc"), mirrortest.Name("a"), mirrortest.Digest())
	b := mirrortest.New(t, []byte("defg"), mirrortest.Name("b"))
	dir, list := t.TempDir(), listFile(t, a.URL, b.URL)
	if code, _, err := get(t, dir, "-i", list); code != exitDone || !strings.Contains(err, "\n2 files: 7 B in ") || !strings.Contains(err, "; 1 verified, 1 unverified (give one with checksum=") {
		t.Fatalf("exit code %d, %s", code, err)
	}
	sent := a.Sent() + b.Sent()
	code, _, err := get(t, dir, "-i", list)
	if code != exitLocal || !strings.Contains(err, "a: already complete (3 B)") || !strings.Contains(err, "b: already exists, and nothing proves that it is the right file") {
		t.Errorf("exit code %d, %s", code, err)
	}
	if code, _, err = get(t, dir, "-i", list, "--no-clobber"); code != exitDone || !strings.Contains(err, "1 of 2 files: nothing was fetched; ") ||
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
	if code != exitLocal || strings.Count(err, "\n") != 1 || !strings.HasPrefix(err, "braid: files: 50 are there and not known to be the right ones, as ") || !strings.Contains(err, "--no-clobber leaves") {
		t.Errorf("exit code %d, %s", code, err)
	}
	if code, _, err := get(t, dir, "-i", list); code != exitLocal || strings.Count(err, "--no-clobber") != 1 {
		t.Errorf("exit code %d, %s", code, err)
	}
	if code, _, err := get(t, dir, "-v", "-i", list); code != exitLocal || strings.Count(err, "nothing proves that it is the right file") < 50 {
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
	for i, want := range []string{`^  failed  gone +.*404`, `^  done    b +4 B +.*s +unverified: `, `^  there   a +3 B +verified: sha-256 from Digest over http$`, `^2 of 3 files: 4 B in .*; 1 already there; 1 failed$`} {
		if got := lines[len(lines)-4+i]; !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%q, want %s", got, want)
		}
	}
	if strings.Contains(strings.Join(lines[:len(lines)-4], "\n"), "  failed") {
		t.Errorf("told twice: %s", err)
	}
	var o outcomes
	for i := range mostOutcomes + 5 {
		o.add(outcome{outcomeLine: outcomeLine{File: i}})
	}
	if len(o.kept) != mostOutcomes || o.more != 5 || o.table(0) != nil {
		t.Errorf("%d kept, %d more", len(o.kept), o.more)
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
		for _, want := range []string{fmt.Sprintf("%d of 2: %s\n", i+1, urls[i]), name + ": server: 1 B, sha-256", name + ": mirror " + urls[i] + ": in use", name + ": 1 B in "} {
			if !strings.Contains(err, want) {
				t.Errorf("no %q in\n%s", want, err)
			}
		}
	}
}

// TestGetListInterrupted: one line says what was not done, and the exit code is the signal's.
func TestGetListInterrupted(t *testing.T) {
	slow := mirrortest.New(t, mirrortest.Generate(100_000, 1), mirrortest.Name("slow"), mirrortest.StallAfter(50_000), mirrortest.ETag(`"x"`))
	var out, err bytes.Buffer
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	stop := &stopper{when: `"event":"progress","file":1,"done":50000,`, then: func() { cancel(&signalError{syscall.SIGINT}) }}
	words := []string{"braid", "get", "--json", "-j", "1", "-d", t.TempDir(), slow.URL, "http://127.0.0.1:1/x", "http://127.0.0.1:1/y"}
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

func TestSummary(t *testing.T) {
	for _, tt := range []struct {
		c    tally
		want string
	}{
		{tally{batchCounts: batchCounts{Files: 2000, Complete: 2000, Verified: 2000, Fetched: 1 << 20}}, "2,000 files: 1 MiB in 2 s (512 KiB/s); all verified"},
		{tally{batchCounts: batchCounts{Files: 1}}, "0 of 1 file: nothing was fetched"},
		{tally{batchCounts: batchCounts{Files: 5, Complete: 3, Verified: 3}, before: 2, left: 2}, "3 of 5 files: nothing was fetched; 3 verified; 2 already there; 2 left alone"},
	} {
		if got := tt.c.summary(2*time.Second, false); len(got) != 1 || got[0] != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	c := tally{batchCounts: batchCounts{Files: 100, Complete: 70, Verified: 70}}
	for i := range 30 {
		c.lost(&problem.Problem{Kind: download.Refused, Where: fmt.Sprint("u", i), Why: "status 404"})
	}
	got := c.summary(time.Second, false)
	if len(got) != 22 || got[1] != "  u0: status 404" || got[21] != "  and 10 more" || c.code != exitRefused {
		t.Errorf("%q", got)
	}
}

// TestRecent: results that come faster than anybody reads share a line; slow ones have their own.
func TestRecent(t *testing.T) {
	var b bytes.Buffer
	s := &screen{w: &b}
	var r recent
	at := time.Unix(1e9, 0)
	for i := range 5 {
		r.add(at, fmt.Sprint("a", i), 1024, fmt.Sprintf("a%d: 1 KiB; verified", i), "verified")
		r.add(at, fmt.Sprint("b", i), 1, fmt.Sprintf("b%d: 1 B; unverified", i/3), "unverified: x")
	}
	r.flush(at.Add(400*time.Millisecond), s)
	if b.Len() > 0 {
		t.Errorf("told already: %s", b.String())
	}
	r.flush(at.Add(500*time.Millisecond), s)
	r.add(at, "c", 1, "c: 1 B", "verified")
	r.flush(at.Add(recentTime), s)
	want := "a0 ... a4: 5 files, 5 KiB; verified\nb0 ... b4: 5 files, 5 B; unverified: x\nc: 1 B\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestBatchProgress(t *testing.T) {
	of := func(ended int, fetched int64) *tally {
		return &tally{batchCounts: batchCounts{Files: 2000, Complete: ended, Fetched: fetched}}
	}
	p := of(37, 12<<20).progress(2, 1.5, 3<<20, 10*time.Second)
	if got, want := p.sentence(), "37 of 2,000 files, 12 MiB, 3 MiB/s, 8 min 29 s left, 2 at a time"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if p.done != 38_500 || p.size != 2_000_000 {
		t.Errorf("%d of %d", p.done, p.size)
	}
	want := -1
	for _, q := range []progress{p, of(0, 0).progress(0, 0, 0, 0), of(1999, 0).progress(64, 0, 1e9, 0)} {
		if n := len(q.fit(200)); want >= 0 && n != want {
			t.Errorf("%q has %d, others %d", q.fit(200), n, want)
		} else {
			want = n
		}
		for _, width := range []int{0, 20, 40, 60} {
			if n := len(q.fit(width)); n > max(width, len("2,000 of 2,000 files")) {
				t.Errorf("width %d: %q", width, q.fit(width))
			}
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if files(1) != "1 file" || files(2000) != "2,000 files" {
		t.Error(files(1), files(2000))
	}
}

// TestBatchOnATerminal: of many files, a terminal shows less than a line each.
func TestBatchOnATerminal(t *testing.T) {
	var b bytes.Buffer
	g := &getCommand{outputFlags: outputFlags{terminal: true}, screen: &screen{w: &b}}
	shown := newBatch(t.Context(), g, 500)
	at := time.Unix(1e9, 0)
	for i := range 500 {
		end := &ending{result: download.Result{Path: fmt.Sprint("d/", i), Size: 1, Fetched: 1}}
		shown.apply(moment{at.Add(time.Duration(i) * time.Millisecond), end, i + 1})
	}
	if code := shown.close(); code != exitDone {
		t.Errorf("exit code %d", code)
	}
	lines := slices.Collect(strings.Lines(b.String()))
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "0 ... 499: 500 files, 500 B; ") || !strings.HasPrefix(lines[1], "500 files: 500 B in ") {
		t.Errorf("%q", lines)
	}
}

// TestBatchHasOneMeter: the files of a batch do not draw over the progress of all of them.
func TestBatchHasOneMeter(t *testing.T) {
	var b bytes.Buffer
	g := &getCommand{screen: &screen{w: &b, meter: &plain{w: &b}}}
	at := time.Unix(1e9, 0)
	shown := newBatch(t.Context(), g, 2)
	for i := range 251 { // 25 s
		shown.apply(moment{at.Add(time.Duration(i) * 100 * time.Millisecond), download.Progress{Done: int64(i), Size: 1000, Rate: 10, Active: 1}, 1 + i%2})
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
