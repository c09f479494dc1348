package jetstream

import (
	"context"
	"testing"
	"time"

	"braid/fleet"
)

// TestWorkersAnswer: those that work say what they do, whenever they are asked, and without them nothing is waited for.
func TestWorkersAnswer(t *testing.T) {
	h := hosted(t, t.TempDir())
	asks, err := Open(t.Context(), Options{Host: h, Name: "asks"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(asks.Close)
	// once it is that fast, unless none is waited for
	for took, end := answerTime, time.Now().Add(time.Minute); took > answerTime/2; {
		began := time.Now()
		all, err := asks.Workers(t.Context())
		if took = time.Since(began); err != nil || len(all) != 0 || began.After(end) {
			t.Fatalf("without workers: %+v, %v, after %v", all, err, took)
		}
	}
	a := opened(t, h, "a", 0)
	told := make(chan string, 100)
	asks.Follow(func(key string, r *fleet.Record) {
		switch {
		case key == "":
			told <- "all"
		case r == nil:
			told <- "dropped"
		default:
			told <- string(r.State)
		}
	})
	last := ""
	expect := func(want string) {
		t.Helper()
		for {
			select {
			case got := <-told:
				if got == last { // its lease was prolonged
					continue
				}
				if last = got; got != want {
					t.Fatalf("told of %s, want %s", got, want)
				}
				return
			case <-time.After(time.Minute):
				t.Fatalf("never told of %s", want)
			}
		}
	}
	answers := func(doing int) []fleet.Worker {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; {
			all, err := asks.Workers(t.Context())
			if err == nil && len(all) == 1 && len(all[0].Doing) == doing { // one that is late is not among them
				return all
			}
			if time.Now().After(end) {
				t.Fatalf("workers say %+v, %v", all, err)
			}
		}
	}
	expect("all")
	report(t, asks, disk("1"), fleet.Fresh)
	expect("queued")
	c := next(t, a)
	expect("running")
	c.Tell(fleet.Progress{Done: 1, Size: 2, Speed: 3, Sources: 4}, 1)
	all := answers(1)
	if all[0].Name != "a" || all[0].Doing[0] != (fleet.Doing{Key: fleet.KeyOf("disk.iso"), Fence: c.Fence(),
		Progress: fleet.Progress{Done: 1, Size: 2, Speed: 3, Sources: 4}}) {
		t.Fatalf("workers say %+v", all)
	}
	if n, err := asks.Unfinished(t.Context()); n != 1 || err != nil {
		t.Errorf("%d jobs are unfinished, %v", n, err)
	}
	if _, err := c.Finish(t.Context(), fleet.Ending{Kind: fleet.Right}); err != nil {
		t.Fatal(err)
	}
	expect("done")
	answers(0)
	if _, err := asks.Drop(t.Context(), fleet.KeyOf("disk.iso")); err != nil {
		t.Fatal(err)
	}
	expect("dropped")
}

// TestWithdraw: the job of a worker that is not wanted any more ends there, and a job of the same name that comes later
// is under a later fence: what the first worker has left has another name.
func TestWithdraw(t *testing.T) {
	h := hosted(t, t.TempDir())
	a, b := opened(t, h, "a", time.Second), opened(t, h, "b", time.Second)
	report(t, a, disk("1"), fleet.Fresh)
	c := next(t, a)
	key := fleet.KeyOf("disk.iso")
	if err := b.Withdraw(t.Context(), key, "another"); err != nil || record(t, b, "disk.iso").State != fleet.Running {
		t.Fatalf("the job of another watch: %v", err)
	}
	if err := b.Withdraw(t.Context(), key, "disk"); err != nil || record(t, b, "disk.iso").State != "" {
		t.Fatalf("the own job: %v", err)
	}
	if err := b.Withdraw(t.Context(), key, "disk"); err != nil {
		t.Fatalf("a job that is not there: %v", err)
	}
	select {
	case <-c.Context.Done():
	case <-time.After(time.Minute):
		t.Fatal("its worker goes on")
	}
	if !lost(context.Cause(c.Context)) {
		t.Errorf("its worker ends by %v", context.Cause(c.Context))
	}
	if _, err := c.Finish(t.Context(), fleet.Ending{Kind: fleet.Right}); !lost(err) {
		t.Errorf("its worker may end it: %v", err)
	}
	report(t, a, disk("1"), fleet.Fresh)
	if again := next(t, b); again.Fence() <= c.Fence() {
		t.Errorf("under fence %d, after %d", again.Fence(), c.Fence())
	}
}
