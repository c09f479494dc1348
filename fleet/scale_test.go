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

// small is a fleet that can be simulated in a second or two.
var small = shape{
	feeds: 400, files: 20_000, hosts: 60, groups: 4, workers: 20, updates: 20_000, length: 15 * time.Minute, rate: 10,
	held: 5000, write: time.Millisecond / 2,
	// HEAD, digest or document, and the file
	lease: UsualLease, poll: 10 * time.Minute, answer: 150 * time.Millisecond, requests: 3,
}

// large is the fleet in the tables.
var large = shape{
	feeds: 20_000, files: 1_000_000, hosts: 2000, groups: 20, workers: 200, updates: 100_000, length: time.Hour,
	rate: 10, held: 5000, write: time.Millisecond / 2,
	lease: UsualLease, poll: 10 * time.Minute, answer: 150 * time.Millisecond, requests: 3,
}

// A calamity is an event halfway through a simulation.
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
			s.after(time.Duration(i/s.shape.workers)*2*UsualLease,
				func() { s.stop(s.workers[i/2%s.shape.workers], UsualLease+time.Duration(i%20)*time.Second/2) })
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

// simulate simulates a fleet with a calamity and reports each file that is not done in the end as a fault.
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

// TestScale checks that with each calamity every update is done once, by one worker, within the time that leases and
// the schedule allow, and that no host gets more requests than its pace allows.
func TestScale(t *testing.T) {
	for i, c := range slices.Concat(calamities, calamities[3:5]) {
		shape := small
		shape.single = i >= len(calamities) // the second way to confirm a lease before the rename
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

// TestScalePaced checks that a host with more work than its pace allows does not delay other hosts. Its jobs wait in
// the queue, in their order, no longer than the pace demands, and the pace is fully used. No job waits long in a
// worker.
func TestScalePaced(t *testing.T) {
	shape := small
	shape.feeds, shape.hosts, shape.workers, shape.updates, shape.rate, shape.held = 4000, 200, 50, 60_000, 3, 0
	for _, bytes := range []int64{0, 25e6} {
		if shape.bytes = bytes; bytes > 0 {
			shape.rate = 50
		}
		half, end := host{}, host{}
		s := simulate(shape, 3, 0, calamity{"", func(s *sim) {
			half = s.hosts[0]
			s.at(s.length, func() { end = s.hosts[0] })
		}})
		for _, fault := range s.stats.faults {
			t.Error(fault)
		}
		busy, others := s.byHost()
		if len(busy) == 0 || len(others) == 0 {
			t.Fatalf("%d hosts are busy, and %d are not", len(busy), len(others))
		}
		if late := slices.Sorted(slices.Values(others)); late[len(late)*9/10] > 8*time.Second {
			t.Errorf("files of hosts that are not busy are late: %s", lateness(others))
		}
		if late := slices.Sorted(slices.Values(busy)); late[len(late)/2] < 20*time.Second {
			t.Errorf("files of busy hosts are not late: %s", lateness(busy))
		}
		if waited := slices.Max(s.stats.inRoom); waited > 3*Soon {
			t.Errorf("a request waited %v in a worker", waited)
		}
		for i := range s.hosts {
			if flow := s.hosts[i].mostFlow; flow > float64(bytes)*1.01 {
				t.Errorf("host %d sends %.0f bytes in a second", i, flow)
			}
		}
		if s.stats.early > 0 {
			t.Errorf("%d requests came before their turn", s.stats.early)
		}
		used := max(float64(end.requests-half.requests)/s.rate, (end.bytes-half.bytes)/float64(max(1, bytes)))
		if used < 0.8*s.length.Seconds()/2 {
			t.Errorf("the busiest host was made use of for %.0f s of the second half", used)
		}
		t.Logf("of %d, %d were put off: busy hosts %s, others %s; made use of for %.0f s", s.stats.fresh,
			s.stats.putOff, lateness(busy), lateness(others), used)
	}
}

// TestScaleSame checks that the same seed gives the same result.
func TestScaleSame(t *testing.T) {
	a, b := simulate(small, 2, 0, calamities[5]).line(), simulate(small, 2, 0, calamities[5]).line()
	if a != b {
		t.Errorf("%s, and then %s", a, b)
	}
}

// line returns a row of the table.
func (s *sim) line() string {
	jobs := float64(s.stats.fresh)
	busiest := 0
	for _, h := range s.hosts {
		busiest = max(busiest, h.most)
	}
	return fmt.Sprintf("%d | %d | %s | %s | %s | %d | %d | %d | %.1f + %.1f | %.0f %%", s.stats.fresh, s.deepest,
		lateness(s.stats.once), lateness(s.stats.again),
		lateness(s.stats.seen), s.stats.takenOver, s.stats.known, busiest, float64(s.writes-s.stats.paced)/jobs,
		float64(s.stats.paced)/jobs, 100*s.busy.Seconds()/s.length.Seconds())
}

// byHost returns the lateness of files of hosts that had as much work as their pace allows, and of files of the other
// hosts. It leaves out files that were tried again.
func (s *sim) byHost() (busy, others []time.Duration) {
	for i := range s.hosts {
		h := &s.hosts[i]
		time := 0.9 * s.length.Seconds()
		if float64(h.requests) > time*s.rate || s.bytes > 0 && h.bytes > time*float64(s.bytes) {
			busy = append(busy, h.late...)
		} else {
			others = append(others, h.late...)
		}
	}
	return busy, others
}

// lateness returns the median, the 99th percentile and the maximum.
func lateness(all []time.Duration) string {
	if len(all) == 0 {
		return "-"
	}
	slices.Sort(all)
	at := func(part float64) float64 { return all[int(math.Ceil(part*float64(len(all))))-1].Seconds() }
	return fmt.Sprintf("%.3g, %.3g, %.4g s", at(0.5), at(0.99), at(1))
}

const header = "| jobs | most waiting | late | late, tried again | after the feed | taken over | reported twice | most " +
	"requests in a second | writes a job + for pace | queue busy |\n|---|---|---|---|---|---|---|---|---|---|---|\n"

// TestScaleTable prints what calamities cost the large fleet, and how it behaves with other loads.
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
	fmt.Print("\n| workers, updates an hour, requests and MB a second of a host, which is late where hosts are busy, "+
		"and where they are not ", header)
	for _, n := range []struct {
		workers       int
		updates, rate float64
		bytes         int64
	}{
		{1, 500, 10, 0}, {10, 5000, 10, 0}, {100, 50_000, 10, 0}, {200, 300_000, 10, 0}, {200, 300_000, 100, 20e6},
		{200, 300_000, 100, 0},
		{400, 600_000, 100, 0}, {800, 900_000, 100, 0},
	} {
		shape := large
		shape.workers, shape.updates, shape.rate, shape.bytes, shape.held, shape.length = n.workers, n.updates, n.rate,
			n.bytes, 0, large.length/3
		s := simulate(shape, 1, 0, calamities[0])
		busy, others := s.byHost()
		fmt.Printf("| %d, %.0f, %.0f, %d: %s; %s | %s |\n", n.workers, n.updates, n.rate, n.bytes/1e6, lateness(busy),
			lateness(others), s.line())
	}
}
