package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

// A watchingDaemon is a daemon with a watcher, in a process of its own.
type watchingDaemon struct {
	*watching
	env []string
}

func newWatchingDaemon(t *testing.T, s *mirrortest.Server, lines ...string) *watchingDaemon {
	w := &watchingDaemon{watching: newWatching(t, s, lines...)}
	w.write("go", "")
	return w
}

func (w *watchingDaemon) begin(words ...string) {
	w.t.Helper()
	log, err := os.OpenFile(w.in("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { log.Close() })
	w.cmd = start(w.t, w.dir, log, append([]string{"daemon", "-d", "root", "--state", "queue", "--rpc-listen-port", "0",
		"--watch", "watch.toml"}, words...)...)
	w.cmd.Env = append(append(w.cmd.Env, "NOTIFY_SOCKET="+w.in("notify")), w.env...)
	if err := w.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { w.cmd.Process.Kill(); w.cmd.Wait() })
	w.hears("READY=1\nSTATUS=downloads for")
}

func (w *watchingDaemon) kill() {
	w.cmd.Process.Kill()
	w.cmd.Wait()
}

// control runs a command that asks the daemon.
func (w *watchingDaemon) control(words ...string) string {
	w.t.Helper()
	var out, errs bytes.Buffer
	cmd := start(w.t, w.dir, &errs, append(words, "--state", "queue")...)
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		w.t.Fatalf("%q: %v\n%s%s\n%s", words, err, &out, &errs, w.read("log"))
	}
	return out.String()
}

// says waits until braid watch status says so of the watch.
func (w *watchingDaemon) says(words string) {
	w.t.Helper()
	waitFor(w.t, words, func() bool { return strings.Contains(w.asks(exitDone, "status", "watch.toml"), words) })
}

// shows waits until the daemon's page shows words about its watches.
func (w *watchingDaemon) shows(words string) {
	w.t.Helper()
	ready := regexp.MustCompile(`page=(http\S+)`).FindStringSubmatch(w.read("log"))
	if ready == nil {
		w.t.Fatalf("no page\n%s", w.read("log"))
	}
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, ready[1]+"watches", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(w.read("queue/token")))
	waitFor(w.t, words, func() bool {
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			w.t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			w.t.Fatalf("%s %v\n%s", resp.Status, err, text)
		}
		return strings.Contains(string(text), words)
	})
}

// entries are those of the queue.
func (w *watchingDaemon) entries() (all []listedStatus) {
	w.t.Helper()
	for line := range strings.Lines(w.control("status", "--json")) {
		var s listedStatus
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			w.t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// becomes waits until there is one entry, of the watch, with a status.
func (w *watchingDaemon) becomes(status string) listedStatus {
	w.t.Helper()
	var all []listedStatus
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if all = w.entries(); len(all) == 1 && all[0].Status == status && all[0].Braid.Watch == "w" {
			return all[0]
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("waited for one entry that is %s: %+v\n%s", status, all, w.read("log"))
		}
	}
}

// TestDaemonWatchKilled: what is killed between download and acknowledgement is neither lost, nor downloaded again, nor
// in the queue twice.
func TestDaemonWatchKilled(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1<<20, 3), mirrortest.Name("a.iso"), mirrortest.ETag(`"1"`), mirrortest.Digest())
	w := newWatchingDaemon(t, s, blocked)
	os.Remove(w.in("go"))
	w.begin()
	waitFor(t, "the program", func() bool { return w.read("runs") != "" })
	first := w.becomes("complete")
	w.kill()
	w.write("go", "")
	for range 2 { // the second time it is acknowledged
		w.begin()
		waitFor(t, "the second run", func() bool { return w.read("runs") == "run\nrun\n" })
		w.logs(`msg="new version" watch=w`)
		if e := w.becomes("complete"); e.GID != first.GID || e.Braid.Verified == "" || bodies(s) != 1 {
			t.Errorf("%+v, %d bodies asked for\n%s", e, bodies(s), w.read("log"))
		}
		w.signal(syscall.SIGTERM)
		w.ends(exitDone)
	}
	if left, _ := filepath.Glob(w.in("files/*")); w.read("files/a.iso") != string(s.Content.Bytes()) || len(left) != 1 {
		t.Errorf("files are %q", left)
	}
}

