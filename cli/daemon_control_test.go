package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"braid/internal/test/mirrortest"
)

// control runs a command that asks the daemon.
func (d *daemonRun) control(code int, words ...string) (stdout, stderr string) {
	d.t.Helper()
	got, stdout, stderr := command(d.t, append(words, "--state", d.state)...)
	if got != code {
		d.t.Fatalf("%q: exit code %d, want %d: %s", words, got, code, stderr)
	}
	return stdout, stderr
}

// TestDaemonControl: the queue is driven from the shell, over the socket in the folder of the state.
func TestDaemonControl(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1<<20, 3), mirrortest.Name("a.iso"), mirrortest.ETag(`"1"`), mirrortest.Digest())
	d := newDaemonRun(t)
	if _, stderr := d.control(exitOther, "status"); !strings.Contains(stderr, "no daemon is running") ||
		!strings.Contains(stderr, "start it with braid daemon") {
		t.Error(stderr)
	}
	d.start()
	if _, stderr := d.control(exitDone, "status"); stderr != "the queue is empty\n" {
		t.Error(stderr)
	}
	paused, _ := d.control(exitDone, "add", "--paused", s.URL)
	first, _ := d.control(exitDone, "add", "-d", filepath.Join(d.root, "x"), "-o", "b.iso", "--first", "--paused", s.URL)
	gid := strings.TrimSpace(paused)
	if options, failure := d.call("aria2.getOption", gid); failure != "" || options.(map[string]any)["split"] != "16" {
		t.Errorf("its options are %v %s", options, failure)
	}
	stdout, _ := d.control(exitDone, "status")
	if lines := strings.Split(stdout, "\n"); len(lines) != 3 ||
		!strings.HasPrefix(first, strings.Fields(lines[0])[0]) || !strings.HasPrefix(gid, strings.Fields(lines[1])[0]) {
		t.Errorf("%s and %s are %s", first, gid, stdout)
	}
	d.control(exitDone, "resume", gid[:8])
	d.status(gid)
	if stdout, _ = d.control(exitDone, "status", gid); !strings.Contains(stdout, "complete") ||
		!strings.Contains(stdout, "a.iso") || !strings.Contains(stdout, "sha-256 from Digest") {
		t.Error(stdout)
	}
	if stdout, _ = d.control(exitDone, "status", "--json", gid); !strings.Contains(stdout, `"status":"complete"`) {
		t.Error(stdout)
	}
	if _, stderr := d.control(exitOther, "pause", gid); !strings.Contains(stderr, "cannot be paused now") {
		t.Error(stderr)
	}
	d.control(exitDone, "resume", "--all")
	d.status(strings.TrimSpace(first))
	if _, err := os.Stat(filepath.Join(d.root, "x", "b.iso")); err != nil {
		t.Error(err)
	}
	if stdout, _ = d.control(exitDone, "remove", "--json", gid); stdout != `{"done":"remove","gid":"`+gid+`"}`+"\n" {
		t.Error(stdout)
	}
	d.control(exitDone, "remove", "--all")
	if stdout, _ = d.control(exitDone, "status"); stdout != "" {
		t.Error(stdout)
	}
	for words, text := range map[string]string{
		"add": "no URL", "pause": "give either names or --all", "remove --all x": "give either names or --all",
		"add -o x http://a/b http://a/c": "this is the name of one file, but several files are given",
		"add nothing":                    "is not an http, https or ftp URL", "add --sha256 x http://a/b": "--sha256",
	} {
		if _, stderr := d.control(exitUsage, strings.Fields(words)...); !strings.Contains(stderr, text) {
			t.Errorf("%s: %s", words, stderr)
		}
	}
	if _, stderr := d.control(exitUsage, "add", "-d", "/etc", s.URL); !strings.Contains(stderr, "is outside "+d.root) ||
		!strings.Contains(stderr, "--root") {
		t.Error(stderr)
	}
	for gid, text := range map[string]string{gid: "is not found", "zzz": "Invalid GID zzz"} {
		if _, stderr := d.control(exitOther, "remove", gid); !strings.Contains(stderr, text) ||
			!strings.Contains(stderr, "list the downloads with braid status") {
			t.Error(stderr)
		}
	}
	if err := os.WriteFile(filepath.Join(d.state, tokenFile), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr := d.control(exitOther, "status"); !strings.Contains(stderr, "requires a secret") ||
		!strings.Contains(stderr, "control it over its port") {
		t.Error(stderr)
	}
}
