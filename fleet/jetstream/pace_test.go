package jetstream

import (
	"fmt"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"braid/fleet"
)

func unlimited(*url.URL) fleet.Limit { return fleet.Limit{} }

// TestPace: what a host said to one worker holds for the others, and all have its turns together.
func TestPace(t *testing.T) {
	h := hosted(t, t.TempDir())
	a, b := opened(t, h, "a", 0).Pacer(4, unlimited), opened(t, h, "b", 0).Pacer(4, unlimited)
	a.patience, b.patience = time.Minute, time.Minute
	began := time.Now()
	a.Hold("one:80", 503, time.Minute, began)
	for {
		if wait, status := b.Held("one:80", time.Now()); wait > 0 {
			if status != 503 || wait > time.Minute {
				t.Errorf("held for %v after %d", wait, status)
			}
			break
		}
		rest(t.Context(), time.Millisecond)
	}
	if wait, _ := b.Held("two:80", time.Now()); wait > 0 {
		t.Error("another host is held, too")
	}
	last := time.Duration(0)
	for range 15 {
		last = max(last, a.Turn(t.Context(), "two:80", 10, began), b.Turn(t.Context(), "two:80", 10, began))
	}
	if last < 2800*time.Millisecond || last > 3200*time.Millisecond {
		t.Errorf("the last of 30 turns, ten a second, is after %v", last)
	}
}

// TestPaceOfFew: workers that ask a host now and then leave its turns to each other.
func TestPaceOfFew(t *testing.T) {
	h := hosted(t, t.TempDir())
	a, b := opened(t, h, "a", 0).Pacer(4, unlimited), opened(t, h, "b", 0).Pacer(4, unlimited)
	a.patience, b.patience = time.Minute, time.Minute
	now := time.Now()
	for range 20 {
		for _, p := range []*Pacer{a, b} {
			if wait := p.Turn(t.Context(), "one:80", 100, now); wait > 50*time.Millisecond {
				t.Fatalf("a host that gets 100 requests a second, and 20 are wanted, is asked after %v", wait)
			}
			now = now.Add(50 * time.Millisecond)
		}
	}
}

// A limited counts what it is set to.
type limited struct{ rate, passed atomic.Int64 }

func (l *limited) Set(n int64)   { l.rate.Store(n) }
func (l *limited) Passed() int64 { return l.passed.Load() }

// TestShares: what a host is to send is divided between those that it sends to, and those that have gone leave theirs
// to the others. That they never have more than all of it together, in virtual time, is shown by the fleet that is
// simulated.
func TestShares(t *testing.T) {
	t.Parallel()
	const whole = 20 << 20
	h := hosted(t, t.TempDir())
	a, b := opened(t, h, "a", 0).Pacer(4, unlimited), opened(t, h, "b", 0).Pacer(4, unlimited)
	var one, two limited
	await := func(what string, ok func() bool) {
		t.Helper()
		for began := time.Now(); !ok(); rest(t.Context(), 10*time.Millisecond) {
			if time.Since(began) > time.Minute {
				t.Fatalf("%s: %d and %d, of %d", what, one.rate.Load(), two.rate.Load(), whole)
			}
		}
	}
	end := a.Share("one:80", whole, &one)
	await("one alone has all", func() bool { return one.rate.Load() == whole })
	endToo, again := b.Share("one:80", whole, &two), b.Share("one:80", whole, &two)
	await("both have half", func() bool { return one.rate.Load() == whole/2 && two.rate.Load() == whole/2 })
	end()
	again()
	await("the other has all", func() bool { return one.rate.Load() == leastShare && two.rate.Load() == whole })
	endToo()
}

// TestLine: a job of a host that is behind waits in the queue, and not in a worker; it keeps its place, and others are
// taken meanwhile. It is begun when it is its turn, and that it was given back does not count as a try.
func TestLine(t *testing.T) {
	t.Parallel()
	q := opened(t, hosted(t, t.TempDir()), "a", 0)
	q.Pacer(4, func(u *url.URL) fleet.Limit {
		if u.Host == "slow.example" {
			return fleet.Limit{Requests: 0.3}
		}
		return fleet.Limit{}
	})
	job := func(host string, n int) fleet.Job {
		name := fmt.Sprint(host, n)
		return fleet.Job{Name: name, URIs: []string{"http://" + host + ".example/" + name}}
	}
	for n := range 3 {
		report(t, q, job("slow", n), fleet.Fresh)
	}
	for n := range 3 {
		report(t, q, job("quick", n), fleet.Fresh)
	}
	began, order := time.Now(), []string{}
	for range 5 {
		c := next(t, q)
		order = append(order, c.Record.Job.Name)
		if c.Record.Tries != 1 {
			t.Errorf("%s is at its try %d", c.Record.Job.Name, c.Record.Tries)
		}
		if _, err := c.Finish(t.Context(), fleet.Ending{Kind: fleet.Right}); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(order); got != "[slow0 quick0 quick1 quick2 slow1]" {
		t.Errorf("taken were %s", got)
	}
	if took := time.Since(began); took < fleet.Soon {
		t.Errorf("the second one began after %v, at ten seconds for each", took)
	}
	if r := record(t, q, "slow2"); r.Place.Host != "slow.example:80" || r.Place.Number != 3 || r.State != fleet.Queued {
		t.Errorf("the third is %s, at %+v", r.State, r.Place)
	}
}

// TestHeld: a job whose host is to be left alone is not begun, and one that has begun and waits for it is given back.
func TestHeld(t *testing.T) {
	t.Parallel()
	q := opened(t, hosted(t, t.TempDir()), "a", 0)
	p := q.Pacer(4, unlimited)
	report(t, q, disk("1"), fleet.Fresh)
	c := next(t, q)
	p.Hold("example.org:443", 503, 8*time.Second, time.Now())
	<-c.Context.Done()
	if err := c.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := next(t, q)
	if wait, _ := p.Held("example.org:443", time.Now()); wait > 0 || again.Record.Tries != 1 {
		t.Errorf("begun %v before it may be asked, at try %d", wait, again.Record.Tries)
	}
}
