package fleet

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// loads are the loads of two watchers and six workers in internal/test/e2e/realservers_fleetmeasure_test.go.
var loads = []struct {
	name  string
	jobs  int
	rate  float64 // jobs per second, 0 if all are published at once
	pace  float64 // requests per second allowed to the host, 0 for no limit
	kills int
}{
	{"300 jobs at once", 300, 0, 0, 0},
	{"300 jobs, 10 a second", 300, 10, 0, 0},
	{"300 jobs, 30 a second", 300, 30, 0, 0},
	{"200 jobs at once, 20 requests a second", 200, 0, 20, 0},
	{"300 jobs at once, three workers killed", 300, 0, 0, 3},
}

// TestMeasured prints the results of the model for these loads, for scripts/fleetsim -measured. Each request takes 100
// ms and each file 600 ms.
func TestMeasured(t *testing.T) {
	if !*whole {
		return
	}
	const begin = 5 * time.Second
	for _, l := range loads {
		s := newSim(shape{
			feeds: 1, files: l.jobs, hosts: 1, groups: 1, workers: 6, length: time.Minute, rate: l.pace,
			write:  time.Millisecond / 2,
			single: true, lease: ShortestLease, poll: time.Second, answer: 100 * time.Millisecond, requests: 1,
			took: 600 * time.Millisecond,
		}, 1)
		random, at, before := rand.New(rand.NewPCG(1, 1)), begin, 0
		s.at(begin, func() { before = s.writes })
		for n := range l.jobs {
			if l.rate > 0 {
				at += time.Duration(random.ExpFloat64() / l.rate * float64(time.Second))
			}
			s.at(at, func() { s.issue(n) })
		}
		for n := range l.kills {
			s.at(begin+2500*time.Millisecond, func() { s.killWorker(n, false) })
		}
		s.run()
		first := s.stats.last
		for _, f := range s.files {
			first = min(first, f.reported)
		}
		if len(s.stats.once) != l.jobs || len(s.stats.faults) > 0 {
			t.Errorf("%s: %d files, %q", l.name, len(s.stats.once), s.stats.faults)
		}
		fmt.Printf("| %s | model | %.1f | %s | %s | %.1f | %d |\n", l.name,
			float64(l.jobs)/(s.stats.last-first).Seconds(), lateness(s.stats.once), lateness(s.stats.seen),
			float64(s.stats.stored-before)/float64(l.jobs), s.requests)
	}
}
