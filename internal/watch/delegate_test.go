package watch

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/antenna"
	"braid/daemon/queue"
)

// TestDaemonWatchGoneAtOnce: it is seen without a wait that it is not configured.
func TestDaemonWatchGoneAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &Delegate{service: &service{}}
		w.current.Store(&setup{updater: &Updater{}})
		began := time.Now()
		if _, err := w.Request(t.Context(), queue.Entry{Watch: "w", URIs: []string{"http://h/a"}}); err == nil ||
			time.Since(began) > 0 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// TestDaemonWatchGID: entries of one watch differ in their first digits, and those of one file have its half.
func TestDaemonWatchGID(t *testing.T) {
	seen := map[string]bool{}
	for i := range 200 {
		u := antenna.Update{Watch: "w", URL: "http://h/a"}
		u.Record.Size = int64(i)
		g := gidOf(&u)
		seen[g.String()[:6]] = true
		if e, first := (queue.Entry{GID: g}),
			(queue.Entry{GID: gidOf(&antenna.Update{Watch: "w", URL: "http://h/a"})}); fileOf(&e) != fileOf(&first) {
			t.Fatalf("%s is of another file", g)
		}
	}
	if len(seen) < 198 {
		t.Errorf("200 GIDs begin in %d ways", len(seen))
	}
}

// TestDaemonWatchRemovedFailure: the version of an entry that failed is not tried again once the user removed the entry.
func TestDaemonWatchRemovedFailure(t *testing.T) {
	u := antenna.Update{Watch: "w", URL: "http://h/a"}
	e := queue.Entry{GID: gidOf(&u), URIs: []string{u.URL}, Watch: u.Watch}
	now, q := time.Now(), queue.New(1)
	if _, err := q.Add(now, e, -1); err != nil {
		t.Fatal(err)
	}
	q.Begin(now, e.GID)
	q.Ended(now, e.GID, queue.Outcome{Kind: "no-evidence", Attempts: 1})
	if old, _ := q.Entry(e.GID); old.Status != queue.Failed {
		t.Fatalf("the entry is %v", old.Status)
	}
	if err := q.Remove(now, e.GID); err != nil {
		t.Fatal(err)
	}
	c := &handover{stopped: make(chan stopped, 1)}
	if err := new(Delegate).enter(q, &u, e, c); err != nil || len(c.stopped) != 1 || (<-c.stopped).Status != queue.Removed {
		t.Errorf("the version is tried again: %v", err)
	}
}

// TestDaemonWatchTaken: an update does not take the end of a client's download with its GID for its own.
func TestDaemonWatchTaken(t *testing.T) {
	u := antenna.Update{Watch: "w", URL: "http://h/a"}
	q := queue.New(1)
	if _, err := q.Add(time.Now(), queue.Entry{GID: gidOf(&u), URIs: []string{"http://h/other"}}, -1); err != nil {
		t.Fatal(err)
	}
	err := new(Delegate).enter(q, &u, queue.Entry{GID: gidOf(&u), URIs: []string{u.URL}, Watch: u.Watch}, &handover{})
	if err == nil || !strings.Contains(err.Error(), "another download") {
		t.Error(err)
	}
}
