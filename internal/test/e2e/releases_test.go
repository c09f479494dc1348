package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A toolForge has the releases of one tool, their files and the lists of their checksums.
type toolForge struct {
	*httptest.Server
	mu    sync.Mutex
	tags  []string
	lists map[string]bool // tags with a list
	sent  map[string]int  // requests for files, by tag
}

func newToolForge(t *testing.T) *toolForge {
	f := &toolForge{lists: map[string]bool{}, sent: map[string]int{}}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func (f *toolForge) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.URL.Path == "/tool/releases.atom" {
		f.feed(w)
		return
	}
	tag, name := filepath.Base(filepath.Dir(r.URL.Path)), filepath.Base(r.URL.Path)
	file := "tool_" + strings.TrimPrefix(tag, "v") + ".bin"
	switch {
	case !slices.Contains(f.tags, tag):
	case name == file:
		if r.Method == http.MethodGet {
			f.sent[tag]++
		}
		http.ServeContent(w, r, name, time.Time{}, strings.NewReader(bodyOf(tag)))
		return
	case name == "SHA256SUMS" && f.lists[tag]:
		fmt.Fprintf(w, "%x  %s\n", sha256.Sum256([]byte(bodyOf(tag))), file)
		return
	}
	http.NotFound(w, r)
}

func bodyOf(tag string) string { return strings.Repeat("the tool "+tag+"\n", 1000) }