// TestDaemonWatchUntold: a file that came before the antenna heard of it, as a kill has it, is a new version all the
// same: the program runs.
func TestDaemonWatchUntold(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1<<20, 3), mirrortest.Name("a.iso"), mirrortest.ETag(`"1"`), mirrortest.Digest())
	w := newWatchingDaemon(t, s, blocked)
	w.begin()
	waitFor(t, "the program", func() bool { return w.read("runs") == "run\n" })
	w.becomes("complete")
	w.kill()
	if err := os.RemoveAll(w.in("state")); err != nil {
		t.Fatal(err)
	}
	w.begin()
	waitFor(t, "the program", func() bool { return w.read("runs") == "run\nrun\n" })
	if w.read("files/a.iso") != string(s.Content.Bytes()) {
		t.Error("the file is wrong")
	}
}

// TestDaemonWatchKilledAtWork: a download that is at work goes on after a kill, as the entry that it was, and a paused
// one stays paused.
func TestDaemonWatchKilledAtWork(t *testing.T) {
	const size, sent = 8 << 20, 5 << 20
	s := mirrortest.New(t, mirrortest.Generate(size, 3), mirrortest.Name("a.iso"), mirrortest.ETag(`"1"`),
		mirrortest.Digest(), mirrortest.StallAfter(sent))
	w := newWatchingDaemon(t, s, blocked)
	w.begin()
	waitFor(t, "half of the file", func() bool { return begun(w.in("files/a.iso.part")) && s.Sent() >= sent })
	first := w.becomes("active")
	if first.Dir != w.in("files") {
		t.Errorf("it is in %s", first.Dir)
	}
	if table := w.control("status"); !strings.Contains(table, "watch w: ") {
		t.Errorf("the table does not say which watch it is of:\n%s", table)
	}
	w.kill()
	s.Set(mirrortest.StallAfter(1000))
	w.begin()
	if e := w.becomes("active"); e.GID != first.GID {
		t.Errorf("it was %s and is %s", first.GID, e.GID)
	}
	w.says("downloads: ")
	w.control("pause", first.GID)
	w.becomes("paused")
	w.kill()
	w.begin()
	w.becomes("paused")
	w.says("paused; continue with braid resume " + first.GID)
	s.Set(mirrortest.StallAfter(-1))
	w.control("resume", first.GID)
	if e := w.becomes("complete"); e.GID != first.GID {
		t.Errorf("it was %s and is %s", first.GID, e.GID)
	}
	waitFor(t, "the program", func() bool { return w.read("runs") == "run\n" })
	if w.read("files/a.iso") != string(s.Content.Bytes()) {
		t.Error("the file is wrong")
	}
}

// TestDaemonWatchRemoved: an entry that the user removes is handled, also after a kill, and the next version is an
// entry of its own.
func TestDaemonWatchRemoved(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1<<20, 3), mirrortest.Name("a.iso"), mirrortest.ETag(`"1"`),
		mirrortest.Digest(), mirrortest.StallAfter(1000))
	w := newWatchingDaemon(t, s, blocked)
	w.begin()
	first := w.becomes("active")
	w.control("remove", first.GID)
	w.logs(`msg="not downloaded: the user removed this version from the queue" watch=w`)
	w.becomes("removed")
	w.kill()
	w.write("watch.toml", strings.Replace(w.read("watch.toml"), "[watch.w]", "every = '1s'\n[watch.w]", 1))
	w.begin()
	w.becomes("removed")
	w.says("removed from the queue; to download it, use braid watch run w")
	s.Set(mirrortest.StallAfter(-1))
	w.write("feed.soif", strings.ReplaceAll(soifOf(s.URL), "1700000000", "1710000000"))
	waitFor(t, "the next version", func() bool { return w.read("runs") == "run\n" })
	if e := w.becomes("complete"); e.GID == first.GID || w.read("files/a.iso") != string(s.Content.Bytes()) {
		t.Errorf("%+v", e)
	}
	w.says("sha-256 from Digest")
}

