package scheduler

import (
	"cmp"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"braid/byterange"
)

// A virtual network: no sockets and no clock, time goes in ticks. The model of a connection is 1 RTT to
// connect, 1 RTT from request to first byte, an initial window of 10 segments that doubles every RTT
// until the mirror's rate is reached, and an access link that all share fairly.

const (
	tick          = 4 * time.Millisecond
	segment       = 1448
	initialWindow = 10 * segment
)

// trace logs every action.
var trace = os.Getenv("BRAID_TRACE") != ""

// A host is one virtual mirror. The zero value of each field means that it behaves.
type host struct {
	rate    func(t time.Duration) float64 // bytes a second it offers
	rtt     time.Duration
	down    func(t time.Duration) bool          // refuses connections and breaks those that are open
	norange bool                                // answers ranges with the whole file
	wrong   bool                                // announces another digest
	busy    func(t time.Duration) time.Duration // 503 with Retry-After
	as      string                              // answers as this host, after a redirect
	cut     int64                               // breaks off after so many bytes of each answer
}

func mbit(v float64) float64 { return v * 1e6 / 8 }

func steady(v float64) func(time.Duration) float64 {
	return func(time.Duration) float64 { return mbit(v) }
}

func equal(n int, mb float64, rtt time.Duration) (hs []host) {
	for range n {
		hs = append(hs, host{rate: steady(mb), rtt: rtt})
	}
	return hs
}

// A scenario is a network and a file.
type scenario struct {
	size   int64
	hosts  []host
	access float64 // bytes a second of the client's link; 0: no limit
	cfg    Config
	limit  time.Duration // of virtual time
}

// A report is what came of a run.
type report struct {
	finished, failed bool
	elapsed          time.Duration
	best             time.Duration // with every host at its rate from the start
	duplicate        int64
	requests         []int
	most             int           // connections at a time
	allIn            time.Duration // when as many as there are hosts were delivering
	brought          []int64
	late             int // connections in use after ten seconds, at most
	history          []Action
	asked            []time.Duration // when each request was made
	askedOf          []SourceID
	perHost          int
	speeds           []Speed
	peak             float64
	sc               scenario
}

func (r report) efficiency() float64 { return r.best.Seconds() / r.elapsed.Seconds() }

type flight struct {
	sent      int64
	id        FetchID
	h         int
	pos, end  int64
	answerAt  time.Duration
	dead      bool // refused: ends at answerAt
	answered  bool
	shrunk    bool
	cancelled bool
	whole     bool
	budget    float64
}

// conn is the state of the connection to a host that is kept between requests.
type conn struct {
	alive  bool
	window float64
}

type network struct {
	t       *testing.T
	sc      scenario
	s       *Scheduler
	now     time.Duration
	flights []*flight
	conns   []conn
	have    byterange.Set
	rep     report
	wake    time.Time
	epoch   time.Time
}

// run plays a scenario to its end.
func run(t *testing.T, sc scenario) report {
	t.Helper()
	n := newNetwork(t, sc)
	n.step(SourceAdded{ID: 0, Host: name(0)})
	limit := cmp.Or(sc.limit, time.Hour)
	for n.now < limit && !n.rep.finished && !n.rep.failed {
		n.now += tick
		n.advance()
		if !n.wake.IsZero() && !n.at().Before(n.wake) {
			n.step(Tick{})
		}
	}
	n.rep.elapsed = n.now
	n.rep.best = fluid(sc)
	n.rep.speeds, n.rep.peak, n.rep.sc = n.s.Speeds(), n.s.Peak(), sc
	return n.rep
}

func newNetwork(t *testing.T, sc scenario) *network {
	sc.cfg.Size = -1
	n := &network{t: t, sc: sc, s: New(sc.cfg), epoch: time.Unix(1e9, 0), conns: make([]conn, len(sc.hosts))}
	n.rep.requests = make([]int, len(sc.hosts))
	n.rep.brought = make([]int64, len(sc.hosts))
	return n
}

