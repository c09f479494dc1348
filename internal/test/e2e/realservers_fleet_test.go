//go:build realservers

package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRealFleet: of two watchers one polls, two workers download what is new, once, and what dies is replaced: the
// watcher that polls, and that runs the queue of the machine; a worker that is killed.
func TestRealFleet(t *testing.T) {
	t.Parallel()
	f := newFleetRig(t)
	first := numbered("a", 20)
	f.publish(30_000, false, first...)
	a := f.watcher("watcher-a")
	b := f.watcher("watcher-b")
	one, two := f.worker(), f.worker()
	f.await("the first files", func() bool { return f.right(first...) })
	for name, n := range f.counts(f.gets) {
		if n > 2 {
			t.Errorf("%s was asked for %d times", name, n)
		}
	}
	if polls := f.counts(f.polls); polls["watcher-a"] == 0 || polls["watcher-b"] != 0 {
		t.Errorf("the feed was polled by %v", polls)
	}

	f.await("some polls", func() bool { return f.counts(f.polls)["watcher-a"] >= 4 }) // so that it has left what it knows
	a.Process.Kill()
	<-a.exited
	f.await("another watcher polls", func() bool { return f.counts(f.polls)["watcher-b"] > 0 })
	f.publish(30_000, false, first[0])
	f.publish(5<<20, false, "slow.iso")
	f.await("a newer version, which the other watcher knows to be one", func() bool { return f.right(first[0]) })
	if n := strings.Count(b.log.String(), "reason=first-sight"); n > 1 {
		t.Errorf("%d files are new to the watcher that took over, and one is", n)
	}

	has, _ := f.taken("isos/slow.iso", one, two)
	has.Process.Kill()
	<-has.exited
	f.open("slow.iso")
	took := f.await("the other worker takes it over", func() bool { return f.right("slow.iso") })
	t.Logf("taken over %v after kill -9, with a lease of %s", took, f.lease)
	f.await("all is done", func() bool {
		for _, j := range f.jobs() {
			if j.State != "done" || j.Last.Proof == "" {
				return false
			}
		}
		return true
	})
}

// TestRealFleetStopped_Rules74_75: a worker that is stopped loses its job, and can neither end it nor put its file in
// place when it goes on. One that ends in good order gives its job back at once.
func TestRealFleetStopped_Rules74_75(t *testing.T) {
	t.Parallel()
	f := newFleetRig(t)
	f.watcher("watcher") // which runs the queue, so that it is not stopped with a worker
	one, two := f.worker(), f.worker()
	f.publish(5<<20, false, "slow.iso")
	stale, other := f.taken("isos/slow.iso", one, two)
	stale.Process.Signal(syscall.SIGSTOP)
	f.await("the other has the job", func() bool {
		return strings.Contains(f.jobs()["isos/slow.iso"].Lease.Holder, fmt.Sprintf("/%d/", other.Process.Pid))
	})
	stale.Process.Signal(syscall.SIGCONT)
	f.await("the worker that was stopped finds out",
		func() bool { return strings.Contains(stale.log.String(), "another worker has the job now") })
	f.open("slow.iso")
	f.await("the file", func() bool { return f.right("slow.iso") })
	f.await("the job is done", func() bool { return f.jobs()["isos/slow.iso"].State == "done" })
	if j := f.jobs()["isos/slow.iso"]; !strings.Contains(j.Last.Worker, fmt.Sprintf("/%d/", other.Process.Pid)) {
		t.Errorf("done by %s", j.Last.Worker)
	}

	for _, w := range []*fleetProcess{one, two} {
		w.Process.Signal(syscall.SIGTERM)
		<-w.exited
	}
	f.lease = "10m" // no job comes from a lease that ends
	one, two = f.worker(), f.worker()
	f.publish(5<<20, false, "slow2.iso")
	has, other := f.taken("isos/slow2.iso", one, two)
	has.Process.Signal(syscall.SIGTERM)
	<-has.exited
	took := f.await("the other has it", func() bool {
		return strings.Contains(f.jobs()["isos/slow2.iso"].Lease.Holder, fmt.Sprintf("/%d/", other.Process.Pid))
	})
	t.Logf("given back %v after an orderly end", took)
	f.open("slow2.iso")
	f.await("the second file", func() bool { return f.right("slow2.iso") })
	f.await("nothing unfinished is left", func() bool {
		left, err := os.ReadDir(filepath.Join(f.dir, "out", ".braid-work"))
		return err == nil && len(left) == 1 // only the file with the ID of the folder
	})
}

