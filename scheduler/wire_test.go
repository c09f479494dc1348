package scheduler

import (
	"cmp"
	"math"
	"slices"
	"time"

	"braid/byterange"
)

// flight is a request with its answer.
type flight struct {
	id      FetchID
	source  SourceID
	h       int
	end     int64         // end of the wanted range, which Shrink lowers
	last    int64         // end of what the server sends
	asked   int64         // offset that was requested
	start   int64         // offset that the answer begins at
	arrived int64         // bytes that arrived, in any order
	pos     int64         // bytes that arrived in order and are written
	told    int64         // bytes reported to the scheduler
	holes   []hole        // oldest first
	at      time.Duration // when the answer or the failure arrives
	flows   time.Duration // when the first byte may arrive
	heard   time.Duration // last arrival
	fault   Fault         // fault that it ends with
	whole   bool
	answers bool // the body is arriving
	ended   bool
	cancels bool
	why     Reason  // why it was cancelled
	rate    float64 // present rate in bytes a second
	part    float64 // fraction of a byte
	came    int64   // of a host with whole pieces: bytes reported by Coming
}

// ghost is the rest of an answer that still arrives after its connection was closed.
type ghost struct {
	rate  float64
	until time.Duration
}

const (
	drained        = 16 << 10 // maximum of a rest that is read to keep the connection
	connectTimeout = 10 * time.Second
)

// fetch sends a request.
func (n *network) fetch(a Fetch) {
	n.asked(a)
	i := n.sc.hostOf(a.Source)
	h := &n.sc.hosts[i]
	f := &flight{id: a.ID, source: a.Source, h: i, start: a.Range.Start, end: min(a.Range.End, n.sc.size), heard: n.now}
	f.whole = a.Range.End == byterange.Unbounded && a.Range.Start == 0
	if h.norange && !f.whole {
		f.start, f.end = 0, n.sc.size
	}
	f.asked, f.arrived, f.pos, f.told, f.came = f.end, f.start, f.start, f.start, f.start
	f.last = f.end
	if h.half {
		f.last = f.start + (f.end-f.start)/2
	}
	if h.cut > 0 {
		f.last = min(f.last, f.start+h.cut)
	}
	rtt := n.rtt(h)
	f.at = n.now + rtt
	c := &n.conns[f.source]
	switch {
	case h.mute != nil && h.mute(n.now):
		f.at, f.fault = n.now+connectTimeout, FaultTransient
		c.alive = false
	case h.dead(n.now, n.sent[i]): // the refusal arrives after one round trip
		f.fault = FaultTransient
		c.alive = false
	case h.ftp:
		n.converse(f, rtt)
	case !c.alive:
		*c = connect(n.now)
		f.at += rtt + h.setup
	}
	n.flights = append(n.flights, f)
	n.rep.most = max(n.rep.most, len(n.flights))
}

// The dialogue with an FTP server, in round trips: connection, greeting, USER, PASS, FEAT and TYPE; SIZE, and the first
// time MDTM; then EPSV, a connection, REST and RETR. If a range ended early, the server reports that before the next
// dialogue.
const (
	loginTrips = 7
	portTrips  = 4
)

// converse simulates the dialogue before an answer of an FTP server.
func (n *network) converse(f *flight, rtt time.Duration) {
	c := &n.conns[f.source]
	h := &n.sc.hosts[f.h]
	said := c.said
	if !said {
		f.at += loginTrips*rtt + h.setup
	} else if c.left {
		f.at += rtt
	}
	f.flows = f.at + portTrips*rtt + h.setup
	*c = connect(f.flows)
	c.said = true
}

// rtt returns the present round-trip time to a host.
func (n *network) rtt(h *host) time.Duration {
	if n.crowded {
		return h.rtt + n.sc.bloat
	}
	return h.rtt
}

// pace returns the time until the next event other than the flow of bytes.
func (n *network) pace() time.Duration {
	d := time.Hour
	for _, f := range n.flights {
		switch {
		case !f.answers:
			d = min(d, f.at-n.now)
		case f.rate > 0:
			d = min(d, n.paceOf(f))
		default:
			d = min(d, usual, max(often, n.conns[f.source].round+n.rtt(&n.sc.hosts[f.h])-n.now))
		}
	}
	if !n.wake.IsZero() {
		d = min(d, n.wake.Sub(n.at()))
	}
	if len(n.checks) > 0 {
		d = min(d, n.checks[0].at-n.now)
	}
	if n.sc.pipe > 0 {
		d = min(d, usual)
	}
	return max(d, least)
}

const (
	least = time.Millisecond
	often = 4 * time.Millisecond  // while a window grows or the answer waits for a lost packet
	usual = 10 * time.Millisecond // as often as braid reports writes
)

func (n *network) paceOf(f *flight) time.Duration {
	d, c := usual, &n.conns[f.source]
	h := &n.sc.hosts[f.h]
	if len(f.holes) > 0 || c.used >= c.window || c.rounds < 20 && c.window < h.rate(n.now)*n.rtt(h).Seconds() {
		d = often
	}
	return min(d, time.Duration(float64(min(f.last, f.end)-f.arrived)/f.rate*float64(time.Second)))
}

// advance moves the bytes of the period d.
func (n *network) advance(d time.Duration) {
	n.share()
	n.now += d
	for _, f := range n.flights {
		if f.answers && !f.cancels {
			n.arrive(f, d)
		}
	}
	for _, f := range slices.Clone(n.flights) {
		n.report(f)
	}
	n.checked()
	n.consume(d)
}

