//go:build realservers

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// daemon starts one that puts its downloads into the queue.
func (f *fleetRig) daemon() *fleetProcess {
	f.t.Helper()
	p := f.start("daemon", "-d", filepath.Join(f.dir, "root"), "--state", filepath.Join(f.dir, "daemon"),
		"--rpc-listen-port", "0")
	f.await("a daemon is ready", func() bool { return strings.Contains(p.log.String(), "msg=ready") })
	return p
}

// control asks the daemon.
func (f *fleetRig) control(verb string, args ...string) (string, error) {
	cmd := exec.Command(binary, append([]string{verb, "--state", filepath.Join(f.dir, "daemon")}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+f.dir, "XDG_STATE_HOME="+filepath.Join(f.dir, "state"), "XDG_CONFIG_HOME="+f.dir)
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// A fleetEntry is what braid status says of an entry of the daemon.
type fleetEntry struct {
	Status                       string
	TotalLength, CompletedLength int64 `json:",string"`
	Files                        []struct{ Path string }
	Braid                        struct{ Verified, Message, Worker string }
}

// entry is what the daemon says of a file that was added by its URL.
func (f *fleetRig) entry(gid string) (e fleetEntry) {
	f.t.Helper()
	out, err := f.control("status", "--json", gid)
	if err != nil || json.Unmarshal([]byte(out), &e) != nil {
		f.t.Fatalf("%v: %s", err, out)
	}
	return e
}

func (f *fleetRig) add(args ...string) (gid string) {
	f.t.Helper()
	gid, err := f.control("add", args...)
	if err != nil {
		f.t.Fatal(gid)
	}
	return gid
}

func (f *fleetRig) awaitEntry(gid, status string) (e fleetEntry) {
	f.t.Helper()
	f.await("the entry is "+status, func() bool { e = f.entry(gid); return e.Status == status })
	return e
}

// TestRealFleetDaemon: what is added to a daemon with --queue is a job, and its entry is what the job is: it waits, is
// active at a worker, is complete or has failed with its evidence. Paused or removed it is no job, and resumed it is
// one again.
func TestRealFleetDaemon(t *testing.T) {
	t.Parallel()
	f := newFleetRig(t)
	f.publish(4<<20, false, "slow.iso", "slow-gone.iso")
	f.publish(20_000, false, "a.iso", "b.iso", "taken.iso")
	d := f.daemon()
	at := f.server.URL + "/files/"
	a, slow := f.add(at+"a.iso"), f.add("-d", filepath.Join(f.dir, "root", "sub"), at+"slow.iso")
	f.await("both are jobs", func() bool {
		return f.jobs()["a.iso"].State == "queued" &&
			f.jobs()["sub/slow.iso"].State == "queued"
	})
	if e := f.entry(a); e.Status != "waiting" {
		t.Errorf("without a worker it is %+v", e)
	}
	if _, err := f.control("pause", a); err != nil {
		t.Fatal(err)
	}
	f.await("a paused entry is no job", func() bool { return len(f.jobs()) == 1 })
	f.start("work", "--to", f.to, "--lowest-speed-limit", "0", "--lease", f.lease, "-v")
	half := f.awaitEntry(slow, "active")
	f.await("it says how far it is", func() bool {
		half = f.entry(slow)
		return half.CompletedLength >= 2<<20 && half.TotalLength == 4<<20 && strings.Contains(half.Braid.Worker, "/")
	})
	if _, err := f.control("resume", a); err != nil {
		t.Fatal(err)
	}
	if e := f.awaitEntry(a, "complete"); !strings.Contains(e.Braid.Verified, "sha-256") ||
		!strings.HasSuffix(e.Files[0].Path, "/out/a.iso") || e.TotalLength != 20_000 {
		t.Errorf("its evidence is %+v", e)
	}

	d.Process.Kill() // while a worker has the job
	<-d.exited
	f.daemon()
	f.awaitEntry(slow, "active")
	f.open("slow.iso")
	f.awaitEntry(slow, "complete")
	if got := f.counts(f.gets)["slow.iso"]; got > 2 { // HEAD or not, and one GET
		t.Errorf("slow.iso was asked for %d times", got)
	}

	gone := f.add(at + "slow-gone.iso")
	f.awaitEntry(gone, "active")
	if _, err := f.control("remove", gone); err != nil {
		t.Fatal(err)
	}
	f.await("a removed entry is no job", func() bool { _, is := f.jobs()["slow-gone.iso"]; return !is })

	// a file that is there already, and may not be replaced
	if err := os.WriteFile(filepath.Join(f.to, "taken.iso"), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	taken := f.add(at + "taken.iso")
	if e := f.awaitEntry(taken, "error"); !strings.Contains(e.Braid.Message, "taken.iso") {
		t.Errorf("it failed as %+v", e)
	}
	if err := os.Remove(filepath.Join(f.to, "taken.iso")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.control("resume", taken); err != nil {
		t.Fatal(err)
	}
	f.awaitEntry(taken, "complete")
	if e := f.awaitEntry(f.add("http://me:word@"+strings.TrimPrefix(at, "http://")+"b.iso"),
		"error"); !strings.Contains(e.Braid.Message, "a queue stores no passwords") || strings.Contains(e.Braid.Message,
		"word@") {
		t.Errorf("it failed as %+v", e)
	}
}

// TestRealFleetDaemonKilled: whenever the daemon is killed, what it has accepted becomes one job, and is done once.
func TestRealFleetDaemonKilled(t *testing.T) {
	t.Parallel()
	f := newFleetRig(t)
	worker := f.worker() // which has the queue
	names := numbered("f", 24)
	f.publish(5_000, false, names...)
	gids := map[string]string{}
	d := f.daemon()
	for i, name := range names {
		gids[name] = f.add("-o", "isos/"+name, f.server.URL+"/files/"+name)
		if i%4 == 3 { // at once, or some ms later: before it is a job, while it becomes one, or is done
			time.Sleep(time.Duration(i) * 10 * time.Millisecond)
			d.Process.Kill()
			<-d.exited
			d = f.daemon()
		}
	}
	for name, gid := range gids {
		if e := f.awaitEntry(gid, "complete"); !strings.HasSuffix(e.Files[0].Path, "/out/isos/"+name) {
			t.Errorf("%s is %+v", name, e)
		}
	}
	if !f.right(names...) {
		t.Error("not all of them are right")
	}
	for name, j := range f.jobs() {
		if j.State != "done" || j.Tries != 1 {
			t.Errorf("%s is %s after %d tries", name, j.State, j.Tries)
		}
	}
	// A job is done before its worker says so.
	f.await("the worker says that all are done",
		func() bool { return strings.Count(worker.log.String(), "msg=done") >= len(names) })
	if done := strings.Count(worker.log.String(), "msg=done"); done != len(names) || len(f.jobs()) != len(names) {
		t.Errorf("%d of %d jobs were done, of %d files", done, len(f.jobs()), len(names))
	}
}

// TestRealFleetDaemonAlone: a daemon knows what becomes of its jobs also after the process that ran the queue was killed.
func TestRealFleetDaemonAlone(t *testing.T) {
	t.Parallel()
	f := newFleetRig(t)
	first := f.worker() // which has the queue
	f.publish(5_000, false, "a.iso", "b.iso")
	f.daemon()
	f.worker()
	f.awaitEntry(f.add(f.server.URL+"/files/a.iso"), "complete")
	first.Process.Kill()
	<-first.exited
	began := time.Now()
	f.awaitEntry(f.add(f.server.URL+"/files/b.iso"), "complete")
	t.Logf("seen after %v", time.Since(began)) // a library that is left to itself finds out after ten seconds and more
}

// TestRealFleetDaemonMoved_Rule76: a daemon that begins again with another folder makes no second job of an entry that is one.
func TestRealFleetDaemonMoved_Rule76(t *testing.T) {
	t.Parallel()
	f := newFleetRig(t)
	f.publish(20_000, false, "a.iso")
	root := filepath.Join(f.dir, "root")
	d := f.daemon()
	gid := f.add(f.server.URL + "/files/a.iso")
	f.await("it is a job", func() bool { return f.jobs()["a.iso"].State == "queued" })
	d.Process.Kill()
	<-d.exited
	d = f.start("daemon", "-d", filepath.Join(root, "sub"), "--root", root, "--state", filepath.Join(f.dir, "daemon"),
		"--rpc-listen-port", "0")
	f.await("a daemon is ready", func() bool { return strings.Contains(d.log.String(), "msg=ready") })
	next := f.add(f.server.URL+"/files/a.iso", "-o", "b.iso")
	f.await("what comes next is a job", func() bool { return f.jobs()["sub/b.iso"].State == "queued" })
	if jobs := f.jobs(); len(jobs) != 2 {
		t.Errorf("two entries are the jobs %v", jobs)
	}
	f.worker()
	f.awaitEntry(gid, "complete")
	f.awaitEntry(next, "complete")
}
