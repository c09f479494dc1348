package scheduler

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// The virtual network has no sockets and no clock. This file says what mirrors, links and files there are;
// tcp_test.go how a connection behaves, wire_test.go how bytes travel, play_test.go who plays a scenario to its end
// and what is reported of it.

// A host is one virtual mirror. The zero value of each field but rate and rtt means that it behaves.
type host struct {
	rate  func(t time.Duration) float64 // bytes a second that it offers to all connections together
	rtt   time.Duration
	setup time.Duration // what connecting takes beside a round trip, for example TLS
	ftp   bool          // it is asked in a dialogue, and each answer comes over a connection of its own
	most  float64       // bytes a second that one connection gets; 0: no limit

	loss  float64 // the probability that a packet is lost
	bbr   bool    // its sender goes by what the path carries (BBR); else a loss makes its window smaller (CUBIC)
	queue float64 // of a BBR sender's bottleneck, in products of bandwidth and delay; 0: longer than it needs

	tired   func(sent int64) float64            // the share of rate that is left after it sent so much
	dies    int64                               // it is dead when it has sent so much
	down    func(t time.Duration) bool          // refuses connections and breaks those that are open
	mute    func(t time.Duration) bool          // packets to it vanish
	busy    func(t time.Duration) time.Duration // 503 with Retry-After
	norange bool                                // answers ranges with the whole file
	wrong   bool                                // announces another digest
	as      string                              // answers as this host, after a redirect, and shares its link
	cut     int64                               // breaks off after so many bytes of each answer
	half    bool                                // breaks off after half of each answer
	lies    func(piece int64) bool              // whose bytes are wrong
	unit    int64                               // gives whole pieces of this length only
	late    bool                                // is to be used when the others are not enough
}

func mbit(v float64) float64 { return v * 1e6 / 8 }

func steady(v float64) func(time.Duration) float64 {
	return func(time.Duration) float64 { return mbit(v) }
}

// after gives before until d, then later.
func after(d time.Duration, before, later float64) func(time.Duration) float64 {
	return func(t time.Duration) float64 {
		if t < d {
			return mbit(before)
		}
		return mbit(later)
	}
}

// wave goes up and down around mid, by so much and once in a period.
func wave(mid, by float64, period time.Duration) func(time.Duration) float64 {
	return func(t time.Duration) float64 {
		return mbit(mid + by*math.Sin(2*math.Pi*t.Seconds()/period.Seconds()))
	}
}

// from is true from d on.
func from(d time.Duration) func(time.Duration) bool {
	return func(t time.Duration) bool { return t >= d }
}

func always(time.Duration) bool { return true }

func plain(mb float64, rtt time.Duration) host { return host{rate: steady(mb), rtt: rtt} }

func equal(n int, mb float64, rtt time.Duration) (hs []host) {
	for range n {
		hs = append(hs, plain(mb, rtt))
	}
	return hs
}

// with changes one host.
func with(hs []host, i int, change func(*host)) []host {
	change(&hs[i])
	return hs
}

// each changes all hosts.
func each(hs []host, change func(i int, h *host)) []host {
	for i := range hs {
		change(i, &hs[i])
	}
	return hs
}

// offers is what a host has to give after so much was sent, in bytes a second.
func (h *host) offers(t time.Duration, sent int64) float64 {
	rate := h.rate(t) * (1 - h.loss)
	if h.tired != nil {
		rate *= h.tired(sent)
	}
	return rate
}

// dead tells whether a host takes no connections.
func (h *host) dead(t time.Duration, sent int64) bool {
	return h.down != nil && h.down(t) || h.dies > 0 && sent >= h.dies
}

// A scenario is a network and a file.
type scenario struct {
	size   int64
	hosts  []host                          // the first one is the origin
	access func(t time.Duration) float64   // bytes a second of the client's link; nil: no limit
	bloat  time.Duration                   // how much longer a round trip takes while that link is full
	near   bool                            // who is near gets more of it, as with senders that go by losses
	lanes  int                             // connections to each host, each a source of its own (-x); 0: 1
	pipe   float64                         // bytes a second that the reader of a stream takes; 0: it is no stream
	piece  int64                           // length of the pieces whose digests are known; 0: there are none
	rerun  bool                            // size and mirrors are known from an earlier run
	hints  func(id SourceID) (Speed, bool) // remembered speeds
	cfg    Config
	seed   uint64
	limit  time.Duration // of virtual time
}