// arrive delivers the bytes of an answer that arrive in d.
func (n *network) arrive(f *flight, d time.Duration) {
	if n.now < f.flows {
		return
	}
	h, c := &n.sc.hosts[f.h], &n.conns[f.source]
	rtt := n.rtt(h)
	f.part += f.rate * d.Seconds()
	k := min(int64(f.part), f.last-f.arrived)
	if !c.paced(h) {
		k = min(k, int64(math.Ceil(c.allowed(n.now, h, rtt)-c.used)))
	}
	f.part = min(f.part-float64(k), segment)
	if w := n.sc.cfg.Window; w > 0 { // the local disk is full
		k = min(k, max(0, n.passed+w+w/4-f.arrived))
	}
	if k > 0 {
		c.used += float64(k)
		f.holes = append(f.holes, c.lose(n.rng, n.now, h, rtt, f.arrived, k)...)
		f.arrived += k
		n.sent[f.h] += k
	}
	c.turn(n.now, h, rtt)
	for len(f.holes) > 0 && f.holes[0].until <= n.now {
		f.holes = f.holes[1:]
	}
	inOrder := f.arrived
	if len(f.holes) > 0 {
		inOrder = f.holes[0].at
	}
	if pos := min(inOrder, f.end); pos > f.pos {
		f.pos = pos
		f.heard = n.now
		n.first[f.h] = cmp.Or(n.first[f.h], n.now)
	}
}

// report reports the bytes of a flight and its end to the scheduler.
func (n *network) report(f *flight) {
	h := &n.sc.hosts[f.h]
	n.tell(f)
	switch {
	case f.ended:
	case f.cancels:
		n.leave(f)
		n.finish(f, FaultNone, 0)
	case f.answers && h.dead(n.now, n.sent[f.h]):
		n.leave(f)
		n.finish(f, FaultTransient, 0)
	case !f.answers && n.now >= f.at:
		n.answer(f)
	case f.answers && f.pos >= f.end:
		n.leave(f)
		n.finish(f, FaultNone, 0)
	case f.answers && f.pos >= f.last: // the answer breaks off
		n.conns[f.source].alive = false
		n.finish(f, FaultTransient, 0)
	}
}

// tell reports the bytes that were written since the last report.
func (n *network) tell(f *flight) {
	if f.pos == f.told || f.ended {
		return
	}
	r := byterange.Range{Start: f.told, End: f.pos}
	if u := n.sc.hosts[f.h].unit; u > 0 {
		n.step(Coming{Fetch: f.id, N: f.pos - f.came})
		f.came = f.pos
		if r.End = max(f.pos-f.pos%u, f.told); f.pos >= f.end {
			r.End = f.pos
		}
		if r.Empty() {
			return
		}
	}
	f.told = r.End
	n.write(f.h, r)
	n.step(Progress{Fetch: f.id, Range: r})
}

// leave ends an answer early. If much of it is still to come, the connection is closed, and the bytes in flight are
// lost.
func (n *network) leave(f *flight) {
	rest := f.last - f.arrived
	if f.answers && rest+f.arrived-f.pos <= drained {
		return
	}
	n.conns[f.source].alive = false
	if !f.answers { // the dialogue begins again
		n.conns[f.source].said = false
		return
	}
	n.conns[f.source].left = true
	rtt := n.rtt(&n.sc.hosts[f.h])
	rate := min(f.rate, n.conns[f.source].window/rtt.Seconds())
	lost := min(rest, int64(rate*rtt.Seconds()))
	n.rep.lost += lost + f.arrived - f.pos
	n.sent[f.h] += lost
	n.ghosts = append(n.ghosts, ghost{rate, n.now + rtt})
}

// finish ends a flight.
func (n *network) finish(f *flight, fault Fault, after time.Duration) {
	if u := n.sc.hosts[f.h].unit; u > 0 && f.answers { // pieces arrive whole, even if only a part of them is wanted
		n.rep.lost += f.start%u + f.pos - f.told + (u-f.end%u)%u
	}
	f.ended = true
	n.flights = slices.DeleteFunc(n.flights, func(o *flight) bool { return o == f })
	if after > 0 {
		n.notBefore[f.source] = n.now + after
	}
	n.step(FetchEnded{Fetch: f.id, Fault: fault, After: after})
}

// answer sends the header at its time.
func (n *network) answer(f *flight) {
	h := &n.sc.hosts[f.h]
	switch {
	case f.fault != FaultNone:
		n.finish(f, f.fault, 0)
		return
	case h.dead(n.now, n.sent[f.h]):
		n.conns[f.source].alive = false
		n.finish(f, FaultTransient, 0)
		return
	case h.busy != nil && h.busy(n.now) > 0:
		n.finish(f, FaultTransient, h.busy(n.now))
		return
	case h.wrong:
		n.conns[f.source].alive = false
		n.finish(f, FaultWrong, 0)
		return
	}
	f.answers, f.heard = true, n.now
	c := &n.conns[f.source]
	c.round, c.used = max(n.now, f.flows), 0
	n.host[f.source] = n.sc.answersAs(f.h)
	n.step(Answered{Fetch: f.id, Host: n.host[f.source], RTT: n.rtt(h), Size: n.sc.size, Ranged: !f.whole && !h.norange})
	n.introduce()
}
