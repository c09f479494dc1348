package aria2c

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/daemon/queue"
	"braid/daemon/rpc"
	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/render"
	"braid/internal/service"
)

func TestCalled(t *testing.T) {
	for name, want := range map[string]bool{"aria2c": true, "/usr/lib/braid/bin/aria2c": true, "aria2c.exe": true,
		"my-aria2c": true, "braid": false, "/aria2c/braid": false, "": false} {
		if Called([]string{name}) != want {
			t.Error(name)
		}
	}
	if Called(nil) {
		t.Error("without a name")
	}
}

// What was told of an error has its number.
func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{problem.Misuse("--split", "write a number", ""), 28},
		{problem.Misuse("--checksum sha-256:1", "write ALGORITHM=HEX", ""), 28},
		{problem.Misuse("list:3", "not an http, https or ftp URL", ""), 1},
		{problem.Local("list", "l", fs.ErrNotExist), 1},
		{problem.Local("folder", "d", fs.ErrNotExist), 18},
		{&download.Error{Kind: download.Mismatch}, 32},
		{&download.Error{Kind: download.Refused}, 22},
		{problem.OfDownload(&download.Error{Kind: download.Local, Err: fs.ErrExist}), 13},
		{errors.New("x"), 1},
	} {
		var c Call
		c.Ended(-1, download.Request{}, download.Result{}, tt.err)
		if got := c.Code(false, download.Other); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.err, got, tt.want)
		}
	}
}

