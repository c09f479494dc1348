package fleet

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"
)

var t0 = time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)

func job(version string) Job {
	return Job{Name: "isos/disk.iso", Watch: "disk", Version: version, URIs: []string{"https://example.org/disk.iso"}}
}

// taken returns a record that worker has taken, and its fence.
func taken(t *testing.T, worker string, now time.Time) (*Record, uint64) {
	t.Helper()
	r := &Record{}
	if _, err := r.Report(job("1"), now); err != nil {
		t.Fatal(err)
	}
	if err := r.Take(worker, now, UsualLease); err != nil {
		t.Fatal(err)
	}
	return r, r.Lease.Fence
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func TestReports(t *testing.T) {
	other := job("1")
	other.Watch = "another"
	for _, tt := range []struct {
		name   string
		before func(*Record)
		report Job
		want   News
		err    bool
		state  State
	}{
		{"the first", func(*Record) {}, job("1"), Fresh, false, Queued},
		{"twice", func(r *Record) { r.Report(job("1"), t0) }, job("1"), Again, false, Queued},
		{"a newer one of a queued one", func(r *Record) { r.Report(job("1"), t0) }, job("2"), Fresh, false, Queued},
		{"where another program has stored one", func(r *Record) { *r = Record{State: Queued} },
			Job{Name: "isos/disk.iso", URIs: []string{"x"}}, Duplicate, true, Queued},
		{"of another watch", func(r *Record) { r.Report(job("1"), t0) }, other, Duplicate, true, Queued},
		{"of a running one", func(r *Record) { run(r) }, job("1"), Duplicate, false, Running},
		{"a newer one of a running one", func(r *Record) { run(r) }, job("2"), Later, false, Running},
		{"a newer one twice", func(r *Record) { run(r); r.Report(job("2"), t0) }, job("2"), Duplicate, false, Running},
		{"the old one after a newer one", func(r *Record) { run(r); r.Report(job("2"), t0) }, job("1"), Later, false, Running},
		{"of one that is done", func(r *Record) { run(r); end(r, Right) }, job("1"), Duplicate, false, Done},
		{"a newer one of one that is done", func(r *Record) { run(r); end(r, Right) }, job("2"), Fresh, false, Queued},
		{"of another watch when it is done", func(r *Record) { run(r); end(r, Right) }, other, Fresh, false, Queued},
		{"of one that waits", func(r *Record) { run(r); end(r, Wrong) }, job("1"), Duplicate, false, Waiting},
		{"a newer one of one that waits", func(r *Record) { run(r); end(r, Wrong) }, job("2"), Fresh, false, Queued},
		{"of a dead one", func(r *Record) { run(r); end(r, Useless) }, job("1"), Fresh, false, Queued},
	} {
		var r Record
		tt.before(&r)
		fence := r.Lease.Fence
		got, err := r.Report(tt.report, t0)
		if got != tt.want || is[*TakenError](err) != tt.err || r.State != tt.state || r.Lease.Fence != fence {
			t.Errorf("%s: %v, %v, state %s, fence %d; want %v, %s, %d", tt.name, got, err, r.State, r.Lease.Fence,
				tt.want, tt.state, fence)
		}
	}
}

func run(r *Record) {
	r.Report(job("1"), t0)
	r.Take("a", t0, UsualLease)
}

func end(r *Record, k Kind) { r.Finish("a", r.Lease.Fence, Ending{Kind: k}, t0) }

// TestSchedule checks that a wrong file is tried again after 5 minutes, an hour and 6 hours, and that the job is dead
// after that until it is reported again.
func TestSchedule(t *testing.T) {
	r, now := &Record{}, t0
	r.Report(job("1"), now)
	for _, wait := range []time.Duration{5 * time.Minute, time.Hour, 6 * time.Hour, 0} {
		if err := r.Take("a", now, UsualLease); err != nil {
			t.Fatal(err)
		}
		if err := r.Finish("a", r.Lease.Fence, Ending{Kind: Wrong, Why: "another digest"}, now); err != nil {
			t.Fatal(err)
		}
		if wait == 0 {
			break
		}
		if r.State != Waiting || !r.Next.Equal(now.Add(wait)) {
			t.Fatalf("%s until %v, want to wait for %v", r.State, r.Next.Sub(now), wait)
		}
		if err := r.Take("a", r.Next.Add(-time.Second), UsualLease); !is[*EarlyError](err) {
			t.Fatalf("taken before its time: %v", err)
		}
		now = r.Next
	}
	if r.State != Dead || r.Last == nil || r.Last.Why != "another digest" || r.Tries != 4 {
		t.Fatalf("%s after %d tries, with %v", r.State, r.Tries, r.Last)
	}
	if err := r.Take("a", now, UsualLease); !is[*OverError](err) {
		t.Fatalf("a dead one is taken: %v", err)
	}
	if news, _ := r.Report(job("2"), now); news != Fresh || r.State != Queued || r.Wrong != 0 || r.Last.Why == "" {
		t.Fatalf("a new report: %v, %s, %d wrong, %v", news, r.State, r.Wrong, r.Last)
	}
}

// TestFailures checks that a job that failed because of the network is tried again at growing intervals, by another
// worker after a second, and is dead in the end.
func TestFailures(t *testing.T) {
	r, now, waited := &Record{}, t0, time.Duration(0)
	r.Report(job("1"), now)
	for r.State != Dead {
		if err := r.Take("a", now, UsualLease); err != nil {
			t.Fatal(err)
		}
		r.Finish("a", r.Lease.Fence, Ending{Kind: Failed}, now)
		if r.State == Dead {
			break
		}
		if err := r.Take("b", now.Add(elsewhere-1), UsualLease); !is[*EarlyError](err) {
			t.Fatalf("another worker gets it at once: %v", err)
		}
		twin := *r
		if err := twin.Take("b", now.Add(elsewhere), UsualLease); err != nil {
			t.Fatalf("another worker does not get it: %v", err)
		}
		looks := 0
		for at := r.Again(); at.Before(r.Next); looks++ { // times at which the failed worker gets the message again
			var early *EarlyError
			if err := r.Take("a", at, UsualLease); !errors.As(err, &early) || !early.Next.After(at) {
				t.Fatalf("the worker that failed gets it first: %v", err)
			}
			at = early.Next
		}
		if looks > 80 { // every second at first, later every six hours
			t.Errorf("it comes %d times to the worker that failed, in %v", looks, r.Next.Sub(now))
		}
		waited += r.Next.Sub(now)
		now = r.Next
	}
	if r.Tries != mostFailures || waited < 12*time.Hour || waited > 48*time.Hour {
		t.Errorf("given up after %d tries and %v", r.Tries, waited)
	}
}

// TestElsewhere checks that a job that failed is tried by three workers one after the other, which counts as one
// failure, and by none of the others until Next.
func TestElsewhere(t *testing.T) {
	r, now := &Record{}, t0
	r.Report(job("1"), now)
	for _, worker := range []string{"a", "b", "c"} {
		if err := r.Take(worker, now, UsualLease); err != nil {
			t.Fatal(err)
		}
		r.Finish(worker, r.Lease.Fence, Ending{Kind: Failed}, now)
		if r.Failed != 1 || !r.Next.Equal(now.Add(failedBase)) {
			t.Fatalf("after %s: %d failures, until %v", worker, r.Failed, r.Next.Sub(now))
		}
		now = now.Add(elsewhere)
	}
	if err := r.Take("d", now, UsualLease); !is[*EarlyError](err) {
		t.Fatalf("a fourth worker gets it: %v", err)
	}
	now = r.Next
	if err := r.Take("a", now, UsualLease); err != nil {
		t.Fatal(err)
	}
	if r.Finish("a", r.Lease.Fence, Ending{Kind: Failed}, now); r.Failed != 2 || !r.Next.Equal(now.Add(2*failedBase)) {
		t.Fatalf("%d failures, until %v", r.Failed, r.Next.Sub(now))
	}
}

// TestLacks checks that a job for which a worker lacks a password goes to another worker, and is dead if that one lacks
// it too. If there is only one worker, the job is dead after its attempts.
func TestLacks(t *testing.T) {
	lacks := func(r *Record, worker string, now time.Time) {
		t.Helper()
		if err := r.Take(worker, now, UsualLease); err != nil {
			t.Fatal(err)
		}
		if err := r.Finish(worker, r.Lease.Fence, Ending{Kind: Lacks}, now); err != nil {
			t.Fatal(err)
		}
	}
	r := &Record{}
	r.Report(job("1"), t0)
	lacks(r, "a", t0)
	alone, has := *r, *r
	if err := r.Take("a", t0.Add(time.Minute), UsualLease); !is[*EarlyError](err) || r.State != Waiting {
		t.Fatalf("%s: %v", r.State, err)
	}
	if err := has.Take("b", t0.Add(elsewhere), UsualLease); err != nil {
		t.Fatal(err)
	}
	if has.Finish("b", has.Lease.Fence, Ending{Kind: Right}, t0); has.State != Done {
		t.Errorf("at a worker that has it: %s", has.State)
	}
	if lacks(r, "b", t0.Add(elsewhere)); r.State != Dead {
		t.Errorf("after two workers: %s", r.State)
	}
	for range len(wrongWaits) {
		if alone.State != Waiting {
			t.Fatalf("one worker alone: %s after %d tries", alone.State, alone.Tries)
		}
		lacks(&alone, "a", alone.Next)
	}
	if alone.State != Dead || alone.Tries != 4 {
		t.Errorf("one worker alone: %s after %d tries", alone.State, alone.Tries)
	}
}

// TestTakeOver_Rule74 checks that no other worker can take a job before its lease expires, and that after a takeover
// the first worker can neither prolong nor finish it.
func TestTakeOver_Rule74(t *testing.T) {
	r, fence := taken(t, "a", t0)
	if err := r.Take("b", t0.Add(UsualLease-1), UsualLease); !is[*HeldError](err) {
		t.Fatalf("taken while another has it: %v", err)
	}
	if err := r.Prolong("a", fence, Progress{Done: 5}, t0.Add(20*time.Second), UsualLease); err != nil {
		t.Fatal(err)
	}
	if err := r.Take("b", t0.Add(UsualLease), UsualLease); !is[*HeldError](err) {
		t.Fatalf("taken though it was prolonged: %v", err)
	}
	now := t0.Add(20*time.Second + UsualLease)
	if err := r.Take("b", now, UsualLease); err != nil || r.Lease.Fence != fence+1 {
		t.Fatalf("not kept: %v, fence %d", err, r.Lease.Fence)
	}
	before := *r
	for name, err := range map[string]error{
		"prolonged": r.Prolong("a", fence, Progress{}, now, UsualLease),
		"ended":     r.Finish("a", fence, Ending{Kind: Right}, now),
		"released":  r.Release("a", fence, now),
		"ended by the holder under the old fence": r.Finish("b", fence, Ending{Kind: Right}, now),
	} {
		if !is[*LostError](err) {
			t.Errorf("%s by a worker that lost it: %v", name, err)
		}
	}
	if !reflect.DeepEqual(*r, before) {
		t.Errorf("a worker that lost it changed %+v to %+v", before, *r)
	}
	if err := r.Finish("b", fence+1, Ending{Kind: Right, Size: 5}, now); err != nil || r.State != Done || r.Good.Size != 5 {
		t.Errorf("ended: %v, %+v", err, r)
	}
	if err := r.Finish("b", fence+1, Ending{Kind: Failed}, now); !is[*LostError](err) {
		t.Errorf("ended twice: %v", err)
	}
}

// TestOpened_Rule75 checks that the record keeps the ID of an upload for the next worker, and for a job reported later,
// until the object exists. A worker that has lost the job cannot change it.
func TestOpened_Rule75(t *testing.T) {
	r, fence := taken(t, "a", t0)
	if err := r.Opened("a", fence, "one"); err != nil {
		t.Fatal(err)
	}
	now := t0.Add(UsualLease)
	r.Take("b", now, UsualLease)
	if err := r.Opened("a", fence, "late"); !is[*LostError](err) || r.Upload != "one" {
		t.Fatalf("%v, %q", err, r.Upload)
	}
	r.Finish("b", fence+1, Ending{Kind: Useless}, now)
	if r.Report(job("1"), now); r.State != Queued || r.Upload != "one" {
		t.Fatalf("%s, %q", r.State, r.Upload)
	}
	for _, unchanged := range []bool{true, false} {
		again := *r
		again.Take("a", now, UsualLease)
		again.Finish("a", fence+2, Ending{Kind: Right, Unchanged: unchanged}, now)
		if again.State != Done || (again.Upload == "") == unchanged {
			t.Errorf("unchanged %t: %s, %q", unchanged, again.State, again.Upload)
		}
	}
}

// TestLateProlong checks that a worker may prolong an expired lease if no other worker has taken the job.
func TestLateProlong(t *testing.T) {
	r, fence := taken(t, "a", t0)
	if err := r.Prolong("a", fence, Progress{}, t0.Add(5*time.Minute), UsualLease); err != nil {
		t.Fatal(err)
	}
	if err := r.Prolong("a", fence, Progress{}, t0, UsualLease); err != nil ||
		!r.Lease.Until.Equal(t0.Add(5*time.Minute+UsualLease)) {
		t.Fatalf("a clock that went back: %v, until %v", err, r.Lease.Until)
	}
}

// TestOrderlyEnd_Rule76 checks that a released job can be taken at once, and that a version reported meanwhile replaces
// the old one.
func TestOrderlyEnd_Rule76(t *testing.T) {
	r, fence := taken(t, "a", t0)
	r.Report(job("2"), t0)
	if err := r.Release("a", fence, t0); err != nil {
		t.Fatal(err)
	}
	if err := r.Take("b", t0, UsualLease); err != nil || r.Job.Version != "2" || r.Newer != nil {
		t.Fatalf("%v, version %s", err, r.Job.Version)
	}
}

func TestRetry(t *testing.T) {
	for state, want := range map[Kind]bool{Right: false, Wrong: true, Failed: true, Useless: true} {
		r, _ := taken(t, "a", t0)
		if r.Retry(t0) {
			t.Error("a running one is tried again")
		}
		end(r, state)
		if got := r.Retry(t0); got != want || want && (r.State != Queued || r.Wrong+r.Failed != 0) {
			t.Errorf("after %s: %t, %s", state, got, r.State)
		}
	}
}

func TestBehind(t *testing.T) {
	j := job("1")
	if j.Behind(t0) {
		t.Error("behind a report without a date")
	}
	j.Modified = t0
	if j.Behind(t0) || j.Behind(time.Time{}) || !j.Behind(t0.Add(-time.Second)) {
		t.Error("behind is what is older than the report")
	}
}

func Example() {
	var r Record
	now := time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
	news, _ := r.Report(Job{Name: "disk.iso", URIs: []string{"https://example.org/disk.iso"}, Version: "1"}, now)
	fmt.Println(news)
	r.Take("a", now, time.Minute)
	fmt.Println(r.Take("b", now, time.Minute))
	r.Take("b", now.Add(time.Minute), time.Minute)
	fmt.Println(r.Finish("a", 1, Ending{Kind: Right}, now))
	fmt.Println(r.Finish("b", 2, Ending{Kind: Right}, now), r.State)
	// Output:
	// queued
	// leased by a until 2026-11-23T06:01:00Z
	// the lease is now held by b
	// <nil> done
}

// TestPriority checks that a report changes the priority of a queued job, and that the ID of the job stays the same.
func TestPriority(t *testing.T) {
	var r Record
	low := job("1")
	low.Priority = Low
	r.Report(low, t0)
	if news, err := r.Report(job("1"), t0); news != Again || err != nil || r.Job.Priority != Normal || r.Job.ID() != low.ID() {
		t.Errorf("%v, %v, %s", news, err, r.Job.Priority)
	}
	for _, p := range Priorities {
		if got := ParsePriority(p.String()); got != p {
			t.Errorf("%s is read as %s", p, got)
		}
	}
}

// TestClockPutBack_Rule74 checks that a clock that was set back by a day does not block a job, feed or host for that
// day.
func TestClockPutBack_Rule74(t *testing.T) {
	back := t0.Add(-24 * time.Hour)
	r, fence := taken(t, "a", t0)
	if err := r.Prolong("a", fence, Progress{}, back, UsualLease); err != nil || !r.Lease.Until.Equal(back.Add(UsualLease)) {
		t.Errorf("prolonged until %v, %v", r.Lease.Until, err)
	}
	r, fence = taken(t, "a", t0)
	if err := r.Take("b", back, UsualLease); err != nil {
		t.Errorf("its worker was killed: %v", err)
	}
	if err := r.Prolong("a", fence, Progress{}, back, UsualLease); !is[*LostError](err) {
		t.Errorf("two workers have it: %v", err)
	}
	if err := r.Finish("b", r.Lease.Fence, Ending{Kind: Failed}, t0); err != nil {
		t.Fatal(err)
	}
	if err := r.Take("b", back, UsualLease); err != nil {
		t.Errorf("it waits: %v", err)
	}
	var p Pace
	p.Hold(503, time.Minute, t0)
	if wait, _ := p.Held(back); wait != 0 {
		t.Errorf("the host is left alone for %v", wait)
	}
	if !p.Hold(503, time.Minute, back) {
		t.Error("the host cannot ask to be left alone")
	}
}
