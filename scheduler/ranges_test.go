package scheduler

import (
	"math/rand/v2"
	"testing"

	"braid/byterange"
)

// TestRanges compares ranges with an array of one value for each byte, after each of many steps.
func TestRanges(t *testing.T) {
	const size = 40
	const missing, reserved, here = 0, 1, 2
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		g := newRanges(-1, byterange.NewSet(byterange.Range{Start: 3, End: 5}))
		var brought byterange.Set
		var oracle [2 * size]int
		oracle[3], oracle[4] = here, here
		for step := range 60 {
			r := byterange.Range{Start: rng.Int64N(size)}
			r.End = min(r.Start+1+rng.Int64N(12), size)
			fresh := int64(0)
			for i := r.Start; i < r.End; i++ {
				switch was := &oracle[i]; step % 4 {
				case 0:
					if *was != here {
						fresh++
					}
					*was = here
				case 1:
					if *was == missing {
						*was = reserved
					}
				case 2:
					if *was == reserved {
						*was = missing
					}
				default:
					if *was == here {
						*was = missing
					}
				}
			}
			switch step % 4 {
			case 0:
				if got := g.gain(r, &brought); got != fresh {
					t.Fatalf("%d of %v are fresh, want %d", got, r, fresh)
				}
			case 1:
				g.reserve(r)
			case 2:
				g.free(r)
			default:
				g.lose(r)
			}
			compare(t, &g, oracle[:])
		}
		if g.missing() != -1 {
			t.Fatalf("%d bytes are missing of a file of unknown size", g.missing())
		}
		g.setSize(size / 2)
		clear(oracle[size/2:])
		compare(t, &g, oracle[:])
		if g.missing() != size/2-g.count {
			t.Fatalf("%d bytes are missing, %d are here", g.missing(), g.count)
		}
	}
}

// compare asserts that each byte is in the state of the oracle: 0 missing, 1 reserved, 2 present.
func compare(t *testing.T, g *ranges, oracle []int) {
	t.Helper()
	var gaps byterange.Set
	for r := range g.gaps(byterange.Range{Start: 0, End: int64(len(oracle))}) {
		gaps.Add(r)
	}
	n, first := int64(0), int64(-1)
	for i, state := range oracle {
		at := byterange.Range{Start: int64(i), End: int64(i) + 1}
		if gaps.Contains(at) != (state == 0) || g.busy(at) != (state == 1) || g.here.Contains(at) != (state == 2) {
			t.Fatalf("byte %d is to be in state %d: here %v, reserved %v", i, state, g.here.String(), g.reserved.String())
		}
		if state == 2 {
			n++
		} else if first < 0 {
			first = int64(i)
		}
	}
	if g.count != n || g.front() != first {
		t.Fatalf("%d bytes are here and the front is %d, want %d and %d", g.count, g.front(), n, first)
	}
}

// A stream is fetched from the position of its reader, and rest excludes the present bytes at both ends of a range.
func TestFrontAndRest(t *testing.T) {
	g := newRanges(100, byterange.NewSet(byterange.Range{Start: 0, End: 10}, byterange.Range{Start: 20, End: 30},
		byterange.Range{Start: 45, End: 60}))
	if g.front() != 10 {
		t.Errorf("the front is %d", g.front())
	}
	if g.consumed = 4; g.front() != 4 {
		t.Errorf("the front of a stream is %d", g.front())
	}
	if got := g.rest(byterange.Range{Start: 22, End: 50}); got != (byterange.Range{Start: 30, End: 45}) {
		t.Errorf("the rest is %v", got)
	}
	if got := g.rest(byterange.Range{Start: 22, End: 28}); !got.Empty() {
		t.Errorf("the rest of what is here is %v", got)
	}
}
