package scheduler

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// The virtual network has no sockets and no clock. This file defines mirrors, links and files, tcp_test.go the behavior
// of a connection, wire_test.go how bytes travel, and play_test.go how a scenario is played and reported.

// A host is one virtual mirror. The zero value of each field but rate and rtt means that it behaves.
type host struct {
	rate  func(t time.Duration) float64 // bytes a second that it offers to all connections together
	rtt   time.Duration
	setup time.Duration // cost of connecting beside a round trip, for example TLS
	ftp   bool          // asked in a dialogue, with a connection for each answer
	most  float64       // bytes a second of one connection; 0: no limit

	loss  float64 // the probability that a packet is lost
	bbr   bool    // its sender uses BBR; otherwise a loss reduces its window (CUBIC)
	queue float64 // queue of a BBR sender's bottleneck, in products of bandwidth and delay; 0: longer than needed

	tired   func(sent int64) float64            // share of rate that remains after sent bytes
	dies    int64                               // dead after sending this many bytes
	down    func(t time.Duration) bool          // refuses connections and breaks open ones
	mute    func(t time.Duration) bool          // packets to it are lost
	busy    func(t time.Duration) time.Duration // 503 with Retry-After
	norange bool                                // answers ranges with the whole file
	wrong   bool                                // announces another digest
	as      string                              // answers as this host, after a redirect, and shares its link
	cut     int64                               // breaks off after this many bytes of each answer
	half    bool                                // breaks off after half of each answer
	lies    func(piece int64) bool              // pieces whose bytes are wrong
	unit    int64                               // delivers only whole pieces of this length
	late    bool                                // is a last resort
}

func mbit(v float64) float64 { return v * 1e6 / 8 }

func steady(v float64) func(time.Duration) float64 {
	return func(time.Duration) float64 { return mbit(v) }
}

// after returns a rate of before until d, and of later from then on.
func after(d time.Duration, before, later float64) func(time.Duration) float64 {
	return func(t time.Duration) float64 {
		if t < d {
			return mbit(before)
		}
		return mbit(later)
	}
}

// wave returns a rate that oscillates around mid with the given amplitude and period.
func wave(mid, by float64, period time.Duration) func(time.Duration) float64 {
	return func(t time.Duration) float64 {
		return mbit(mid + by*math.Sin(2*math.Pi*t.Seconds()/period.Seconds()))
	}
}

// from returns a function that is true from d on.
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

// offers returns the rate of a host after sent bytes, in bytes a second.
func (h *host) offers(t time.Duration, sent int64) float64 {
	rate := h.rate(t) * (1 - h.loss)
	if h.tired != nil {
		rate *= h.tired(sent)
	}
	return rate
}

// dead reports whether a host refuses connections.
func (h *host) dead(t time.Duration, sent int64) bool {
	return h.down != nil && h.down(t) || h.dies > 0 && sent >= h.dies
}

// scenario is a network and a file.
type scenario struct {
	size   int64
	hosts  []host                          // the first one is the origin
	access func(t time.Duration) float64   // bytes a second of the client's link; nil: no limit
	bloat  time.Duration                   // increase of the round trip while that link is full
	near   bool                            // nearer hosts get more of it, as with senders that react to losses
	lanes  int                             // connections to each host, each as a source of its own (-x); 0: 1
	pipe   float64                         // bytes a second of the reader of a stream; 0: no stream
	piece  int64                           // length of the pieces with known digests; 0: none
	rerun  bool                            // size and mirrors are known from an earlier run
	hints  func(id SourceID) (Speed, bool) // remembered speeds
	cfg    Config
	seed   uint64
	limit  time.Duration // of virtual time
}

// trip returns the median round-trip time of the hosts.
func (sc *scenario) trip() time.Duration {
	var trips []time.Duration
	for i := range sc.hosts {
		trips = append(trips, sc.hosts[i].rtt)
	}
	slices.Sort(trips)
	return max(trips[len(trips)/2], ms)
}

// seeded varies a network slightly: rates, distances, times of events, and the order of the mirrors.
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

// vary changes the rate by up to 5 % and the distance by up to 10 %, and makes all events happen up to half a second
// earlier.
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

// remembering returns the same network some days later, with the speeds that a run has learned.
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

// wholes reports whether a host answers with the whole file instead of a range.
func (sc *scenario) wholes() bool {
	return slices.ContainsFunc(sc.hosts, func(h host) bool { return h.norange })
}

// liars reports whether a host sends wrong bytes.
func (sc *scenario) liars() bool {
	return slices.ContainsFunc(sc.hosts, func(h host) bool { return h.lies != nil })
}

// source returns the event that adds a source.
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

// sources returns the number of sources: the first connections of all hosts precede the second ones.
func (sc *scenario) sources() int { return len(sc.hosts) * max(1, sc.lanes) }

func (sc *scenario) hostOf(id SourceID) int { return int(id) % len(sc.hosts) }

// answersAs returns the host that answers for host i.
func (sc *scenario) answersAs(i int) string {
	if as := sc.hosts[i].as; as != "" {
		return as
	}
	return name(i)
}

// links returns for each host the first one that shares its link.
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