// TestDaemonWatchRemovedRelease: a version of a project whose entry the user removes is not downloaded, its part file
// goes, and braid watch run brings it back. The page shows the same as braid watch status.
func TestDaemonWatchRemovedRelease(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(8<<20, 3), mirrortest.Name("a-1.2.iso"), mirrortest.ETag(`"1"`),
		mirrortest.Digest(), mirrortest.StallAfter(5<<20))
	w := newWatchingDaemon(t, s)
	w.write("watch.toml", strings.Replace(w.read("watch.toml"), "a-1.2.iso", "a-{version}.iso", 1))
	w.begin()
	waitFor(t, "a part of the file", func() bool { return begun(w.in("files/a-1.2.iso.part")) })
	w.control("remove", w.becomes("active").GID)
	w.says("version 1.2 will not be downloaded")
	w.shows(`{"name":"w","states":[{"text":"version 1.2 will not be downloaded","next":-1}]}`)
	if left, _ := filepath.Glob(w.in("files/*")); len(left) > 0 {
		t.Errorf("there are %q", left)
	}
	s.Set(mirrortest.StallAfter(-1))
	w.asks(exitDone, "run", "w", "watch.toml")
	w.becomes("complete")
	w.says("version 1.2: sha-256 from Digest")
	w.shows(`{"name":"w","version":"1.2","newest":"1.2","states":[{"text":"version 1.2: sha-256 from Digest`)
	if w.read("files/a-1.2.iso") != string(s.Content.Bytes()) {
		t.Error("the file is wrong")
	}
}

// TestDaemonWatchNotReady_Rule80: a version without the required proof is no failed download: the log has no warning, and the
// queue no entry.
func TestDaemonWatchNotReady_Rule80(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1<<10, 3), mirrortest.Name("a-1.2.iso"), mirrortest.ETag(`"1"`))
	w := newWatchingDaemon(t, s, "require = 'digest'")
	w.write("watch.toml", strings.Replace(w.read("watch.toml"), "a-1.2.iso", "a-{version}.iso", 1))
	w.begin()
	w.says("version 1.2 is not ready yet: ")
	if all := w.entries(); len(all) > 0 {
		t.Errorf("the queue has %+v", all)
	}
	w.signal(syscall.SIGTERM)
	w.ends(exitDone)
	if log := w.read("log"); strings.Contains(log, "level=WARN") || strings.Contains(log, "level=ERROR") ||
		!strings.Contains(log, `msg="not there yet"`) {
		t.Errorf("the log is\n%s", log)
	}
}

// TestDaemonWatchGone: the entry of a watch that is not configured any more keeps others waiting no longer than it
// takes to see that.
func TestDaemonWatchGone(t *testing.T) {
	s := mirrortest.New(t, mirrortest.Generate(1<<20, 3), mirrortest.Name("a.iso"), mirrortest.ETag(`"1"`),
		mirrortest.Digest(), mirrortest.StallAfter(1000))
	w := newWatchingDaemon(t, s)
	w.begin()
	w.becomes("active")
	w.write("watch.toml", strings.Replace(w.read("watch.toml"), "[watch.w]", "[watch.v]", 1))
	w.signal(syscall.SIGHUP)
	waitFor(t, "the failure", func() bool {
		for _, e := range w.entries() {
			if e.Braid.Watch == "w" && e.Status == "error" {
				return strings.Contains(e.Braid.Message, "no longer requested")
			}
		}
		return false
	})
}

// TestDaemonWatchFound: the commands find the watcher of a daemon by the configuration alone, and no other daemon has
// it, wherever their queues are.
func TestDaemonWatchFound(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	s := mirrortest.New(t, mirrortest.Generate(1<<10, 3), mirrortest.Name("a.iso"), mirrortest.Digest())
	w := newWatchingDaemon(t, s)
	w.write("watch.toml", strings.Replace(w.read("watch.toml"), "state = 'state'\n", "", 1))
	w.env = []string{"STATE_DIRECTORY=" + w.in("service")}
	w.begin()
	w.becomes("complete")
	process := fmt.Sprintf("(process %d)", w.cmd.Process.Pid)
	if status := w.asks(exitDone, "status", "watch.toml"); !strings.Contains(status, "a watcher is running "+process+"\n") {
		t.Error(status)
	}
	if told := w.asks(exitDone, "run", "w", "watch.toml"); !strings.HasPrefix(told, "the watcher "+process+" ") {
		t.Error(told)
	}
	var errs bytes.Buffer
	other := start(t, w.dir, &errs, "daemon", "-d", "root", "--state", "other", "--rpc-listen-port", "0", "--watch", "watch.toml")
	other.Run()
	if other.ProcessState.ExitCode() != exitLocal || !strings.Contains(errs.String(), "only one watcher can use a state folder") {
		t.Errorf("the other daemon ended with %d: %s", other.ProcessState.ExitCode(), &errs)
	}
}

