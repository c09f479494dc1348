package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"testing"
	"time"

	"braid/download"
	"braid/internal/problem"
	"braid/internal/render"
)

func TestCalledAria2c(t *testing.T) {
	for name, want := range map[string]bool{"aria2c": true, "/usr/lib/braid/bin/aria2c": true, "aria2c.exe": true, "my-aria2c": true, "braid": false, "/aria2c/braid": false, "": false} {
		if calledAria2c([]string{name}) != want {
			t.Error(name)
		}
	}
	if calledAria2c(nil) {
		t.Error("without a name")
	}
}

// What was told of an error has its number, and each exit code of a run that told of none has one of aria2's table.
func TestAria2ExitCodes(t *testing.T) {
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
		{downloadProblem(t.Context(), &download.Error{Kind: download.Local, Err: fs.ErrExist}), 13},
		{errors.New("x"), 1},
	} {
		var r aria2Results
		r.add(-1, download.Request{}, download.Result{}, tt.err)
		if got := r.code(tt.err); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.err, got, tt.want)
		}
	}
	for from, want := range map[int]int{
		exitDone: 0, exitOther: 1, exitUsage: 28, exitLocal: 1, exitNetwork: 6, exitTLS: 1, exitAuth: 24, exitProtocol: 22, exitRefused: 22,
		exitNoKey: 32, exitBadSignature: 32, exitMismatch: 32, exitNoEvidence: 32, exitBudget: 6, exitLimit: 5, exitSignal + 2: 7, exitSignal + 15: 7,
	} {
		if got := new(aria2Results).code(reported(from)); got != want {
			t.Errorf("exit code %d: %d, want %d", from, got, want)
		}
	}
}

// The last error counts; what is not done counts only if nothing failed.
func TestAria2LastError(t *testing.T) {
	interrupted := &download.Error{Kind: download.Interrupted}
	for _, tt := range []struct {
		errs []error
		left int
		want int
	}{
		{[]error{nil, nil}, exitDone, 0},
		{[]error{&download.Error{Kind: download.Mismatch}, nil, &download.Error{Kind: download.Auth}, nil}, exitMismatch, 24},
		{[]error{nil, interrupted}, exitSignal + 2, 7},
		{[]error{nil, interrupted}, exitBudget, 7}, // --stop
		{[]error{&download.Error{Kind: download.Auth}, interrupted}, exitSignal + 15, 24},
		{[]error{nil, nil}, exitLocal, 1}, // as when standard output cannot be written
	} {
		var r aria2Results
		for i, err := range tt.errs {
			r.add(i, download.Request{}, download.Result{}, err)
		}
		var err error
		if tt.left != exitDone {
			err = reported(tt.left)
		}
		if got := r.code(err); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.errs, got, tt.want)
		}
	}
}

