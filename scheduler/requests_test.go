package scheduler

import (
	"math/rand/v2"
	"testing"
	"time"

	"braid/byterange"
)

// newRequests returns the requests of a file of the given size, and what they change.
func newRequests(size int64) (*requests, *ranges, *actions) {
	g, do := newRanges(size, byterange.Set{}), &actions{}
	return &requests{
		clock: &clock{now: time.Unix(1e9, 0)}, actions: do, ranges: &g, perHost: 2, byID: map[FetchID]*fetch{},
	}, &g, do
}

// Whatever is done to requests, the reserved bytes are those from the position to the end of each request that goes on.
func TestRequestsReserveWhatTheyFetch(t *testing.T) {
	const size = 1000
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		q, g, _ := newRequests(size)
		for range 60 {
			someRequest(rnd, q, g, size)
			var want byterange.Set
			for f := range q.active() {
				want.Add(byterange.Range{Start: f.pos, End: f.end})
			}
			for here := range g.here.All() {
				want.Remove(here)
			}
			if g.reserved.String() != want.String() {
				t.Fatalf("seed %d: reserved are %v, requested %v", seed, g.reserved.String(), want.String())
			}
		}
	}
}

// someRequest begins, changes or ends a request.
func someRequest(rnd *rand.Rand, q *requests, g *ranges, size int64) {
	for gap := range g.gaps(byterange.Range{Start: rnd.Int64N(size), End: size}) {
		q.start(opened(1, 1), byterange.Range{Start: gap.Start, End: gap.Start + 1 + rnd.Int64N(gap.Len())}, false, ReasonNext)
		break
	}
	if q.len() == 0 {
		return
	}
	f := q.running[rnd.IntN(q.len())]
	if f.ending {
		q.remove(f)
		return
	}
	switch rnd.IntN(5) {
	case 0:
		q.cancel(f, ReasonSlow)
	case 1:
		q.close(f.src, ReasonSlow)
	case 2:
		q.shrink(f, f.pos+rnd.Int64N(f.end-f.pos+1), ReasonSplit)
	case 3:
		q.remove(f)
	default:
		got := byterange.Range{Start: f.pos, End: min(f.pos+10, f.end)}
		g.gain(got, nil)
		f.advance(got.End)
	}
}

// Each change of a request is one action, and a request is cancelled once.
func TestRequestsAct(t *testing.T) {
	q, g, do := newRequests(1000)
	m := opened(1, 1)
	m.id, m.host = 7, "a"
	q.start(m, byterange.Range{Start: 0, End: 500}, false, ReasonNext)
	f := m.running
	q.shrink(f, 300, ReasonSplit)
	q.cancel(f, ReasonSilent)
	q.cancel(f, ReasonSilent)
	want := []Action{
		Fetch{1, 7, byterange.Range{Start: 0, End: 500}, ReasonNext}, Shrink{1, 300, ReasonSplit}, Cancel{1, ReasonSilent},
	}
	if len(do.list) != len(want) {
		t.Fatalf("actions %v, want %v", do.list, want)
	}
	for i := range want {
		if do.list[i] != want[i] {
			t.Errorf("action %v, want %v", do.list[i], want[i])
		}
	}
	if q.at("a") != 1 || q.free(&mirror{host: "a"}) != true || q.leaving() != 0 || g.busy(byterange.Range{Start: 0, End: 1000}) {
		t.Error("a request that is being ended counts at its host, and has no reservation")
	}
	if q.close(m, ReasonSlow); q.leaving() != 1 {
		t.Error("the mirror lost its place, and its connection is still open")
	}
	if q.remove(f); q.len() != 0 || q.find(1) != nil || q.leaving() != 0 {
		t.Error("the request has ended and is still known")
	}
}

// A request for the whole file asks without a range, and goes on as far as its reservation is moved.
func TestRequestsToTheEnd(t *testing.T) {
	q, g, do := newRequests(1000)
	m := opened(1, 1)
	q.start(m, byterange.Range{}, true, ReasonFirst)
	f := m.running
	if r := do.list[0].(Fetch).Range; r != (byterange.Range{Start: 0, End: byterange.Unbounded}) || !f.toEnd {
		t.Errorf("asked for %v", r)
	}
	q.extend(f, 400)
	q.lower(f, 300)
	if got := g.reserved.String(); f.end != 300 || got != byterange.NewSet(byterange.Range{Start: 0, End: 300}).String() {
		t.Errorf("it ends at %d, and %v is reserved", f.end, got)
	}
	g.gain(byterange.Range{Start: 0, End: 200}, nil)
	g.lose(byterange.Range{Start: 0, End: 200})
	f.advance(100)
	q.reserveAgain(byterange.Range{Start: 0, End: 200})
	if got := g.reserved.String(); got != byterange.NewSet(byterange.Range{Start: 100, End: 300}).String() {
		t.Errorf("after wrong bytes, %v is reserved", got)
	}
	if q.bound(150); f.end != 150 {
		t.Errorf("the file has 150 bytes, and the request ends at %d", f.end)
	}
}
