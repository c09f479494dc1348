//go:build realservers

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// beside starts a worker that can do its work, in a configuration of its own, beside those before.
func (f *fleetRig) beside(settings string) *fleetProcess {
	f.t.Helper()
	dir := filepath.Join(f.t.TempDir(), "braid")
	err := os.Mkdir(dir, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config.toml"), []byte(settings), 0o600)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	f.env = []string{"XDG_CONFIG_HOME=" + filepath.Dir(dir)}
	defer func() { f.env = nil }()
	return f.worker()
}

// TestRealFleetBadWorker: one worker has no uplink, and fails in milliseconds what it takes. It takes no job for longer
// and longer, and the other one does all of them without their waits of half a minute.
func TestRealFleetBadWorker(t *testing.T) {
	t.Parallel()
	f := newFleetRig(t)
	f.answer = 50 * time.Millisecond
	bad := f.start(f.work("--proxy", "http://127.0.0.1:1", "--no-proxy", "none.invalid", "--tries", "1", "--metrics",
		"127.0.0.1:0")...)
	f.await("it is ready", func() bool { return strings.Contains(bad.log.String(), "msg=ready") })
	f.worker()
	names := numbered("a", 120)
	f.publish(20_000, false, names...)
	list := filepath.Join(f.dir, "list")
	var text strings.Builder
	for _, name := range names {
		fmt.Fprintf(&text, "%s/files/%s\n  out=isos/%s\n", f.server.URL, name, name)
	}
	if err := os.WriteFile(list, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	f.braid("get", "-i", list)
	took := f.await("all files", func() bool { return f.right(names...) })
	failed := f.elsewhere(bad)
	t.Logf("%d files in %v, %d tries failed", len(names), took, failed)
	if failed > 60 {
		t.Errorf("%d tries of %d jobs are spent on a worker without uplink", failed, len(names))
	}
	if failed >= 3 {
		f.await("it says so", func() bool {
			return strings.Contains(bad.log.String(), "because its jobs fail") &&
				!strings.Contains(bad.metrics(t), "braid_work_pauses_total 0\n")
		})
	}
}

// retried is what a worker says of a job that waits.
var retried = regexp.MustCompile(`msg="tried again later" .*job=(\S+) .*next=(\S+)`)

// elsewhere returns how often a worker failed. Most of these jobs were done by another one, before this one would have
// tried them again.
func (f *fleetRig) elsewhere(bad *fleetProcess) (failed int) {
	f.t.Helper()
	late, jobs := 0, f.jobs()
	for _, m := range retried.FindAllStringSubmatch(bad.log.String(), -1) {
		next, err := time.Parse(time.RFC3339, m[2])
		if err != nil {
			f.t.Error(err)
		}
		if failed++; jobs[m[1]].Since.After(next) {
			late++
		}
	}
	if late > failed/2 {
		f.t.Errorf("%d of %d jobs waited until they were tried again", late, failed)
	}
	return failed
}

// TestRealFleetLacking: one worker has the password of the server, and does the jobs that another one cannot. Without
// such a worker they are dead when two have said so.
func TestRealFleetLacking(t *testing.T) {
	t.Parallel()
	f := newFleetRig(t)
	f.password = "s3cret"
	lacks := f.worker()
	names := numbered("a", 20)
	f.publish(20_000, false, names...)
	add := func(name string) { f.braid("get", f.server.URL+"/files/"+name) }
	for _, name := range names {
		add(name)
	}
	f.await("it lacks the password", func() bool { return strings.Contains(lacks.log.String(), "tried again later") })
	for name, j := range f.jobs() {
		if j.State == "dead" {
			t.Fatalf("%s is dead, as one worker lacks its password: %s", name, j.Last.Why)
		}
	}
	has := f.beside(fmt.Sprintf("[site.%q]\nheader = \"Authorization: Basic cm9vdDpzM2NyZXQ=\"\n", f.server.URL+"/*"))
	f.await("all are done", func() bool {
		for _, j := range f.jobs() {
			if j.State != "done" {
				return false
			}
		}
		return true
	})
	has.Process.Kill()
	<-has.exited
	f.worker()
	f.publish(20_000, false, "b.iso")
	add("b.iso")
	f.await("two workers lack it", func() bool { return f.jobs()["b.iso"].State == "dead" })
}
