package cli

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

// blocked is a program that says that it runs, and waits for a file.
const blocked = `run = ["/bin/sh", "-c", "cd ..; echo run >>runs; while [ ! -e go ]; do sleep 0.02; done"]`

// TestWatchKilled: what is killed between download and acknowledgement repeats the update once, fetches nothing again
// and ends right.
func TestWatchKilled(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1<<20, 3), mirrortest.Name("a.iso"), mirrortest.ETag(`"1"`), mirrortest.Digest())
	w := newWatching(t, s, blocked)
	w.begin()
	waitFor(t, "the program", func() bool { return w.read("runs") != "" })
	w.cmd.Process.Kill()
	w.cmd.Wait()
	w.write("go", "")
	if got := w.read("files/a.iso"); got != string(s.Content.Bytes()) {
		t.Error("the file is not in place")
	}
	w.once()
	if runs, n := w.read("runs"), bodies(s); runs != "run\nrun\n" || n != 1 {
		t.Errorf("programs: %q, %d bodies asked for\n%s", runs, n, w.read("log"))
	}
	w.once()
	if runs, n := w.read("runs"), bodies(s); runs != "run\nrun\n" || n != 1 {
		t.Errorf("afterwards: programs: %q, %d bodies asked for\n%s", runs, n, w.read("log"))
	}
	if left, _ := filepath.Glob(w.in("files/*")); !slices.Equal(left, []string{w.in("files/a.iso")}) {
		t.Errorf("files are %q", left)
	}
}

// TestWatchEndsProgram: a program that runs when the watcher is told to end may end first, and its update is done.
func TestWatchEndsProgram(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1<<10, 3), mirrortest.Name("a.iso"), mirrortest.Digest())
	w := newWatching(t, s, blocked)
	w.begin()
	waitFor(t, "the program", func() bool { return w.read("runs") != "" })
	w.signal(syscall.SIGTERM)
	w.hears("STOPPING=1")
	w.write("go", "")
	w.ends(exitDone)
	w.once()
	if got := w.read("runs"); got != "run\n" {
		t.Errorf("programs: %q\n%s", got, w.read("log"))
	}
}

// TestWatchParks: a download that runs when the watcher is told to end is gone on with the next time.
func TestWatchParks(t *testing.T) {
	const size, sent = 8 << 20, 5 << 20
	s := mirrortest.New(t, mirrortest.Generate(size, 3), mirrortest.Name("a.iso"), mirrortest.ETag(`"1"`),
		mirrortest.Digest(), mirrortest.StallAfter(sent))
	w := newWatching(t, s, "on-failure = ['touch', 'failed']")
	w.begin()
	waitFor(t, "half of the file", func() bool { return begun(w.in("files/a.iso.part")) && s.Sent() == sent })
	w.signal(syscall.SIGINT)
	w.ends(exitDone)
	w.logs(`msg=interrupted watch=w .*kept=\d`)
	s.Set(mirrortest.StallAfter(-1))
	w.once()
	w.logs(`msg=resumed watch=w .*bytes=\d`)
	if got := w.read("files/a.iso"); got != string(s.Content.Bytes()) {
		t.Error("the file is wrong")
	}
	if _, err := os.Stat(w.in("files/failed")); err == nil {
		t.Error("to be ended counted as a failure")
	}
}

