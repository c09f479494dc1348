package scheduler

import (
	"cmp"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"braid/byterange"
)

// trace enables a log of every action, and of the end of every fetch.
var trace = os.Getenv("BRAID_TRACE") != ""

// hashSpeedHere is the speed of the in-order hash, in bytes a second.
const hashSpeedHere = 700e6

// network plays a scenario. A second scheduler gets the same events and must return the same actions.
type network struct {
	t       testing.TB
	sc      scenario
	s, twin *Scheduler
	strict  bool // check all invariants after every step
	rng     *rand.Rand
	epoch   time.Time
	now     time.Duration
	wake    time.Time

	flights   []*flight
	ghosts    []ghost
	conns     []conn          // by source
	host      []string        // host that answers, by source, as far as it is known
	notBefore []time.Duration // by source: Retry-After
	links     []int           // by host: the first one that shares its link
	sent      []int64         // by host
	first     []time.Duration // by host: arrival of the first byte
	wants     []want          // reused buffer
	crowded   bool            // the client's link is full

	got    int64 // number of different bytes received
	have   byterange.Set
	wrong  byterange.Set // wrong bytes
	proven byterange.Set // pieces that passed their check
	checks []check
	hashed int64 // position of the in-order hash or the reader of a stream
	passed int64 // of a stream: position reported to the scheduler
	named  bool  // the mirrors are known
	rep    report
}

// check is a running check of a piece.
type check struct {
	piece int64
	ok    bool
	at    time.Duration // when the result is ready
}

// report is the result of a run.
type report struct {
	sc               scenario
	finished, failed bool
	elapsed          time.Duration // including the rest of the hash
	nine             time.Duration // until nine tenths of the missing bytes were present
	best             time.Duration // with every host at its rate from the start
	floor            bound
	duplicate        int64         // received twice
	lost             int64         // in flight when a connection was closed
	requests         []int         // by host
	brought          []int64       // by host
	most             int           // maximum of concurrent connections
	late             int           // the same after ten seconds
	allIn            time.Duration // when the last useful host delivered its first byte; 0: never
	quiet            time.Duration // how much longer than allowed a host was silent
	lie              time.Duration // when the first piece was found wrong
	history          []Action
	at               []time.Duration // by action
	asked            []time.Duration // time of each request
	askedOf          []SourceID
	speeds           []Speed
	peak             float64
}

// ramp is the delay of nine tenths of the file against the floor, and tail the additional delay of the last tenth.
func (r report) ramp() time.Duration { return r.nine - r.floor.nine }
func (r report) tail() time.Duration { return r.elapsed - r.nine - (r.floor.all - r.floor.nine) }

// near returns the ratio of the floor to the time of the run.
func (r report) near() float64 { return r.floor.all.Seconds() / r.elapsed.Seconds() }

func (r report) efficiency() float64 { return r.best.Seconds() / r.elapsed.Seconds() }

// wasted returns the share of wasted bytes in the file.
func (r report) wasted() float64 { return float64(r.duplicate+r.lost) / float64(max(1, r.sc.size)) }

func (r report) total() (n int) {
	for _, k := range r.requests {
		n += k
	}
	return n
}

// run plays a scenario to its end.
func run(t testing.TB, sc scenario) report {
	t.Helper()
	n := newNetwork(t, sc)
	n.play(cmp.Or(sc.limit, 12*time.Hour))
	return n.summary()
}

func newNetwork(t testing.TB, sc scenario) *network {
	sc.cfg.Size = -1
	if sc.rerun {
		sc.cfg.Size = sc.size
	}
	sc.cfg.PerHost = max(sc.cfg.PerHost, sc.lanes)
	n := &network{t: t, sc: sc, s: New(sc.cfg), twin: New(sc.cfg), epoch: time.Unix(1e9, 0), have: sc.cfg.Have.Clone()}
	n.rng = rand.New(rand.NewPCG(sc.seed, 5))
	k := sc.sources()
	n.conns, n.notBefore, n.host = make([]conn, k), make([]time.Duration, k), make([]string, k)
	for i := range k {
		n.host[i] = name(sc.hostOf(SourceID(i)))
	}
	n.sent, n.first = make([]int64, len(sc.hosts)), make([]time.Duration, len(sc.hosts))
	n.links = sc.links()
	n.rep.requests, n.rep.brought = make([]int, len(sc.hosts)), make([]int64, len(sc.hosts))
	n.rep.sc = sc
	if sc.cfg.Window > 0 {
		n.step(Consumed{})
	}
	n.step(sc.source(0))
	if sc.rerun {
		n.introduce()
	}
	return n
}