// TestRealFleetWrong: a file with a wrong digest is asked for again after five minutes; a newer report, or the user, is
// faster. What no try can mend is dead at once, and comes again when that is asked for.
func TestRealFleetWrong(t *testing.T) {
	t.Parallel()
	f := newFleetRig(t)
	f.watcher("watcher")
	f.worker()
	f.publish(20_000, true, "bad.iso")
	f.await("it waits", func() bool { return f.jobs()["isos/bad.iso"].State == "waiting" })
	j := f.jobs()["isos/bad.iso"]
	if wait := j.Next.Sub(j.Since); wait != 5*time.Minute || j.Last.Kind != "wrong" || !strings.Contains(j.Last.Why, "sha-256") {
		t.Errorf("waits %v as it was %s: %s", wait, j.Last.Kind, j.Last.Why)
	}
	if _, err := os.Stat(filepath.Join(f.dir, "out", "isos", "bad.iso")); err == nil {
		t.Error("a file that is wrong is in place")
	}
	f.publish(20_000, false, "bad.iso")
	f.await("a newer report revives it", func() bool { return f.right("bad.iso") })

	if err := os.WriteFile(filepath.Join(f.dir, "out", "kept.iso"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	f.publish(1000, false, "listed.iso")
	list := filepath.Join(f.dir, "list")
	if err := os.WriteFile(list, []byte(f.server.URL+"/files/listed.iso\n  out=kept.iso\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f.braid("get", "-i", list)
	f.await("a file that is there is left alone", func() bool { return f.jobs()["kept.iso"].State == "dead" })
	if data, err := os.ReadFile(filepath.Join(f.dir, "out", "kept.iso")); string(data) != "mine" {
		t.Errorf("it is %q now, %v", data, err)
	}
	os.Remove(filepath.Join(f.dir, "out", "kept.iso"))
	f.braid("queue", "retry", "--all")
	f.await("retried", func() bool { return f.jobs()["kept.iso"].State == "done" })
	if out := f.braid("get", "-i", list); !strings.Contains(out, "1 already known") {
		t.Errorf("the same entry again: %s", out)
	}
	f.await("the feed's own job of it", func() bool { return f.jobs()["isos/listed.iso"].State == "done" })
	f.braid("queue", "drop", "kept.iso")
	f.braid("queue", "drain")
	f.braid("get", "-i", list)
	if status := f.braid("queue", "status"); !strings.Contains(status, "queued   1") || !strings.Contains(status, "drained") {
		t.Errorf("status of a drained queue:\n%s", status)
	}
	f.braid("queue", "drain", "--end")
	f.await("taken again", func() bool { return f.jobs()["kept.iso"].State == "done" })
}

// TestRealFleetPriorities: a worker takes the job that matters most, whatever the order in which they came.
func TestRealFleetPriorities(t *testing.T) {
	t.Parallel()
	f := newFleetRig(t)
	f.publish(1000, false, "a.iso", "b.iso", "c.iso", "d.iso")
	lines := ""
	for i, priority := range []string{"low", "normal", "low", "high"} {
		lines += fmt.Sprintf("%s/files/%c.iso\n  priority=%s\n", f.server.URL, 'a'+i, priority)
	}
	list := filepath.Join(f.dir, "list")
	if err := os.WriteFile(list, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	f.braid("get", "-i", list)
	f.start("work", "--to", f.to, "-j", "1")
	var all map[string]fleetJob
	f.await("all are done", func() bool {
		all = f.jobs()
		for _, j := range all {
			if j.State != "done" {
				return false
			}
		}
		return true
	})
	order := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return all[a].Since.Compare(all[b].Since) })
	if want := "[d.iso b.iso a.iso c.iso]"; fmt.Sprint(order) != want {
		t.Errorf("done in the order %v, want %s", order, want)
	}
}
