package fleet

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

var whole = flag.Bool("whole", false, "simulate the whole fleet, and print the tables")

// small is a fleet that is simulated in a second or two.
var small = shape{
	feeds: 400, files: 20_000, hosts: 60, groups: 4, workers: 20, updates: 20_000, length: 15 * time.Minute, rate: 10, held: 5000, write: time.Millisecond / 2,
}

// large is what the tables are of.
var large = shape{
	feeds: 20_000, files: 1_000_000, hosts: 2000, groups: 20, workers: 200, updates: 100_000, length: time.Hour, rate: 10, held: 5000, write: time.Millisecond / 2,
}

// A calamity is what happens to a fleet in the middle of its time.
type calamity struct {
	name string
	do   func(*sim)
}

var calamities = []calamity{
	{"nothing", func(*sim) {}},
	{"a worker killed, started again", func(s *sim) { s.killWorker(0, true) }},
	{"a quarter of the workers lost", func(s *sim) {
		for n := range s.shape.workers / 4 {
			s.killWorker(n, false)
		}
	}},
	{"half of the workers stopped four times, for little more than a lease", func(s *sim) {
		for i := range s.shape.workers * 2 {
			s.after(time.Duration(i/s.shape.workers)*2*UsualLease, func() { s.stop(s.workers[i/2%s.shape.workers], UsualLease+time.Duration(i%20)*time.Second/2) })
		}
	}},
	{"a fifth of the workers stopped between check and rename", func(s *sim) { s.stopNext = s.shape.workers / 5 }},
	{"a watcher killed", func(s *sim) { s.killWatcher(0) }},
	{"all watchers killed", func(s *sim) {
		for n := range s.shape.groups {
			s.killWatcher(n)
		}
	}},
	{"one queue of three lost: 9 s until another leads", func(s *sim) { s.queueDown(9 * time.Second) }},
	{"the only queue away for a minute", func(s *sim) { s.queueDown(time.Minute) }},
	{"the only queue away for 10 minutes", func(s *sim) { s.queueDown(10 * time.Minute) }},
}

// simulate runs a fleet through a calamity and finds what is lost.
func simulate(shape shape, seed uint64, slack time.Duration, c calamity) *sim {
	s := newSim(shape, seed)
	s.slack = slack
	s.at(shape.length/2, func() { c.do(s) })
	s.run()
	for _, f := range s.files {
		switch {
		case f == nil || f.record.State == Dead:
		case f.record.State != Done || f.inPlace != f.version || f.done != f.version:
			s.fault("%s of version %d: %s, version %d in place, %d done", f.name, f.version, f.record.State, f.inPlace, f.done)
		}
	}
	return s
}

// TestScale: whatever happens to a fleet, each update is done once, by one worker, no later than leases and the schedule allow, and no host is
// asked more often than it may be.
func TestScale(t *testing.T) {
	for i, c := range slices.Concat(calamities, calamities[3:5]) {
		shape := small
		shape.single = i >= len(calamities) // which is another way to be sure before the rename
		s := simulate(shape, 1, time.Minute, c)
		for _, fault := range s.stats.faults {
			t.Errorf("%s: %s", c.name, fault)
		}
		if most := downloads * s.stops; s.stats.early > most {
			t.Errorf("%s: %d requests came before their turn, want %d at most", c.name, s.stats.early, most)
		}
		if s.stats.placed < s.stats.published*9/10 {
			t.Errorf("%s: %d files of %d updates", c.name, s.stats.placed, s.stats.published)
		}
		t.Logf("%s: %s", c.name, s.line())
	}
}

// TestScaleSame: the same seed gives the same run.
func TestScaleSame(t *testing.T) {
	a, b := simulate(small, 2, 0, calamities[5]).line(), simulate(small, 2, 0, calamities[5]).line()
	if a != b {
		t.Errorf("%s, and then %s", a, b)
	}
}

// line is a row of the table.
func (s *sim) line() string {
	jobs := float64(s.stats.fresh)
	busiest := 0
	for _, h := range s.hosts {
		busiest = max(busiest, h.most)
	}
	return fmt.Sprintf("%d | %d | %s | %s | %s | %d | %d | %d | %.1f + %.1f | %.0f %%", s.stats.fresh, s.deepest, lateness(s.stats.once), lateness(s.stats.again),
		lateness(s.stats.seen), s.stats.takenOver, s.stats.known, busiest, float64(s.writes-s.stats.paced)/jobs, float64(s.stats.paced)/jobs, 100*s.busy.Seconds()/s.length.Seconds())
}

// lateness is the median, the 99th of a hundred and the worst.
func lateness(all []time.Duration) string {
	if len(all) == 0 {
		return "-"
	}
	slices.Sort(all)
	at := func(part float64) float64 { return all[int(math.Ceil(part*float64(len(all))))-1].Seconds() }
	return fmt.Sprintf("%.3g, %.3g, %.4g s", at(0.5), at(0.99), at(1))
}

const header = "| jobs | most waiting | late | late, tried again | after the feed | taken over | reported twice | most requests in a second | writes a job + for pace | queue busy |\n|---|---|---|---|---|---|---|---|---|---|---|\n"

// TestScaleTable prints what calamities cost the large fleet, and what others have to bear.
func TestScaleTable(t *testing.T) {
	if !*whole {
		return
	}
	fmt.Print("| at half time ", header)
	for _, c := range calamities {
		s := simulate(large, 1, 0, c)
		fmt.Printf("| %s | %s |\n", c.name, s.line())
		if len(s.stats.faults) > 0 {
			t.Errorf("%s: %q", c.name, s.stats.faults)
		}
	}
	fmt.Print("\n| workers, updates an hour, pace of a host ", header)
	for _, n := range []struct {
		workers       int
		updates, rate float64
	}{{1, 500, 10}, {10, 5000, 10}, {100, 50_000, 10}, {200, 300_000, 10}, {200, 300_000, 100}, {400, 600_000, 100}, {800, 900_000, 100}} {
		shape := large
		shape.workers, shape.updates, shape.rate, shape.held, shape.length = n.workers, n.updates, n.rate, 0, large.length/3
		fmt.Printf("| %d, %.0f, %.0f | %s |\n", n.workers, n.updates, n.rate, simulate(shape, 1, 0, calamities[0]).line())
	}
}