// introduce adds the mirrors, which the first answer names.
func (n *network) introduce() {
	if n.named {
		return
	}
	n.named = true
	for i := 1; i < n.sc.sources(); i++ {
		n.step(n.sc.source(SourceID(i)))
	}
	if n.sc.piece > 0 {
		n.step(PiecesKnown{Length: n.sc.piece})
	}
}

// play continues until the download is over or the given time.
func (n *network) play(until time.Duration) {
	for n.now < until && !n.over() {
		n.advance(min(n.pace(), until-n.now))
		n.watch()
		if !n.over() && !n.wake.IsZero() && !n.at().Before(n.wake) {
			n.step(Tick{})
		}
	}
}

func (n *network) over() bool { return n.rep.finished || n.rep.failed }

// watch updates the values of the report.
func (n *network) watch() {
	if n.now > 10*time.Second {
		n.rep.late = max(n.rep.late, len(n.flights))
	}
	for _, f := range n.flights {
		if !f.cancels {
			n.rep.quiet = max(n.rep.quiet, n.now-f.heard-max(silence, silenceRTTs*n.sc.hosts[f.h].rtt))
		}
	}
}

// summary completes the report.
func (n *network) summary() report {
	n.rep.elapsed = n.now + time.Duration(float64(n.sc.size-n.hashed)/n.reads()*float64(time.Second))
	n.rep.speeds, n.rep.peak = n.s.Speeds(), n.s.Peak()
	if !n.rep.finished {
		return n.rep
	}
	best := fluid(n.sc)
	n.rep.best, n.rep.floor = best.all, floor(n.sc)
	for i, is := range best.useful {
		if !is {
			continue
		}
		if n.rep.allIn = max(n.rep.allIn, n.first[i]); n.first[i] == 0 {
			n.rep.allIn = 0
			break
		}
	}
	return n.rep
}

func (n *network) at() time.Time { return n.epoch.Add(n.now) }

// step sends an event to the scheduler, checks the invariants, and carries out the actions.
func (n *network) step(ev Event) {
	if end, ok := ev.(FetchEnded); trace && ok {
		n.t.Logf("%7.3f %T%v", n.now.Seconds(), end, end)
	}
	do, wake := n.s.Step(n.at(), ev)
	n.wake = wake
	if n.twin != nil {
		if too, when := n.twin.Step(n.at(), ev); !slices.Equal(do, too) || !when.Equal(wake) {
			n.t.Fatalf("%v: the same history led to %v and %v, then to %v and %v", n.now, do, wake, too, when)
		}
	}
	n.inspect(ev, len(do) > 0)
	for _, a := range do {
		n.rep.history, n.rep.at = append(n.rep.history, a), append(n.rep.at, n.now)
		if trace {
			n.t.Logf("%7.3f %T%v", n.now.Seconds(), a, a)
		}
		n.carryOut(a)
	}
	if _, progress := ev.(Progress); !progress || len(do) > 0 || n.strict {
		n.busyHosts()
	}
	reads := n.sc.pipe > 0 && n.hashed < n.have.FirstGap(0) // the reader of a stream moves the window
	if !n.over() && len(n.flights) == 0 && wake.IsZero() && len(n.checks) == 0 && len(n.s.mirrors) > 0 && !reads {
		n.t.Fatalf("stalled at %v: nothing in flight and nothing to wait for", n.now)
	}
}

func (n *network) carryOut(a Action) {
	switch a := a.(type) {
	case Fetch:
		n.fetch(a)
	case Shrink:
		f := n.flight(a.ID)
		f.end = min(f.end, a.End)
	case Cancel:
		f := n.flight(a.ID)
		f.cancels, f.why = true, a.Why
	case Discard:
		n.discard(a.Range)
	case Check:
		n.check(a)
	case Finish:
		n.rep.finished = true
		if n.have.Len() != n.sc.size || n.sc.piece > 0 && n.wrong.Len() > 0 {
			n.t.Fatalf("finished with %d of %d bytes, wrong are %v", n.have.Len(), n.sc.size, n.wrong)
		}
	case Fail:
		n.rep.failed = true
	}
}

func (n *network) flight(id FetchID) *flight {
	for _, f := range n.flights {
		if f.id == id {
			return f
		}
	}
	n.t.Fatalf("action on fetch %d, which is not there", id)
	return nil
}

// asked records a request and checks that it is allowed.
func (n *network) asked(a Fetch) {
	n.rep.requests[n.sc.hostOf(a.Source)]++
	n.rep.asked = append(n.rep.asked, n.now)
	n.rep.askedOf = append(n.rep.askedOf, a.Source)
	if n.now < n.notBefore[a.Source] {
		n.t.Fatalf("source %d is asked at %v, before the %v that it gave", a.Source, n.now, n.notBefore[a.Source])
	}
}
