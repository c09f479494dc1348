package scheduler

import (
	"testing"
	"time"

	"braid/byterange"
)

// shortest returns the shortest range that was requested, and the number of requests.
func shortest(r report) (least int64, requests int) {
	least = byterange.Unbounded
	for _, a := range r.history {
		if f, ok := a.(Fetch); ok && f.Range.End != byterange.Unbounded {
			least = min(least, f.Range.Len())
		}
	}
	return least, r.total()
}

// TestMinSplit: while no source fails, no range is shorter than MinSplit, and a rest of less than twice that comes from
// one source.
func TestMinSplit(t *testing.T) {
	for seed := range uint64(5) {
		for _, hosts := range [][]host{uneven(), equal(4, 40, 40*ms)} {
			sc := scenario{size: 200 * mib, hosts: hosts, cfg: Config{MinSplit: 20 * mib}}.seeded(seed)
			r := run(t, sc)
			if least, n := shortest(r); !r.finished || least < 20*mib || n < 2 || n > 10 {
				t.Errorf("seed %d: finished %v with %d requests, the shortest for %d MiB", seed, r.finished, n, least/mib)
			}
			sc.size = 40*mib - 1
			if r = run(t, sc); !r.finished || r.total() != 1 {
				t.Errorf("seed %d: finished %v with %d requests for less than two", seed, r.finished, r.total())
			}
			free := run(t, scenario{size: 200 * mib, hosts: hosts}.seeded(seed))
			if least, _ := shortest(free); least >= 20*mib {
				t.Errorf("seed %d: without a limit nobody is asked for less, so this shows nothing", seed)
			}
		}
	}
}

// TestMinSplitAfterFailures: the rest of a failed source is fetched, however short it is.
func TestMinSplitAfterFailures(t *testing.T) {
	for seed := range uint64(5) {
		sc := scenario{size: 100 * mib, hosts: three(func(h *host) {
			h.down = func(t time.Duration) bool { return t > 3*time.Second }
		}), cfg: Config{MinSplit: 30 * mib}}.seeded(seed)
		if r := run(t, sc); !r.finished || r.elapsed > time.Minute {
			t.Errorf("seed %d: finished %v after %v", seed, r.finished, r.elapsed)
		}
	}
}
