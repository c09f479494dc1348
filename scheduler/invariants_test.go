package scheduler

import (
	"slices"
	"testing"

	"braid/byterange"
)

// inspect asserts what must hold after a step: after mere progress of the fetch that it is about, else of all.
func (n *network) inspect(ev Event, acted bool) {
	p, progress := ev.(Progress)
	if !progress || acted || n.strict {
		verify(n.t, n.s, n.sc.wholes() && n.sc.liars())
		return
	}
	f := n.s.fetches[p.Fetch]
	if f == nil || f.ending {
		return
	}
	for r := range n.s.ranges.here.Gaps(byterange.Range{Start: f.pos, End: f.end}) { // what one that was ended still brought is here
		if !n.s.ranges.reserved.Contains(r) {
			n.t.Fatalf("%v is not in flight", r)
		}
	}
	if f.src.state != stateBanned && !n.s.ranges.here.Contains(p.Range) {
		n.t.Fatalf("%v came and is not here", p.Range)
	}
}

// verify asserts what must hold after every step: each byte is here, in one fetch or missing. There is one exception:
// when a mirror that answers with the whole file has overtaken the range of another and lied, that range may be fetched
// by two for a while.
func verify(t testing.TB, s *Scheduler, overtaken bool) {
	t.Helper()
	var all []byterange.Range
	for _, f := range s.running {
		if !f.ending && f.pos < f.end {
			all = append(all, byterange.Range{Start: f.pos, End: f.end})
		}
	}
	slices.SortFunc(all, func(a, b byterange.Range) int { return int(a.Start - b.Start) })
	flying := byterange.Set{}
	for i, r := range all {
		if i > 0 && all[i-1].End > r.Start && !overtaken {
			t.Fatalf("%v and %v overlap", all[i-1], r)
		}
		for g := range s.ranges.here.Gaps(r) { // what another has brought meanwhile is here
			flying.Add(g)
		}
	}
	if !overtaken && !slices.Equal(slices.Collect(flying.All()), slices.Collect(s.ranges.reserved.All())) {
		t.Fatalf("in flight are %v, the fetches say %v", s.ranges.reserved.String(), flying.String())
	}
	for _, m := range s.mirrors {
		if m.state == statePlanned || m.running != nil && !m.tried() {
			t.Fatalf("source %d is in state %d after the step, running %v", m.id, m.state, m.running)
		}
		if f := m.running; f != nil && (f.src != m || s.fetches[f.id] != f || !m.open() && !f.ending) {
			t.Fatalf("source %d is in state %d and runs %+v", m.id, m.state, f)
		}
	}
	if s.ranges.count != s.ranges.here.Len() {
		t.Fatalf("%d bytes are counted, %d are here", s.ranges.count, s.ranges.here.Len())
	}
}

// busyHosts asserts that no host has more requests than it may, but for one that turned out to be another name of it.
func (n *network) busyHosts() {
	for i, f := range n.flights {
		k := 0
		for _, o := range n.flights[i:] {
			if n.host[o.source] == n.host[f.source] && o.why != ReasonSameHost {
				k++
			}
		}
		if k > n.s.cfg.PerHost {
			n.t.Fatalf("%v: %d requests at %s", n.now, k, n.host[f.source])
		}
	}
}
