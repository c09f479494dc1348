package scheduler

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var calms = flag.Int("calm", 0, "with -table: so many networks without faults that are invented, and how near to the floor they come")

// calm invents a network without faults: some mirrors, uneven and near or far, that nobody had in mind.
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

// printCalm prints how near to the floor calm networks come, and the ten worst.
func printCalm(t *testing.T) {
	type played struct {
		seed                      uint64
		near, ramp, tail, elapsed float64
	}
	var all []played
	for seed := range uint64(*calms) {
		r := run(t, calm(seed))
		all = append(all, played{seed, r.floor.all.Seconds() / r.elapsed.Seconds(), r.ramp().Seconds() / r.sc.trip().Seconds(),
			r.tail().Seconds() / r.floor.all.Seconds(), r.elapsed.Seconds()})
	}
	of := func(f func(played) float64) (out []float64) {
		for _, p := range all {
			out = append(out, f(p))
		}
		slices.Sort(out)
		return out
	}
	near, tail := of(func(p played) float64 { return p.near }), of(func(p played) float64 { return p.tail })
	fmt.Printf("| %d calm networks | of the floor: worst %.1f, tenth %.1f, median %.1f; tail: median %.1f %%, tenth %.1f %% |\n", len(all),
		100*near[0], 100*near[len(near)/10], 100*near[len(near)/2], 100*tail[len(tail)/2], 100*tail[len(tail)*9/10])
	slices.SortFunc(all, func(a, b played) int { return int(1e6 * (b.elapsed*(1-b.near) - a.elapsed*(1-a.near))) })
	for _, p := range all[:min(10, len(all))] {
		fmt.Printf("| calm %d | %.1f %% of the floor, %.2f s; ramp %.1f round trips, tail %.1f %% |\n", p.seed, 100*p.near, p.elapsed, p.ramp, 100*p.tail)
	}
}

// kept are calm networks that showed a fault, and how near to the floor they are at least.
var kept = map[uint64]float64{93: 0.8, 119: 0.5, 298: 0.8, 346: 0.65, 358: 0.75, 398: 0.5}

// A network that nobody had in mind is near to the floor as well.
func TestCalm(t *testing.T) {
	least := maps.Clone(kept)
	for seed := range uint64(60) {
		least[seed] = 0.35
	}
	for seed, least := range least {
		r := run(t, calm(seed))
		if short := r.elapsed - r.floor.all; !r.finished || r.floor.all.Seconds() < least*r.elapsed.Seconds() && short > time.Second/2 {
			t.Errorf("%d: finished %v in %v, at best %v", seed, r.finished, r.elapsed, r.floor.all)
		}
	}
}