// TestWatchReload: SIGHUP reads the configuration anew, one that is wrong changes nothing, and other processes may ask meanwhile.
func TestWatchReload(t *testing.T) {
	a := mirrortest.New(t, mirrortest.Generate(1<<10, 3), mirrortest.Name("a.iso"), mirrortest.Digest())
	b := mirrortest.New(t, mirrortest.Generate(1<<10, 4), mirrortest.Name("b.iso"), mirrortest.Digest())
	w := newWatching(t, a)
	w.write("feed.soif", soifOf(a.URL, b.URL))
	w.begin("WATCHDOG_USEC=100000")
	w.logs(`msg="new version" watch=w`)
	w.hears("WATCHDOG=1")
	pid := fmt.Sprint(w.cmd.Process.Pid)
	if out := w.asks(exitDone, "status", "watch.toml"); !strings.Contains(out,
		"a watcher is running (process "+pid+")\n") || !regexp.MustCompile(`(?m)^w .* sha-256 from `).MatchString(out) {
		t.Errorf("status: %s", out)
	}

	w.configure(a, "keeep = 3")
	w.signal(syscall.SIGHUP)
	w.hears("RELOADING=1\nMONOTONIC_USEC=")
	w.hears("READY=1\nSTATUS=watching 1 feed by 1 watch, as before, because the new configuration is wrong: watch.toml:")
	w.logs(`level=ERROR msg="the configuration is unchanged" where=watch.toml:\d+ error="watch.w.keeep: unknown key" hint="did you mean keep\?"`)

	w.configure(a, "[watch.other]", "url = '"+b.URL+"'", "dir = 'files'")
	w.signal(syscall.SIGHUP)
	w.hears("RELOADING=1\nMONOTONIC_USEC=")
	w.hears("READY=1\nSTATUS=watching 1 feed by 2 watches")
	// The feed has not changed and is not due; whoever wants can have it polled now.
	if out := w.asks(exitDone, "run", "f", "watch.toml"); !strings.Contains(out,
		"the watcher (process "+pid+") now polls for f") {
		t.Errorf("run: %s", out)
	}
	w.logs(`msg="new version" watch=other`)
	if got := w.read("files/b.iso"); got != string(b.Content.Bytes()) {
		t.Error("the file is wrong")
	}
	if out := w.asks(exitDone, "forget", "other", "watch.toml"); out != "the watcher (process "+pid+
		") has deleted the state of other\n" {
		t.Errorf("forget: %s", out)
	}
	w.asks(exitUsage, "forget", "none", "watch.toml")
	w.asks(exitLocal, "--once", "watch.toml")
	w.logs(`^braid: watch store: .*state/antenna.db is in use by process ` + pid)
	w.signal(syscall.SIGTERM)
	w.ends(exitDone)
	if _, err := os.Lstat(w.in("state/control")); err == nil {
		t.Error("the socket is left")
	}
	if out := w.asks(exitDone, "status", "watch.toml"); !strings.Contains(out, "no watcher is running") {
		t.Errorf("status: %s", out)
	}
}

// TestWatchdog: the watchdog is told again and again that the watcher is alive, also while a reload or the end waits
// for a program.
func TestWatchdog(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1<<10, 3), mirrortest.Name("a.iso"), mirrortest.Digest())
	w := newWatching(t, s, blocked)
	const period = 2 * time.Second
	w.begin(fmt.Sprintf("WATCHDOG_USEC=%d", period.Microseconds()))
	waitFor(t, "the program", func() bool { return w.read("runs") != "" })
	for range 5 {
		w.hears("WATCHDOG=1")
	}
	w.signal(syscall.SIGHUP)
	w.hears("RELOADING=1\n")
	for range 5 {
		w.hears("WATCHDOG=1")
	}
	if out := w.asks(exitDone, "status", "watch.toml"); !strings.Contains(out, "a watcher is running") {
		t.Errorf("status while the program runs: %s", out)
	}
	w.write("go", "")
	w.hears("READY=1\n")
	w.signal(syscall.SIGTERM)
	w.ends(exitDone)
}

// TestWatchMetrics: Prometheus can read what happened.
func TestWatchMetrics(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1<<10, 3), mirrortest.Name("a.iso"), mirrortest.Digest())
	w := newWatching(t, s)
	w.write("watch.toml", "metrics = '127.0.0.1:0'\n"+w.read("watch.toml")+"[publish]\ndir = 'www'\n")
	w.begin()
	w.logs(`msg="new version" watch=w`)
	m := regexp.MustCompile(`msg=metrics url=(\S+)`).FindStringSubmatch(w.read("log"))
	if m == nil {
		t.Fatal(w.read("log"))
	}
	code, text := fetch(t, m[1])
	for _, want := range []string{
		`braid_feed_polls_total{feed="f",result="changed"} 1`, `braid_watch_downloads_total{watch="w",result="changed"} 1`,
		`braid_watch_bytes_total{watch="w"} 1024`, `braid_watch_last_success_timestamp_seconds{watch="w"} 1`,
	} {
		if code != http.StatusOK || !strings.Contains(text, "\n"+want) {
			t.Errorf("%d, no %s in\n%s", code, want, text)
		}
	}
	if code, _ := fetch(t, strings.TrimSuffix(m[1], "metrics")); code != http.StatusNotFound {
		t.Errorf("status %d for another path", code)
	}
	w.signal(syscall.SIGTERM)
	w.ends(exitDone)
	if lirs := w.read("www/antenna.lirs"); !strings.Contains(lirs, s.URL) { // at the end of the round at the latest
		t.Errorf("published: %q", lirs)
	}
}

func fetch(t *testing.T, url string) (status int, body string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}
