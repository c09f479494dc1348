package scheduler

import (
	"slices"
	"testing"

	"braid/byterange"
)

// inspect asserts what must hold after a step: for the fetch of a mere Progress event, otherwise for all fetches.
func (n *network) inspect(ev Event, acted bool) {
	p, progress := ev.(Progress)
	if !progress || acted || n.strict {
		verify(n.t, n.s, n.sc.wholes() && n.sc.liars())
		return
	}
	f := n.s.requests.byID[p.Fetch]
	if f == nil || f.ending {
		return
	}
	// Bytes that a cancelled fetch still delivered are present.
	for r := range n.s.ranges.here.Gaps(byterange.Range{Start: f.pos, End: f.end}) {
		if !n.s.ranges.reserved.Contains(r) {
			n.t.Fatalf("%v is not in flight", r)
		}
	}
	if f.src.state != stateBanned && !n.s.ranges.here.Contains(p.Range) {
		n.t.Fatalf("%v came and is not here", p.Range)
	}
}

// verify asserts what must hold after every step: each byte is present, in one fetch or missing. There is one
// exception: if a mirror that answers with the whole file has overtaken the range of another one and lied, two fetches
// may cover that range for a while.
func verify(t testing.TB, s *Scheduler, overtaken bool) {
	t.Helper()
	var all []byterange.Range
	for _, f := range s.requests.running {
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
		for g := range s.ranges.here.Gaps(r) { // bytes that another fetch delivered meanwhile are present
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
		if f := m.running; f != nil && (f.src != m || s.requests.byID[f.id] != f || !m.open() && !f.ending) {
			t.Fatalf("source %d is in state %d and runs %+v", m.id, m.state, f)
		}
	}
	if s.ranges.count != s.ranges.here.Len() {
		t.Fatalf("%d bytes are counted, %d are here", s.ranges.count, s.ranges.here.Len())
	}
}

// busyHosts asserts that no host has too many requests, except for a request that turned out to lead to the same host.
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
