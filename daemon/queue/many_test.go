package queue

import (
	"runtime"
	"slices"
	"testing"
)

// TestManyMoves checks that an entry can always be ranked between two others.
func TestManyMoves(t *testing.T) {
	q := filled(t, 5)
	for range 100 {
		if _, err := q.Move(q.Waiting(4, 1)[0].GID, 1, FromStart); err != nil {
			t.Fatal(err)
		}
	}
	if got := inOrder(q.Waiting(0, 9)); got != "1 2 3 4 5" {
		t.Errorf("after a hundred moves the order is %s", got)
	}
	w := &world{t: t, q: q, disk: map[GID]Entry{}, known: map[GID]bool{}}
	for i := range 5 {
		w.known[numbered(i+1)] = true
	}
	w.settle()
	w.check()
}

// TestLongHistory checks that only the last complete entries are kept, but all failed ones.
func TestLongHistory(t *testing.T) {
	q := New(1)
	for i := range MostStopped + 10 {
		g, _ := q.Add(at, Entry{URIs: []string{"http://h/"}}, -1)
		q.Start(at)
		kind := ""
		if i == 2 {
			kind = "network"
		}
		q.Ended(at, g, Outcome{Kind: kind})
	}
	_, _, stopped := q.Count()
	if first := q.Stopped(0, 1)[0]; stopped != MostStopped+1 || first.Status != Failed {
		t.Errorf("%d are known, the first of them is %v", stopped, first.Status)
	}
}

// TestManyFollow checks that the cost of a document grows linearly with its files, when they are added and when they
// end.
func TestManyFollow(t *testing.T) {
	cost := func(n int) uint64 {
		q := New(1)
		parent, err := q.Add(at, Entry{Document: []byte("x")}, -1)
		if err != nil {
			t.Fatal(err)
		}
		q.Add(at, Entry{URIs: []string{"http://h/x"}}, -1) // waits behind the others
		q.Start(at)
		children := make([]Entry, n)
		for i := range children {
			children[i] = Entry{Following: parent}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		gids, err := q.AddAll(at, children, 0)
		if err != nil {
			t.Fatal(err)
		}
		q.Ended(at, parent, Outcome{})
		e, _ := q.Entry(parent)
		if !slices.Equal(e.FollowedBy, gids) || len(gids) != n {
			t.Fatalf("%d follow, want %d", len(e.FollowedBy), n)
		}
		for _, g := range gids {
			if next, ok := q.Start(at); !ok || next.GID != g {
				t.Fatalf("%v begins, want %v", next.GID, g)
			}
			q.Ended(at, g, Outcome{})
			q.Drain()
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if one, two := cost(20_000), cost(40_000); two > 3*one {
		t.Errorf("20,000 files cost %d MiB, twice as many %d MiB", one>>20, two>>20)
	}
}