func TestAria2Size(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 921: "921", 922: "0.9Ki", 1024: "1.0Ki", 1536: "1.5Ki", 74_000_000: "70Mi", 10 << 30: "10Gi", 5000 << 30: "5,000Gi"} {
		if got := aria2Size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// The table of results has the shape of aria2's, and no escape or secret of a name or URL in it.
func TestAria2Table(t *testing.T) {
	var out bytes.Buffer
	a := &aria2c{streams: streams{out: &out}, get: &getCommand{outputFlags: outputFlags{Quiet: true}}}
	u, _ := url.Parse("http://h/a?key=s3cret")
	a.results.add(1, download.Request{URL: u}, download.Result{}, &download.Error{Kind: download.Auth})
	a.results.add(0, download.Request{URL: u}, download.Result{Path: "/d/\x1b[2Ja", Fetched: 2048, Elapsed: time.Second}, nil)
	a.results.add(2, download.Request{URL: u}, download.Result{Path: "/d/c"}, &download.Error{Kind: download.Interrupted})
	a.showResults()
	lines := strings.Split(out.String(), "\n")
	want := []string{"", "Download Results:", "gid   |stat|avg speed  |path/URI", "======+====+===========+=======================================================",
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

// Messages name the options of aria2c, and none that it does not have.
func TestAria2Words(t *testing.T) {
	for text, want := range map[string]string{
		"x (give a checksum with --sha256 HEX)":                       "x (give a checksum with --checksum=sha-256=HEX)",
		"--keyring FILE has the keys that count":                      "",
		"run the same command to go on":                               "run the same command to go on",
		flagHints[download.HintExists]:                                "--allow-overwrite=true replaces it once the new one is verified; -o NAME takes another name",
		flagHints[download.HintFTP]:                                   "",
		"check the URL (--max-size SIZE does not)":                    "",
		"-u USER:PASSWORD gives credentials":                          "--http-user and --http-passwd give credentials",
		"-o takes another name; -o - writes to a program or a device": "-o takes another name",
	} {
		if got := aria2Words(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// Passwords and tokens of aria2's options leave the title of the process.
func TestSecretsOfAria2_Rule62(t *testing.T) {
	for _, words := range [][2]string{{"--http-passwd", "s3cret"}, {"", "--all-proxy-passwd=s3cret"}, {"", "--rpc-secret=s3cret"}, {"", "--rpc-secre=s3cret"}, {"--http-pa", "s3cret"}, {"", "--header=A: s3cret"}} {
		parts := secretsOf(words[0], words[1])
		if len(parts) != 1 || !strings.HasSuffix(words[1], "s3cret") || strings.Contains(words[1][:parts[0][0]], "s3") || parts[0][1] != len(words[1]) {
			t.Errorf("%q: %v", words, parts)
		}
	}
}

// Wrong use says what is wrong, downloads nothing, and is aria2's number 28.
func TestAria2Misuse(t *testing.T) {
	aria2Refuses(t, map[string]string{
		"--header=x":                            "",
		"--split=x http://127.0.0.1:1/":         "usage --split: write a number",
		"--timeout=x http://127.0.0.1:1/":       "usage --timeout: write a time",
		"--max-download-limit=x http://h/a":     "usage --max-download-limit: write a number of bytes",
		"--seed-time=x http://h/a":              "usage --seed-time: write a number of minutes",
		"--file-allocation=x http://h/a":        "usage --file-allocation: write one of none",
		"--max-concurrent-downloads=x http://h": "usage --max-concurrent-downloads: write auto",
		"--checksum=x http://h/a":               "usage --checksum: write ALGORITHM",
		"--all-proxy=socks9://x:1 http://h/a":   "usage all_proxy: ",
		"--enable-rpc --rpc-allow-origin-all":   "usage --rpc-allow-origin-all: without a secret",
	})
}

// aria2Refuses runs command lines, and wants each to end with a message.
func aria2Refuses(t *testing.T, lines map[string]string) {
	t.Setenv("HOME", t.TempDir())
	for words, want := range lines {
		t.Run(words, func(t *testing.T) {
			t.Setenv("all_proxy", "")
			t.Setenv("ALL_PROXY", "")
			var out, err bytes.Buffer
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a daemon does not end
			defer cancel()
			code := run(ctx, append([]string{"aria2c", "--no-conf"}, strings.Fields(words)...), streams{in: strings.NewReader(""), out: &out, err: &err})
			if want == "" {
				want = "usage: no URI"
			}
			if !strings.Contains(err.String(), "braid: "+want) || code != 28 && want != "usage: no URI" {
				t.Error(fmt.Sprint(code), err.String())
			}
		})
	}
}

// The progress has the form that programs read: a line each second, or on a terminal one that is drawn over.
func TestAria2Readout(t *testing.T) {
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
	if want := "[#012345 5.0MiB/10MiB(50%) CN:3 DL:1.0MiB ETA:5s]\n[#012345 3.0MiB/0B CN:1 DL:1.5KiB]\n[DL:2.0MiB 1 of 4 files]\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
	out.Reset()
	m = &readout{w: &out, gid: "0123456789abcdef", terminal: true, last: begin}
	m.Show(begin.Add(time.Second), render.Progress{Done: 5 << 20, Size: 10 << 20, Rate: 1 << 20})
	m.Show(begin.Add(2*time.Second), render.Progress{Done: 5 << 20, Size: 10 << 20})
	m.Clear()
	m.Clear()
	want := "\r[#012345 5.0MiB/10MiB(50%) CN:0 DL:1.0MiB ETA:5s]" + "\r[#012345 5.0MiB/10MiB(50%) CN:0 DL:0B]           \r" + strings.Repeat(" ", 38) + "\r"
	if out.String() != want {
		t.Errorf("%q, want\n%q", out.String(), want)
	}
}