func name(i int) string { return string(rune('a'+i/26)) + string(rune('a'+i%26)) }

func (n *network) at() time.Time { return n.epoch.Add(n.now) }

// step tells the scheduler, checks what must always hold, and does what it says.
func (n *network) step(ev Event) {
	n.t.Helper()
	do, wake := n.s.Step(n.at(), ev)
	n.wake = wake
	check(n.t, n.s)
	for _, a := range slices.Clone(do) {
		n.rep.history = append(n.rep.history, a)
		if trace {
			n.t.Logf("%7.3f %T%v", n.now.Seconds(), a, a)
		}
		n.carryOut(a)
	}
	if !n.rep.finished && !n.rep.failed && len(n.flights) == 0 && wake.IsZero() && len(n.s.sources) > 0 {
		n.t.Fatalf("stalled at %v: nothing in flight and nothing to wait for", n.now)
	}
}

func (n *network) carryOut(a Action) {
	switch a := a.(type) {
	case Fetch:
		n.fetch(a)
	case Shrink:
		f := n.flight(a.ID)
		f.end, f.shrunk = min(f.end, a.End), true
	case Cancel:
		n.flight(a.ID).cancelled = true
	case Finish:
		n.rep.finished = true
		if n.have.Len() != n.sc.size {
			n.t.Fatalf("finished with %d of %d bytes", n.have.Len(), n.sc.size)
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
	n.t.Fatalf("action on unknown fetch %d", id)
	return nil
}

func (n *network) fetch(a Fetch) {
	h := n.sc.hosts[a.Source]
	f := &flight{id: a.ID, h: int(a.Source), pos: a.Range.Start, end: min(a.Range.End, n.sc.size)}
	f.whole = a.Range.End == byterange.Unbounded && a.Range.Start == 0
	if h.norange && !f.whole {
		f.pos, f.end = 0, n.sc.size
	}
	f.answerAt = n.now + h.rtt
	if c := &n.conns[f.h]; !c.alive {
		f.answerAt += h.rtt
		*c = conn{alive: true, window: initialWindow}
	}
	f.dead = h.down != nil && h.down(n.now)
	n.flights = append(n.flights, f)
	n.rep.requests[f.h]++
	n.rep.asked = append(n.rep.asked, n.now)
	n.rep.askedOf = append(n.rep.askedOf, a.Source)
	n.rep.most = max(n.rep.most, len(n.flights))
	per := 0
	for _, o := range n.flights {
		if n.answersAs(o.h) == n.answersAs(f.h) && (o.answered || o == f) {
			per++
		}
	}
	n.rep.perHost = max(n.rep.perHost, per)
}

func (n *network) answersAs(h int) string { return cmp.Or(n.sc.hosts[h].as, name(h)) }

// advance moves the bytes of one tick.
func (n *network) advance() {
	active := 0
	for _, f := range slices.Clone(n.flights) {
		if !slices.Contains(n.flights, f) {
			continue
		}
		if f.cancelled {
			n.drop(f, FaultNone, true)
			continue
		}
		if h := n.sc.hosts[f.h]; h.down != nil && h.down(n.now) && (f.answered || n.now >= f.answerAt) {
			n.drop(f, FaultTransient, true)
			continue
		}
		if !f.answered {
			n.answer(f)
		}
	}
	for i, share := range n.shares() {
		f := n.flights[i]
		if share <= 0 {
			continue
		}
		active++
		f.budget += share * tick.Seconds()
		c := &n.conns[f.h]
		c.window *= math.Pow(2, tick.Seconds()/n.sc.hosts[f.h].rtt.Seconds())
		c.window = min(c.window, max(initialWindow, 2*share*n.sc.hosts[f.h].rtt.Seconds()+2*initialWindow))
	}
	for _, f := range slices.Clone(n.flights) {
		if slices.Contains(n.flights, f) {
			n.deliver(f)
		}
	}
	if active == len(n.sc.hosts) && n.rep.allIn == 0 {
		n.rep.allIn = n.now
	}
	if n.now > 10*time.Second {
		n.rep.late = max(n.rep.late, active)
	}
}

// answer sends the header when its time has come.
func (n *network) answer(f *flight) {
	if n.now < f.answerAt {
		return
	}
	h := n.sc.hosts[f.h]
	if f.dead {
		n.drop(f, FaultTransient, true)
		return
	}
	if h.busy != nil {
		if after := h.busy(n.now); after > 0 {
			n.dropAfter(f, FaultTransient, after)
			return
		}
	}
	if h.wrong {
		n.drop(f, FaultWrong, true)
		return
	}
	f.answered = true
	first := n.s.size < 0
	n.step(Answered{Fetch: f.id, Host: n.answersAs(f.h), RTT: h.rtt, Start: f.pos, Size: n.sc.size, Ranged: !f.whole && !h.norange})
	if first {
		for i := 1; i < len(n.sc.hosts); i++ {
			n.step(SourceAdded{ID: SourceID(i), Host: name(i)})
		}
	}
}

// shares divides the access link: everyone gets what it can use, up to a fair part.
func (n *network) shares() []float64 {
	out := make([]float64, len(n.flights))
	total := 0.0
	for i, f := range n.flights {
		if !f.answered || f.cancelled {
			continue
		}
		h := n.sc.hosts[f.h]
		out[i] = min(h.rate(n.now), n.conns[f.h].window/h.rtt.Seconds())
		total += out[i]
	}
	if n.sc.access == 0 || total <= n.sc.access {
		return out
	}
	return fairShares(out, n.sc.access)
}

func fairShares(want []float64, link float64) []float64 {
	idx := make([]int, len(want))
	for i := range idx {
		idx[i] = i
	}
	slices.SortFunc(idx, func(a, b int) int { return cmp.Compare(want[a], want[b]) })
	for k, i := range idx {
		want[i] = min(want[i], link/float64(len(idx)-k))
		link -= want[i]
	}
	return want
}

// deliver hands over whole segments and ends fetches that are through.
func (n *network) deliver(f *flight) {
	if f.cancelled || !f.answered {
		return
	}
	k := min(int64(f.budget), f.end-f.pos)
	if cut := n.sc.hosts[f.h].cut; cut > 0 {
		k = min(k, cut-f.sent)
	}
	if k >= segment || k > 0 && (k == f.end-f.pos || n.sc.hosts[f.h].cut > 0) {
		f.budget -= float64(k)
		r := byterange.Range{Start: f.pos, End: f.pos + k}
		for c := range n.have.Covered(r) {
			n.rep.duplicate += c.Len()
		}
		n.have.Add(r)
		n.rep.brought[f.h] += k
		f.pos += k
		f.sent += k
		n.step(Progress{Fetch: f.id, Range: r})
	}
	if cut := n.sc.hosts[f.h].cut; cut > 0 && f.sent >= cut && !f.cancelled && slices.Contains(n.flights, f) {
		n.drop(f, FaultTransient, true)
		return
	}
	if f.pos >= f.end && !f.cancelled && slices.Contains(n.flights, f) {
		n.drop(f, FaultNone, f.shrunk)
	}
}

func (n *network) drop(f *flight, fault Fault, closed bool) {
	n.remove(f, closed)
	n.step(FetchEnded{Fetch: f.id, Fault: fault})
}

func (n *network) dropAfter(f *flight, fault Fault, after time.Duration) {
	n.remove(f, false)
	n.step(FetchEnded{Fetch: f.id, Fault: fault, After: after})
}

func (n *network) remove(f *flight, closed bool) {
	n.flights = slices.DeleteFunc(n.flights, func(o *flight) bool { return o == f })
	if closed {
		n.conns[f.h].alive = false
	}
}
