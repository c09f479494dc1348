package scheduler

import (
	"math"
	"testing"
	"time"

	"braid/byterange"
)

// foresee returns the estimates for a file of which nothing is present, and its requests.
func foresee(size int64, ms ...*mirror) (*estimates, *requests) {
	q, g, _ := newRequests(size)
	all := mirrors(ms)
	return &estimates{clock: q.clock, mirrors: &all, ranges: g, requests: q}, q
}

// far returns an open mirror of a known speed and distance.
func far(speed float64, rtt time.Duration) *mirror {
	m := opened(1, speed)
	m.rtt = rtt
	return m
}

func TestLag(t *testing.T) {
	const rtt = 100 * ms
	for _, tt := range []struct {
		name   string
		speed  float64
		alive  bool
		trips  int
		rtt    time.Duration
		rounds float64
	}{
		{"an idle connection needs a round trip for the request", 1e6, true, 0, rtt, 1},
		{"a new one also connects", firstWindow / 0.1, false, 0, rtt, 2},
		{"its window grows", 8 * firstWindow / 0.1, false, 0, rtt, 4},
		{"an answer with its own connection is never idle", firstWindow / 0.1, true, 3, rtt, 4},
		{"an unknown distance is that of the others", 1e6, true, 0, 0, 1},
	} {
		m := far(tt.speed, tt.rtt)
		m.trips = tt.trips
		e, _ := foresee(mib, m, far(1e6, rtt))
		if got := e.lag(m, tt.speed, tt.alive); math.Abs(got-tt.rounds*rtt.Seconds()) > 1e-9 {
			t.Errorf("%s: %.3f s, want %v round trips", tt.name, got, tt.rounds)
		}
	}
}

func TestMeet(t *testing.T) {
	for _, tt := range []struct {
		turns []turn
		bytes float64
		want  float64
	}{
		{nil, 10, math.Inf(1)},
		{[]turn{{0, 5}}, 10, 2},
		{[]turn{{1, 5}}, 10, 3},
		{[]turn{{0, 5}, {1, 5}}, 10, 1.5},
		{[]turn{{0, 5}, {1, -5}, {3, 5}}, 10, 4}, // a pause for the next request
		{[]turn{{0, 5}, {1, -5}}, 10, math.Inf(1)},
	} {
		if got := meet(tt.turns, tt.bytes); got != tt.want {
			t.Errorf("%v: %v bytes are there after %v s, want %v", tt.turns, tt.bytes, got, tt.want)
		}
	}
}

// The rest is distributed over the mirrors in use and the one that is considered.
func TestHorizon(t *testing.T) {
	a, b := far(1e6, 100*ms), far(3e6, 100*ms)
	a.alive, b.alive = true, true
	e, _ := foresee(4e6, a, b)
	if got := e.horizon(nil); math.Abs(got-1.1) > 1e-9 {
		t.Errorf("4 MB at 1 and 3 MB/s after one round trip: %v s", got)
	}
	b.becomeClosed()
	if alone, both := e.horizon(nil), e.horizon(b); math.Abs(alone-4.1) > 1e-9 || math.Abs(both-1.1) > 1e-9 {
		t.Errorf("one mirror takes %v s, both %v s", alone, both)
	}
	if got := e.remaining(); got != 4*time.Second {
		t.Errorf("at the speed of the open mirror, the rest takes %v", got)
	}
}

// A mirror that works is preferred for a small rest if it is free sooner than another one delivers it.
func TestSoonerAndIdles(t *testing.T) {
	works, waits := far(1e6, 10*ms), far(1e6, 500*ms)
	waits.alive = true
	e, q := foresee(mib, works, waits)
	works.meter.epoch = e.clock.now.Add(-10 * time.Second)
	for at := works.meter.epoch; !at.After(e.clock.now); at = at.Add(10 * ms) {
		works.meter.add(at, 10e3)
	}
	q.start(works, byterange.Range{Start: 0, End: 100e3}, false, ReasonNext)
	if e.sooner(waits, 1000) || e.idles(waits, 1000) {
		t.Error("a mirror that has delivered nothing is neither sooner nor late")
	}
	f := works.running
	f.got = 1
	if !e.sooner(waits, 1000) || e.idles(waits, 1000) {
		t.Error("the mirror that works is done in 0.1 s, the other one begins after 0.5 s")
	}
	f.end = f.pos + 900e3
	if e.sooner(waits, 1000) {
		t.Error("the mirror that works takes 0.9 s, the other one begins after 0.5 s")
	}
	if f.end = f.pos + 2e6; !e.idles(waits, 1000) {
		t.Error("the mirror that works is busy for 2 s")
	}
}

// The end of a range is late as soon as it is quiet for longer than usual, unless much of it is left.
func TestHangs(t *testing.T) {
	m := far(1e6, 20*ms)
	e, q := foresee(mib, m)
	q.start(m, byterange.Range{Start: 0, End: lastBytes}, false, ReasonNext)
	f := m.running
	f.got = 1
	for _, tt := range []struct {
		quiet time.Duration
		end   int64
		want  float64
	}{{50 * ms, lastBytes, 0}, {300 * ms, lastBytes, 0.3}, {300 * ms, lastBytes + 1, 0}} {
		f.end = tt.end
		f.heard(e.clock.now.Add(-tt.quiet))
		if got := e.hangs(f); got != tt.want {
			t.Errorf("quiet for %v with %d bytes left: %v s", tt.quiet, tt.end, got)
		}
	}
}
