package jetstream

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"braid/fleet"
	"braid/internal/listen"
)

// sockets are those of the command.
var sockets = Socket{listen.Socket, listen.Dial}

// hosted is the server of a folder.
func hosted(t *testing.T, dir string) *Host {
	t.Helper()
	h, err := NewHost(dir, sockets, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

func opened(t *testing.T, h *Host, name string, lease time.Duration) *Queue {
	t.Helper()
	q, err := Open(t.Context(), Options{Host: h, Name: name, Lease: lease, Works: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q
}

func disk(version string) fleet.Job {
	return fleet.Job{Name: "disk.iso", Watch: "disk", Version: version, URIs: []string{"https://example.org/disk.iso"}}
}

func report(t *testing.T, q *Queue, j fleet.Job, want fleet.News) {
	t.Helper()
	if news, err := q.Report(t.Context(), j); news != want || err != nil {
		t.Fatalf("a report is %v, %v; want %v", news, err, want)
	}
}

func next(t *testing.T, q *Queue) *Claim {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	c, err := q.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func record(t *testing.T, q *Queue, name string) fleet.Record {
	t.Helper()
	r, _, err := read[fleet.Record](t.Context(), q.storage.jobs, fleet.KeyOf(name))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// left is how many messages are in the stream.
func left(t *testing.T, q *Queue) uint64 {
	t.Helper()
	s, err := q.storage.js.Stream(t.Context(), streamName)
	if err != nil {
		t.Fatal(err)
	}
	return s.CachedInfo().State.Msgs
}

// TestOneJob_Rule76: reports of one version are one job, which one worker gets, and which is gone with its end.
func TestOneJob_Rule76(t *testing.T) {
	h := hosted(t, t.TempDir())
	a, b := opened(t, h, "a", 0), opened(t, h, "b", 0)
	report(t, a, disk("1"), fleet.Fresh)
	report(t, b, disk("1"), fleet.Again)
	c := next(t, b)
	report(t, a, disk("1"), fleet.Duplicate)
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	if again, err := a.Next(ctx); err == nil {
		t.Fatalf("two workers have a job: %+v", again.Record)
	}
	r, err := c.Finish(t.Context(), fleet.Ending{Kind: fleet.Right, Proof: "sha-256"})
	if err != nil || r.State != fleet.Done {
		t.Fatalf("%v, %s", err, r.State)
	}
	for end := time.Now().Add(time.Minute); left(t, a) != 0; rest(t.Context(), time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d messages of what is done", left(t, a))
		}
	}
	report(t, a, disk("1"), fleet.Duplicate)
	if r := record(t, a, "disk.iso"); r.Good == nil || r.Good.Proof != "sha-256" || r.Good.Worker != "b" {
		t.Errorf("the evidence is %+v", r.Good)
	}
	report(t, a, disk("2"), fleet.Fresh)
	if next := next(t, a); next.Fence() != c.Fence()+1 || next.Record.Job.Version != "2" {
		t.Errorf("version %s under fence %d", next.Record.Job.Version, next.Fence())
	}
}

// TestTakeOver_Rules74_76: the job of a worker that is heard of no more is taken over when its lease has ended, and
// that worker can end it no more.
func TestTakeOver_Rules74_76(t *testing.T) {
	h := hosted(t, t.TempDir())
	a, b := opened(t, h, "a", time.Second), opened(t, h, "b", time.Second)
	report(t, a, disk("1"), fleet.Fresh)
	late := next(t, a)
	began := time.Now()
	late.cancel(errors.New("stopped")) // its lease is prolonged no more, as that of a process that was stopped
	c := next(t, b)
	if took := time.Since(began); took < 500*time.Millisecond {
		t.Errorf("taken over after %v, of a lease of a second", took)
	}
	if err := late.Confirm(t.Context()); !lost(err) {
		t.Errorf("the first worker may go on: %v", err)
	}
	if _, err := late.Finish(t.Context(), fleet.Ending{Kind: fleet.Right}); !lost(err) {
		t.Errorf("the first worker ends it: %v", err)
	}
	if _, err := c.Finish(t.Context(), fleet.Ending{Kind: fleet.Right}); err != nil {
		t.Errorf("the second worker cannot end it: %v", err)
	}
	if r := record(t, a, "disk.iso"); r.State != fleet.Done || r.Good.Worker != "b" || r.Good.Fence != late.Fence()+1 {
		t.Errorf("%s by %+v", r.State, r.Good)
	}
}

func lost(err error) bool {
	_, ok := errors.AsType[*fleet.LostError](err)
	return ok
}

// TestProlong: a worker that is at work keeps its job for longer than a lease.
func TestProlong(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	a, b := opened(t, h, "a", fleet.ShortestLease), opened(t, h, "b", fleet.ShortestLease)
	report(t, a, disk("1"), fleet.Fresh)
	c := next(t, a)
	c.Tell(fleet.Progress{Done: 5, Size: 10}, 5)
	ctx, stop := context.WithTimeout(t.Context(), fleet.ShortestLease*3/2)
	defer stop()
	if taken, err := b.Next(ctx); err == nil {
		t.Fatalf("taken from a worker at work: %+v", taken.Record.Lease)
	}
	if r := record(t, b, "disk.iso"); c.Context.Err() != nil || r.Progress.Done != 5 {
		t.Errorf("%v, %+v", c.Context.Err(), r.Progress)
	}
}

// TestOrderlyEnd: what is given back is taken by another, and not when its lease has ended, which is long after the
// time that it is waited for.
func TestOrderlyEnd(t *testing.T) {
	h := hosted(t, t.TempDir())
	a, b := opened(t, h, "a", fleet.LongestLease), opened(t, h, "b", fleet.LongestLease)
	report(t, a, disk("1"), fleet.Fresh)
	if err := next(t, a).Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	next(t, b)
}

// TestWrong: what is wrong waits, is given up at last, and revived by a report and by Retry, also soon after.
func TestWrong(t *testing.T) {
	q := opened(t, hosted(t, t.TempDir()), "a", 0)
	report(t, q, disk("1"), fleet.Fresh)
	r, err := next(t, q).Finish(t.Context(), fleet.Ending{Kind: fleet.Wrong, Why: "another digest"})
	if wait := r.Next.Sub(r.Since); err != nil || r.State != fleet.Waiting || wait != 5*time.Minute || left(t, q) != 1 {
		t.Fatalf("%v, %s for %v, %d messages", err, r.State, wait, left(t, q))
	}
	for range 2 {
		if ok, err := q.Retry(t.Context(), fleet.KeyOf("disk.iso")); !ok || err != nil {
			t.Fatalf("%t, %v", ok, err)
		}
		r, err = next(t, q).Finish(t.Context(), fleet.Ending{Kind: fleet.Useless, Why: "no password"})
		if err != nil || r.State != fleet.Dead || r.Last.Why != "no password" {
			t.Fatalf("%v, %+v", err, r)
		}
	}
	report(t, q, disk("1"), fleet.Fresh)
	next(t, q).Finish(t.Context(), fleet.Ending{Kind: fleet.Right})
	if ok, err := q.Retry(t.Context(), fleet.KeyOf("disk.iso")); ok || err != nil {
		t.Errorf("what is done is tried again: %v", err)
	}
	if ok, err := q.Drop(t.Context(), fleet.KeyOf("disk.iso")); !ok || err != nil {
		t.Errorf("not dropped: %v", err)
	}
	if all, err := q.All(t.Context()); len(all) != 0 || err != nil {
		t.Errorf("left: %v, %v", all, err)
	}
}

// TestNewer: what is reported while a worker has the job comes after it.
func TestNewer(t *testing.T) {
	q := opened(t, hosted(t, t.TempDir()), "a", 0)
	report(t, q, disk("1"), fleet.Fresh)
	c := next(t, q)
	report(t, q, disk("2"), fleet.Later)
	if _, err := c.Finish(t.Context(), fleet.Ending{Kind: fleet.Right}); err != nil {
		t.Fatal(err)
	}
	if c := next(t, q); c.Record.Job.Version != "2" {
		t.Errorf("version %s", c.Record.Job.Version)
	}
}

// TestPause: while the queue is drained no worker takes a job.
func TestPause(t *testing.T) {
	h := hosted(t, t.TempDir())
	a, b := opened(t, h, "a", 0), opened(t, h, "b", 0)
	if err := a.Pause(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	for !b.Paused() {
		rest(t.Context(), time.Millisecond)
	}
	report(t, a, disk("1"), fleet.Fresh)
	ctx, stop := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer stop()
	if _, err := b.Next(ctx); err == nil {
		t.Fatal("taken though the queue is drained")
	}
	if c := opened(t, h, "c", 0); !c.Paused() {
		t.Error("a new process does not know that the queue is drained")
	}
	if err := a.Pause(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	next(t, b)
}

// TestLead: one of several leads, with what the one before has kept, and another when it resigns or is heard of no more.
func TestLead(t *testing.T) {
	t.Parallel()
	h := hosted(t, t.TempDir())
	a, b := opened(t, h, "a", fleet.ShortestLease), opened(t, h, "b", fleet.ShortestLease)
	first, err := a.Lead(t.Context(), "isos", "1", "feeds", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		first.Keep("feeds", "one", []byte{byte(i)})
	}
	first.Keep("feeds", "gone", []byte("x"))
	first.Keep("watches", "https://example.org/*", []byte("two"))
	if err := first.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	first.Keep("feeds", "gone", nil)
	found, leads := make(chan Leader, 9), make(chan *Lead)
	follow := func(q *Queue) {
		l, err := q.Lead(t.Context(), "isos", "2", "feeds", func(l Leader) { found <- l })
		if err != nil {
			t.Error(err)
		}
		leads <- l
	}
	go follow(b)
	if l := <-found; l.Holder != "a" || l.Print != "1" {
		t.Errorf("found %+v", l)
	}
	if err := rest(t.Context(), fleet.ShortestLease*3/2); err != nil || first.Context.Err() != nil {
		t.Fatal("the first leads no more")
	}
	if err := first.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := <-leads
	got := map[string]string{}
	if err := second.Kept(t.Context(), func(b, k string, v []byte) { got[b+" "+k] = string(v) }); err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"feeds one": "\x02",
		"watches https://example.org/*": "two"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("kept is %q, want %q", got, want)
	}
	b.storage.conn.Close() // as if its process was killed
	go follow(a)
	if l := <-leads; l.fence != 3 {
		t.Errorf("fence %d", l.fence)
	}
	<-second.Context.Done()
}

// TestKeepLarge: a value that is larger than the server takes is passed over, and keeps none of the others.
func TestKeepLarge(t *testing.T) {
	t.Parallel()
	l, err := opened(t, hosted(t, t.TempDir()), "a", 0).Lead(t.Context(), "isos", "1", "feeds", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		l.Keep("feeds", fmt.Sprint(i), []byte("x"))
	}
	l.Keep("feeds", "large", make([]byte, mostPayload))
	if err := l.Resign(t.Context()); err != nil || len(l.pending) > 0 {
		t.Errorf("%v; %d values are not stored", err, len(l.pending))
	}
}

// TestHosts: when the process with the server ends, another one runs it, with everything that is stored.
func TestHosts(t *testing.T) {
	dir := t.TempDir()
	one := hosted(t, dir)
	a := opened(t, one, "a", 0)
	report(t, a, disk("1"), fleet.Fresh)
	two := hosted(t, dir)
	b := opened(t, two, "b", 0)
	one.Close()
	c := next(t, b)
	if _, err := c.Finish(t.Context(), fleet.Ending{Kind: fleet.Right}); err != nil {
		t.Fatal(err)
	}
	report(t, a, disk("2"), fleet.Fresh)
}

func TestURLs(t *testing.T) {
	for url, want := range map[string]string{
		"nats://127.0.0.1:4222":              "",
		"nats://localhost,nats://[::1]:4223": "",
		"tls://nats.example.org:4222":        "",
		"nats://nats.example.org": "nats.example.org is another machine, and everything would cross the " +
			"network unencrypted",
		"nats://127.0.0.1,nats://192.0.2.1": "192.0.2.1 is another machine, and everything would cross the network " +
			"unencrypted",
		"redis://127.0.0.1":               "write embedded, embedded:FOLDER, nats://127.0.0.1:4222 or tls://HOST:4222",
		"nats://127.0.0.1:4222/somewhere": "write embedded, embedded:FOLDER, nats://127.0.0.1:4222 or tls://HOST:4222",
		"nats.example.org":                "write embedded, embedded:FOLDER, nats://127.0.0.1:4222 or tls://HOST:4222",
		"nats://127.0.0.1.example.org": "127.0.0.1.example.org is another machine, and everything would cross " +
			"the network unencrypted",
		"tls://nats.example.org,nats://1.2.3.4": "1.2.3.4 is another machine, and everything would cross the network unencrypted",
	} {
		got := ""
		if err := CheckURL(url); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}