// feed writes an Atom feed as forges have it: it names pages, and no file.
func (f *toolForge) feed(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/atom+xml")
	fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><id>tag:forge,2008:/tool</id>`+
		`<title>Releases</title><updated>2026-11-01T00:00:00Z</updated>`)
	for i, tag := range slices.Backward(f.tags) {
		fmt.Fprintf(w,
			`<entry><id>tag:forge,2008:tool/%[1]s</id><title>%[1]s</title><updated>2026-11-%02[2]dT00:00:00Z</updated>`+
				`<link rel="alternate" type="text/html" href="%[3]s/tool/releases/tag/%[1]s"/></entry>`, tag, i+1, f.URL)
	}
	fmt.Fprint(w, "</feed>")
}

// release adds a release, or the list of one.
func (f *toolForge) release(tag string, list bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.tags, tag) {
		f.tags = append(f.tags, tag)
	}
	f.lists[tag] = list
}

// sentOf returns how often the file of a tag was requested.
func (f *toolForge) sentOf(tag string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent[tag]
}

// A follower is a watcher of a forge that is killed and started again.
type follower struct {
	t      *testing.T
	daemon bool     // the watcher is part of a daemon
	args   []string // of another process, if not nil
	dir    string
	config string
	cmd    *exec.Cmd
	log    *os.File
}

func newFollower(t *testing.T, f *toolForge, daemon bool) *follower {
	w := &follower{t: t, daemon: daemon, dir: t.TempDir()}
	w.config = filepath.Join(w.dir, "watch.toml")
	text := fmt.Sprintf("state = 'state'\nhost-gap = '1ms'\n[feed.releases]\nurl = '%[1]s/tool/releases.atom'\nevery = '1s'\n"+
		"[watch.tool]\nurl = '%[1]s/tool/download/{tag}/tool_{version}.bin'\ndir = 'files'\nlink = 'tool'\nkeep = 1\n", f.URL)
	err := os.WriteFile(w.config, []byte(text), 0o600)
	if err = errors.Join(err, os.Mkdir(filepath.Join(w.dir, "files"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if w.log, err = os.Create(filepath.Join(w.dir, "log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.kill()
		w.log.Close()
		if log, err := os.ReadFile(w.log.Name()); t.Failed() {
			t.Logf("%s%v", log, err)
		}
	})
	return w
}

func (w *follower) command(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "BRAID_") }),
		"HOME="+w.dir)
	return cmd
}

func (w *follower) start() {
	w.t.Helper()
	w.cmd = w.command("watch", w.config)
	if w.daemon {
		w.cmd = w.command("daemon", "-d", filepath.Join(w.dir, "files"), "--state", filepath.Join(w.dir, "queue"),
			"--rpc-listen-port", "0", "--watch", w.config)
	}
	if w.args != nil {
		w.cmd = w.command(w.args...)
	}
	w.cmd.Stdout, w.cmd.Stderr = w.log, w.log
	if err := w.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
}

// kill ends the watcher as a loss of power does.
func (w *follower) kill() {
	if w.cmd != nil {
		w.cmd.Process.Kill()
		w.cmd.Wait()
		w.cmd = nil
	}
}

// stages waits until the running watcher has these versions with their stages. If want is empty, it waits until the
// watcher runs.
func (w *follower) stages(want string) {
	w.t.Helper()
	got := ""
	for range 3000 {
		out, _ := w.command("watch", "status", "--json", w.config).Output() // fails while the watcher starts
		var list []string
		runs := false
		for line := range strings.SplitSeq(string(out), "\n") {
			var s struct {
				PID            int
				Version, Stage string
			}
			if json.Unmarshal([]byte(line), &s) != nil {
				continue
			}
			if runs = runs || s.PID > 0; s.Version != "" {
				list = append(list, s.Version+" "+s.Stage)
			}
		}
		if got = strings.Join(list, ", "); runs && (got == want || want == "") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	w.t.Fatalf("the releases are %q, want %q", got, want)
}

// files checks the names in the folder, and that the link leads to the file of a tag.
func (w *follower) files(tag string, want ...string) {
	w.t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.dir, "files"))
	if err != nil {
		w.t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !strings.Contains(e.Name(), ".part") {
			got = append(got, e.Name())
		}
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("in the folder are %q, want %q", got, want)
	}
	if data, err := os.ReadFile(filepath.Join(w.dir, "files", "tool")); err != nil || string(data) != bodyOf(tag) {
		w.t.Errorf("the link does not lead to %s: %d bytes, %v", tag, len(data), err)
	}
}

// TestFollowReleases: a watcher that is killed and started again follows the releases of a feed. A release whose list is
// late waits for it, a file in place is not sent again, the link leads to the version in place, and one old version is kept.
func TestFollowReleases(t *testing.T) {
	for _, daemon := range []bool{false, true} {
		t.Run(map[bool]string{false: "watch", true: "daemon"}[daemon], func(t *testing.T) { followReleases(t, daemon) })
	}
}

func followReleases(t *testing.T, daemon bool) {
	f := newToolForge(t)
	w := newFollower(t, f, daemon)
	f.release("v1.0.0", true)
	w.start()
	w.stages("1.0.0 in-place")
	w.files("v1.0.0", "tool", "tool_1.0.0.bin")
	first := f.sentOf("v1.0.0")
	w.kill()
	f.release("v1.1.0", false)
	w.start()
	w.stages("1.1.0 waiting, 1.0.0 in-place")
	w.files("v1.0.0", "tool", "tool_1.0.0.bin")
	if daemon { // waiting is no failure
		out, err := w.command("status", "--json", "--state", filepath.Join(w.dir, "queue")).Output()
		if text := string(out); err != nil || !strings.Contains(text, "tool_1.0.0.bin") ||
			strings.Contains(text, "tool_1.1.0.bin") {
			t.Errorf("the queue has %s%v", out, err)
		}
	}
	w.kill()
	f.release("v1.1.0", true)
	w.start()
	w.stages("")
	if out, err := w.command("watch", "run", "tool", w.config).CombinedOutput(); err != nil {
		t.Fatalf("%s%v", out, err)
	}
	w.stages("1.1.0 in-place")
	w.files("v1.1.0", "tool", "tool_1.0.0.bin", "tool_1.1.0.bin")
	f.release("v1.2.0", true)
	w.stages("1.2.0 in-place")
	third := f.sentOf("v1.2.0")
	w.kill()
	w.start()
	w.stages("1.2.0 in-place")
	w.files("v1.2.0", "tool", "tool_1.1.0.bin", "tool_1.2.0.bin")
	if f.sentOf("v1.0.0") != first || f.sentOf("v1.2.0") != third {
		t.Errorf("files in place were asked for again: %v", f.sent)
	}
	out, err := w.command("watch", "check", w.config).CombinedOutput()
	if want := "watch.tool: the feeds report 3 versions; the newest is 1.2.0 at " + f.URL +
		"/tool/download/v1.2.0/tool_1.2.0.bin; version 1.2.0 is in place"; err != nil ||
		!strings.Contains(string(out), want) {
		t.Errorf("%s%v, want %s", out, err, want)
	}
	if out, err := w.command("watch", "forget", "tool", "1.2.0", w.config).CombinedOutput(); err != nil ||
		string(out) != "tool will not download version 1.2.0\n" {
		t.Errorf("%s%v", out, err)
	}
	w.stages("1.2.0 unwanted, 1.1.0 in-place")
	w.files("v1.1.0", "tool", "tool_1.1.0.bin", "tool_1.2.0.bin")
}