// TestDaemonWatchMissing: a configuration that is not there is told of by the flag that names it, with a next step.
func TestDaemonWatchMissing(t *testing.T) {
	code, _, errs := command(t, "daemon", "--watch", "nosuch.toml")
	if code != exitUsage || !strings.Contains(errs, "daemon --watch nosuch.toml: no such file") ||
		!strings.Contains(errs, "braid watch --help") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// TestDaemonWatchSignals: SIGHUP reads the configuration anew, one that is wrong changes nothing, and SIGTERM ends
// everything, programs that would go on as well.
func TestDaemonWatchSignals(t *testing.T) {
	a := mirrortest.New(t, mirrortest.Generate(1<<10, 3), mirrortest.Name("a.iso"), mirrortest.Digest())
	b := mirrortest.New(t, mirrortest.Generate(16<<10, 4), mirrortest.Name("b.iso"), mirrortest.Digest())
	w := newWatchingDaemon(t, a)
	w.begin()
	w.becomes("complete")
	w.write("watch.toml", "[watch.w]\nurl = 1\n")
	w.signal(syscall.SIGHUP)
	w.logs(`level=ERROR msg="the configuration is unchanged" where=watch.toml`)
	w.configure(a)
	w.write("watch.toml", "allow-hosts = ['10.1.0.0/16']\n"+w.read("watch.toml"))
	w.signal(syscall.SIGHUP)
	w.logs("changes to allow-hosts take effect at the next start")
	os.Remove(w.in("go"))
	w.write("feed.soif", soifOf(a.URL, b.URL))
	w.configure(b, `run = ["/bin/sh", "-c", "trap '' TERM; cd ..; echo run >>runs; while [ ! -e go ]; do sleep 0.02; done"]`)
	w.write("watch.toml", "host-limit-rate = '32K'\n"+w.read("watch.toml"))
	began := time.Now()
	w.signal(syscall.SIGHUP)
	waitFor(t, "the program", func() bool { return w.read("runs") != "" })
	if took := time.Since(began); took < 400*time.Millisecond {
		t.Errorf("16 KiB came in %v, at 32 KiB a second", took)
	}
	w.signal(syscall.SIGTERM)
	w.ends(exitDone)
	if all := w.read("files/b.iso"); all != string(b.Content.Bytes()) {
		t.Error("the file of the other configuration is not there")
	}
}

// TestDaemonWatchRefused: a wrong configuration ends the daemon before it makes or listens to anything.
func TestDaemonWatchRefused(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for text, want := range map[string]string{
		"[watch.w]\nurl = 'https://example.org/a.iso'\n": "missing folder for the files",
		"[watch.w]\nurl = 'https://example.org/a.iso'\ndir = 'x'\nrequire = " +
			"'signature'\n": "no key or certificate is trusted",
		"state = 'queue'\n[watch.w]\nurl = " +
			"'https://example.org/a.iso'\ndir = 'x'\n": "the state folder is the one in which the daemon keeps its queue",
		"metrics = 'nowhere'\n[watch.w]\nurl = 'https://example.org/a.iso'\ndir = " +
			"'x'\ncheck-every = '1h'\n": "is not an address to listen on",
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "watch.toml")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		code, _, errs := command(t, "daemon", "-d", filepath.Join(dir, "root"), "--state", filepath.Join(dir, "queue"),
			"--rpc-listen-port", "0", "--watch", file)
		left, _ := filepath.Glob(filepath.Join(dir, "*"))
		if code != exitUsage || !strings.Contains(errs, want) || len(left) != 1 {
			t.Errorf("%s: exit code %d, %q, there is %q", text, code, errs, left)
		}
	}
}
