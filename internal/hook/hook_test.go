package hook

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/download"
	"braid/internal/option"
	"braid/internal/test/prooftest"
	"braid/verify"
)

func hookOf(t *testing.T, line string) *Command {
	t.Helper()
	h := &Command{}
	if err := h.Set(line); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHookSet(t *testing.T) {
	for line, want := range map[string]string{
		"":                   "names no program",
		"no-such-program {}": "no-such-program: executable file not found in $PATH",
		"true && true":       "there is no shell",
		"true 'x":            "a quote is not closed",
		"/no/such/program":   "no such file or directory",
	} {
		h := &Command{}
		if err := h.Set(line); err == nil || !strings.Contains(err.Error(), want) || len(h.args) > 0 {
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
}

// A program gets the path and the environment, and nothing of what it prints goes elsewhere.
func TestHookRun(t *testing.T) {
	t.Setenv("BRAID_FILE_PATH", "another")
	t.Setenv("BRAID_ON_COMPLETE", "this one")
	t.Setenv("BRAID_KEYRING", "kept")
	t.Setenv("BRAID_NO_LOOKUP", "") // that of all tests
	os.Unsetenv("BRAID_NO_LOOKUP")
	dir := t.TempDir()
	t.Chdir(dir)
	var out bytes.Buffer
	h := hookOf(t, `sh -c 'printf "%s|" "$@"; env | grep ^BRAID_ | sort >&2; cat' x {} 'a {}'`)
	if err := h.run(t.Context(), &out, "-rf $(x)", []string{"BRAID_FILE_PATH=new"}); err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(dir, "-rf $(x)") + "|a {}|BRAID_FILE_PATH=new\nBRAID_KEYRING=kept\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	exit, ok := errors.AsType[*exec.ExitError](hookOf(t, "sh -c 'exit 7'").run(t.Context(), &out, "", nil))
	if !ok || exit.ExitCode() != 7 {
		t.Errorf("error: %v", exit)
	}
}

// When the command is interrupted, the program and what it started end, too.
func TestHookInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	pid := filepath.Join(dir, "pid")
	h := hookOf(t, `sh -c 'sleep 60 & echo $! > "$1.new"; mv "$1.new" "$1"; wait' x {}`)
	ended := make(chan error)
	go func() { ended <- h.run(ctx, &bytes.Buffer{}, pid, nil) }()
	var child string
	for deadline := time.Now().Add(2 * time.Minute); child == "" &&
		time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if b, err := os.ReadFile(pid); err == nil {
			child = strings.TrimSpace(string(b))
		}
	}
	why := errors.New("enough")
	cancel(why)
	if err := <-ended; !errors.Is(err, why) {
		t.Errorf("error: %v", err)
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + child + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") { // nobody may have asked for its end
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %q goes on", child)
		}
	}
}

func TestFileEnvironment(t *testing.T) {
	u, err := url.Parse("https://me:secret@h/a?key=secret")
	if err != nil {
		t.Fatal(err)
	}
	req := download.Request{URL: u}
	r := download.Result{Path: "d/a", Size: 1, Proof: prooftest.Of(t, verify.SHA256),
		LastModified: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	env := environment(req, r)
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"BRAID_FILE_PATH=" + filepath.Join(cwd, "d/a"), "BRAID_FILE_SIZE=1", "BRAID_FILE_VERIFIED=true",
		"BRAID_FILE_SHA256=2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
		"BRAID_FILE_EVIDENCE=sha-256 from Digest over https", "BRAID_FILE_LAST_MODIFIED=2026-01-02T03:04:05Z",
		"BRAID_FILE_SIGNERS=",
	} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s in %q", want, env)
		}
	}
	if all := strings.Join(env, "\n"); strings.Contains(all, "secret") {
		t.Errorf("%q has a secret", all)
	}
	get, _ := option.Braid().Below("get")
	help := get.Notes
	for _, v := range env { // all are documented, and none is a flag
		name, _, _ := strings.Cut(v, "=")
		short := strings.TrimPrefix(name, "BRAID_FILE")
		if !strings.Contains(strings.Join(help, " "), short) {
			t.Errorf("the help does not have %s", name)
		}
		for _, o := range get.Options {
			if option.Variable(o.Name()) == name {
				t.Errorf("%s is a flag", name)
			}
		}
	}
}

func TestHookWanted(t *testing.T) {
	h := hookOf(t, "true")
	for _, tt := range []struct {
		h    *Command
		r    download.Result
		want bool
	}{
		{h, download.Result{Path: "a", Due: true}, true},
		{&Command{}, download.Result{Path: "a", Due: true}, false},
		{h, download.Result{Due: true}, false},
		{h, download.Result{Path: "a", AlreadyComplete: true}, false},
		{h, download.Result{Path: "a", AlreadyComplete: true, Due: true}, true},
		{h, download.Result{Path: "a", NotModified: true}, false},
		{h, download.Result{Path: "a", NotModified: true, Due: true}, true},
	} {
		if got := tt.h.Wanted(tt.r); got != tt.want {
			t.Errorf("%+v: %v", tt.r, got)
		}
	}
}