// The last error counts; what is not done counts only if nothing failed.
func TestLastError(t *testing.T) {
	interrupted := &download.Error{Kind: download.Interrupted}
	for _, tt := range []struct {
		errs []error
		kind download.Kind // of the run; Other if it did not fail
		want int
	}{
		{[]error{nil, nil}, download.Other, 0},
		{[]error{&download.Error{Kind: download.Mismatch}, nil, &download.Error{Kind: download.Auth}, nil},
			download.Mismatch, 24},
		{[]error{nil, interrupted}, download.Interrupted, 7},
		{[]error{nil, interrupted}, download.Budget, 7}, // --stop
		{[]error{&download.Error{Kind: download.Auth}, interrupted}, download.Interrupted, 24},
		{[]error{nil, nil}, download.Local, 1}, // as when standard output cannot be written
	} {
		var c Call
		for i, err := range tt.errs {
			c.Ended(i, download.Request{}, download.Result{}, err)
		}
		if got := c.Code(tt.kind != download.Other, tt.kind); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.errs, got, tt.want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 921: "921", 922: "0.9Ki", 1024: "1.0Ki", 1536: "1.5Ki",
		74_000_000: "70Mi", 10 << 30: "10Gi", 5000 << 30: "5,000Gi"} {
		if got := sizeText(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// The table of results has the shape of aria2's, and no escape or secret of a name or URL in it.
func TestTable(t *testing.T) {
	var out bytes.Buffer
	c := New(nil, &out, nil)
	u, _ := url.Parse("http://h/a?key=s3cret")
	c.Ended(1, download.Request{URL: u}, download.Result{}, &download.Error{Kind: download.Auth})
	c.Ended(0, download.Request{URL: u}, download.Result{Path: "/d/\x1b[2Ja", Fetched: 2048, Elapsed: time.Second}, nil)
	c.Ended(2, download.Request{URL: u}, download.Result{Path: "/d/c"}, &download.Error{Kind: download.Interrupted})
	c.ShowResults(true)
	lines := strings.Split(out.String(), "\n")
	want := []string{"", "Download Results:", "gid   |stat|avg speed  |path/URI",
		"======+====+===========+=======================================================",
		`|OK  |   2.0KiB/s|/d/\x1b[2Ja`, "|ERR |        n/a|http://h/a?key=***", "|INPR|        n/a|/d/c", "", "Status Legend:",
		"(OK):download completed.(ERR):error occurred.(INPR):download in-progress.", "", ""}
	for i, line := range lines {
		if i > 3 && i < 7 {
			line = line[min(6, len(line)):]
		}
		if i >= len(want) || line != want[i] {
			t.Fatalf("%d: %q in\n%s", i, line, out.String())
		}
	}
}

// The progress has the form that programs read: a line each second, or on a terminal one that is drawn over.
func TestReadout(t *testing.T) {
	var out strings.Builder
	m := &readout{w: &out, gid: "0123456789abcdef"}
	begin := time.Unix(1e9, 0)
	for i, p := range []render.Progress{
		{Done: 1, Size: 10 << 20},
		{Done: 5 << 20, Size: 10 << 20, Rate: 1 << 20, Active: 3},
		{Done: 3 << 20, Size: -1, Rate: 1536, Active: 1},
		{Done: 500, Size: 4000, Rate: 2 << 20, Amount: " 1 of 4 files", Several: true},
	} {
		m.Show(begin.Add(time.Duration(i)*time.Second), p)
		m.Show(begin.Add(time.Duration(i)*time.Second+time.Millisecond), p)
	}
	if want := "[#012345 5.0MiB/10MiB(50%) CN:3 DL:1.0MiB ETA:5s]\n[#012345 3.0MiB/0B CN:1 DL:1.5KiB]\n[DL:2.0MiB 1 of " +
		"4 files]\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
	out.Reset()
	m = &readout{w: &out, gid: "0123456789abcdef", terminal: true, last: begin}
	m.Show(begin.Add(time.Second), render.Progress{Done: 5 << 20, Size: 10 << 20, Rate: 1 << 20})
	m.Show(begin.Add(2*time.Second), render.Progress{Done: 5 << 20, Size: 10 << 20})
	m.Clear()
	m.Clear()
	want := "\r[#012345 5.0MiB/10MiB(50%) CN:0 DL:1.0MiB ETA:5s]" + "\r[#012345 5.0MiB/10MiB(50%) CN:0 DL:0B]    " +
		"       \r" + strings.Repeat(" ", 38) + "\r"
	if out.String() != want {
		t.Errorf("%q, want\n%q", out.String(), want)
	}
}

// TestSession: a list that was written has nothing that keeps the next start from reading it, whatever a client
// set, and all that lists have.
func TestSession(t *testing.T) {
	names := map[string]bool{"whatever": false, "x-y": false}
	for _, o := range option.Aria2Options() {
		names[o.Name] = false
	}
	for _, name := range option.ListNames() {
		names[name] = true
	}
	for name, inLists := range names {
		for _, value := range []string{"true", "false", "1", "x"} {
			q := queue.New(1)
			if _, err := q.Add(time.Now(), queue.Entry{URIs: []string{"http://h/a"},
				Options: map[string]string{name: value}}, -1); err != nil {
				t.Fatal(err)
			}
			text := string(rpc.Session(q, service.InSession, true))
			own, ignored, err := option.Aria2List(text)
			if err != nil || slices.Contains(ignored, "whatever") {
				t.Errorf("%s=%s: %v, ignored %q", name, value, err, ignored)
			}
			c := &Call{results: results{list: text}}
			if _, err := c.Entries("", "/", nil); err != nil {
				t.Errorf("%s=%s: %v", name, value, err)
			}
			if sensible := value == "true" || !option.IsAria2(name); inLists && sensible && !strings.Contains(own, "="+value) {
				t.Errorf("%s=%s is not in %q", name, value, own)
			}
		}
	}
	q := queue.New(1)
	if _, err := q.Add(time.Now(), queue.Entry{URIs: []string{"http://h/a"},
		Options: map[string]string{"http-passwd": "b", "http-user": "a", "dir": "/d"}}, -1); err != nil {
		t.Fatal(err)
	}
	if own, _, err := option.Aria2List(string(rpc.Session(q, service.InSession, true))); err != nil ||
		!strings.Contains(own, "user=a:b") {
		t.Errorf("%q, %v", own, err)
	}
}

// TestSessionKeeps: the session has each download of the list that is not complete, also beside a complete one of the
// same URL. It stays as it is if the list of this run was not read, or is not valid.
func TestSessionKeeps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	u, err := url.Parse("http://h/a")
	if err != nil {
		t.Fatal(err)
	}
	const twice = "http://h/a\n out=x\nhttp://h/a\n out=y\n"
	for _, tt := range []struct {
		words []string
		list  string
		ended map[int]error
		want  string // "-": the session is not written
	}{
		{[]string{"-i", "LIST"}, twice, map[int]error{1: nil, 0: errors.New("x")}, "x"},
		{[]string{"-i", "LIST"}, twice, map[int]error{0: nil}, "y"},
		{[]string{"-i", "LIST"}, twice, map[int]error{0: nil, 1: nil}, ""},
		{[]string{"-i", "LIST"}, twice + " no value\nhttp://h/b\n", nil, "-"},
		{[]string{"-i", "LIST", "--help"}, "", nil, "-"},
		{[]string{"-i", "LIST.absent"}, "", nil, "-"},
	} {
		list := filepath.Join(t.TempDir(), "list")
		if err := errors.Join(os.WriteFile(path, []byte("-"), 0o600), os.WriteFile(list, []byte(tt.list), 0o600)); err != nil {
			t.Fatal(err)
		}
		for i, word := range tt.words {
			tt.words[i] = strings.Replace(word, "LIST", list, 1)
		}
		c := New(strings.NewReader(""), io.Discard, io.Discard)
		if err := c.Parse(append(tt.words, "--save-session="+path)); err != nil {
			t.Fatal(err)
		}
		if !c.Has("help") {
			c.List()
		}
		for file, err := range tt.ended {
			c.Ended(file, download.Request{URL: u}, download.Result{}, err)
		}
		if wrong := c.SaveSession(); wrong != nil {
			t.Error(wrong)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, name := range []string{"-", "x", "y"} {
			if string(data) == name || strings.Contains(string(data), "out="+name+"\n") {
				got += name
			}
		}
		if got != tt.want {
			t.Errorf("%q, %v: the session is %q", tt.list, tt.ended, data)
		}
	}
}

// TestRepeated: an entry of a daemon has all mirrors and header fields of its lines.
func TestRepeated(t *testing.T) {
	for _, name := range []string{"mirror", "header", "not-host"} {
		c := &Call{results: results{list: "http://h/a\n " + name + "=1\n " + name + "=2\n"}}
		if entries, err := c.Entries("/d", "/", nil); err != nil || entries[0].Options[name] != "1\n2" {
			t.Errorf("%s: %+v, %v", name, entries, err)
		}
	}
}

// TestSameGID: of two entries of an edited list with the same GID none is lost.
func TestSameGID(t *testing.T) {
	c := &Call{results: results{list: "http://h/a\n gid=00000000000000aa\nhttp://h/b\n gid=00000000000000aa\n"}}
	entries, err := c.Entries("/d", "/", nil)
	q := queue.New(1)
	if err = errors.Join(err, Enqueue(q, entries)); err != nil || len(q.Waiting(0, 9)) != 2 {
		t.Errorf("%+v, %v", q.Waiting(0, 9), err)
	}
}
