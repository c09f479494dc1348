package scheduler

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var (
	invented = flag.Int("invented", 0, "with -table: so many networks that are invented, with and without faults, "+
		"instead of the scenarios")
	first = flag.Uint64("first", 0, "with -invented: the first seed")
)

// calm invents a network without faults: several mirrors of different speeds and distances.
func calm(seed uint64) scenario {
	rng := rand.New(rand.NewPCG(seed, 23))
	between := func(low, high float64) float64 { return low * math.Pow(high/low, rng.Float64()) }
	sc := scenario{size: int64(between(16, 512)) * mib, seed: seed}
	for range 2 + rng.IntN(10) {
		h := plain(between(2, 200), time.Duration(between(15, 400))*ms)
		if rng.IntN(3) == 0 {
			h.setup = h.rtt
		}
		h.bbr = rng.IntN(2) == 0
		sc.hosts = append(sc.hosts, h)
	}
	if rng.IntN(3) == 0 {
		sc.access = steady(between(10, 300))
	}
	return sc
}

// printInvented prints a line for all invented networks of a kind, and one for each of the ten worst.
func printInvented(t *testing.T) {
	for _, kind := range []struct {
		name   string
		invent func(seed uint64) scenario
	}{{"calm", calm}, {"faulty", faulty}} {
		var all line
		var played []report
		for seed := *first; seed < *first+uint64(*invented); seed++ {
			r := run(t, kind.invent(seed))
			r.sc.seed = seed
			if !r.finished {
				all.short = append(all.short, fmt.Sprintf("%d: not finished after %v", seed, r.elapsed))
				continue
			}
			if r.floor.all == 0 { // nothing was missing
				continue
			}
			all.add(r)
			played = append(played, r)
		}
		all.print(fmt.Sprintf("%d %s networks", *invented, kind.name), "")
		for _, r := range worstOf(played, 10) {
			seed := r.sc.seed
			row{name: fmt.Sprintf("%s %d", kind.name, seed), size: r.sc.size, net: kind.invent(seed)}.print(t)
		}
	}
}

// worstOf returns n runs: in turns the one that lost most time in total, in its ramp and in its tail. Losses in long
// downloads count less, but not in proportion; otherwise the smallest files would always be the worst.
func worstOf(all []report, n int) (out []report) {
	lost := []func(report) time.Duration{func(r report) time.Duration { return r.elapsed - r.floor.all }, report.ramp,
		report.tail}
	for i := 0; len(out) < n && len(all) > 0; i++ {
		weight := func(r report) float64 { return lost[i%len(lost)](r).Seconds() / math.Sqrt(r.floor.all.Seconds()) }
		at := 0
		for k, r := range all {
			if weight(r) > weight(all[at]) {
				at = k
			}
		}
		out = append(out, all[at])
		all = slices.Delete(all, at, at+1)
	}
	return out
}

// kept returns calm networks that once showed a fault, and the ten worst of a thousand, with the bars for their
// distance from the floor and for wasted bytes, for each variation.
func kept() (out []row) {
	for _, k := range []struct {
		seed         uint64
		floor, waste float64
	}{
		{93, 0.83, 0.03}, {119, 0.44, 0.13}, {298, 0.91, 0}, {346, 0.92, 0}, {358, 0.93, 0}, {398, 0.52, 0.06},
		{583, 0.37, 0.06}, {831, 0.44, 0.05}, {112, 0.62, 0.06}, {263, 0.52, 0.09}, {787, 0.91, 0.03},
		{988, 0.73, 0.04}, {718, 0.69, 0.1}, {956, 0.69, 0.2}, {515, 0.5, 0.07}, {18, 0.64, 0.17},
	} {
		sc := calm(k.seed)
		out = append(out, row{name: fmt.Sprintf("calm %d", k.seed), size: sc.size, net: sc,
			bar: bar{floor: k.floor, waste: k.waste}})
	}
	return out
}

// Invented networks are near to the floor as well.
func TestCalm(t *testing.T) {
	for seed := range uint64(60) {
		r := run(t, calm(seed))
		if short := r.elapsed - r.floor.all; !r.finished || r.near() < 0.35 && short > time.Second/2 {
			t.Errorf("%d: finished %v in %v, at best %v", seed, r.finished, r.elapsed, r.floor.all)
		}
	}
}
