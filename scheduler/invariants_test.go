package scheduler

import (
	"testing"
	"time"

	"braid/byterange"
)

// fluid is the best possible time: every host that tells the truth at its rate from the start, up to the access link.
func fluid(sc scenario) time.Duration {
	sum := 0.0
	for t := time.Duration(0); t < 24*time.Hour; t += tick {
		rate := 0.0
		for _, h := range sc.hosts {
			if h.wrong || h.down != nil && h.down(t) {
				continue
			}
			rate += h.rate(t)
		}
		if sc.access > 0 {
			rate = min(rate, sc.access)
		}
		sum += rate * tick.Seconds()
		if sum >= float64(sc.size) {
			return t
		}
	}
	return 24 * time.Hour
}

// check asserts what must hold after every step.
func check(t *testing.T, s *Scheduler) {
	t.Helper()
	flying := byterange.Set{}
	perHost := map[string]int{}
	for _, f := range s.order {
		if f.ending {
			continue
		}
		perHost[f.src.host]++
		r := byterange.Range{Start: f.pos, End: f.end}
		for c := range flying.Covered(r) {
			t.Fatalf("%v is fetched twice", c)
		}
		flying.Add(r)
	}
	for r := range s.done.All() {
		flying.Remove(r)
		for c := range s.flying.Covered(r) {
			t.Fatalf("%v is here and in flight", c)
		}
	}
	if got, want := s.flying.String(), flying.String(); got != want {
		t.Fatalf("in flight are %s, the fetches say %s", got, want)
	}
	for h, k := range perHost {
		if k > s.cfg.PerHost {
			t.Fatalf("%d requests at %s", k, h)
		}
	}
}