// trip is the median round trip time of the hosts.
func (sc *scenario) trip() time.Duration {
	var trips []time.Duration
	for i := range sc.hosts {
		trips = append(trips, sc.hosts[i].rtt)
	}
	slices.Sort(trips)
	return max(trips[len(trips)/2], ms)
}

// seeded varies a network a little: rates, distances, when things happen, and the order of the mirrors.
func (sc scenario) seeded(seed uint64) scenario {
	if seed == 0 {
		return sc
	}
	sc.seed = seed
	rng := rand.New(rand.NewPCG(seed, 17))
	sc.hosts = slices.Clone(sc.hosts)
	for i := range sc.hosts {
		sc.hosts[i].vary(rng)
	}
	for i := 1; i+1 < len(sc.hosts); i++ {
		if rng.IntN(3) == 0 {
			sc.hosts[i], sc.hosts[i+1] = sc.hosts[i+1], sc.hosts[i]
		}
	}
	return sc
}

// vary changes the rate by up to 5 %, the distance by up to 10 % and lets everything happen up to half a second sooner.
func (h *host) vary(rng *rand.Rand) {
	factor, early := 0.95+0.1*rng.Float64(), time.Duration(rng.Int64N(int64(500*time.Millisecond)))
	h.rtt = time.Duration(float64(h.rtt) * (0.9 + 0.2*rng.Float64()))
	h.most *= factor
	rate, down, mute, busy := h.rate, h.down, h.mute, h.busy
	h.rate = func(t time.Duration) float64 { return rate(t+early) * factor }
	if down != nil {
		h.down = func(t time.Duration) bool { return down(t + early) }
	}
	if mute != nil {
		h.mute = func(t time.Duration) bool { return mute(t + early) }
	}
	if busy != nil {
		h.busy = func(t time.Duration) time.Duration { return busy(t + early) }
	}
}

// remembering is the same network some days later, with what a run has learned of it.
func (sc scenario) remembering(r report) scenario {
	order := sc.seed
	sc.hosts = slices.Clone(sc.hosts)
	rng := rand.New(rand.NewPCG(order, 23))
	for i := range sc.hosts {
		if order > 0 {
			sc.hosts[i].vary(rng)
		}
	}
	speeds := r.speeds
	sc.hints = func(id SourceID) (Speed, bool) {
		i := slices.IndexFunc(speeds, func(v Speed) bool { return v.Source == id })
		if i < 0 {
			return Speed{}, false
		}
		return speeds[i], true
	}
	sc.cfg.Aggregate = r.peak
	return sc
}

// wholes tells whether somebody answers with the whole file instead of a range.
func (sc *scenario) wholes() bool {
	return slices.ContainsFunc(sc.hosts, func(h host) bool { return h.norange })
}

// liars tells whether somebody brings wrong bytes.
func (sc *scenario) liars() bool {
	return slices.ContainsFunc(sc.hosts, func(h host) bool { return h.lies != nil })
}

// source is the event that makes a source known.
func (sc *scenario) source(id SourceID) SourceAdded {
	h := sc.hosts[sc.hostOf(id)]
	ev := SourceAdded{ID: id, Host: name(sc.hostOf(id)), Align: h.unit, Slow: h.unit > 0, Last: h.late}
	if h.ftp {
		ev.Trips = portTrips
	}
	if sc.hints != nil {
		if v, ok := sc.hints(id); ok {
			ev.Rate, ev.RTT = v.Rate, v.RTT
		}
	}
	return ev
}

// sources counts them: the first connection of each host comes before the second of any.
func (sc *scenario) sources() int { return len(sc.hosts) * max(1, sc.lanes) }

func (sc *scenario) hostOf(id SourceID) int { return int(id) % len(sc.hosts) }

// answersAs names who answers for host i.
func (sc *scenario) answersAs(i int) string {
	if as := sc.hosts[i].as; as != "" {
		return as
	}
	return name(i)
}

// links tells, of each host, which one is the first that shares its link.
func (sc *scenario) links() (out []int) {
	first := map[string]int{}
	for i := range sc.hosts {
		as := sc.answersAs(i)
		if _, known := first[as]; !known {
			first[as] = i
		}
		out = append(out, first[as])
	}
	return out
}

func name(i int) string { return string(rune('a'+i/26)) + string(rune('a'+i%26)) }
