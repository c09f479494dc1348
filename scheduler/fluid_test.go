package scheduler

import (
	"math"
	"slices"
	"time"
)

// bound is the earliest possible time for nine tenths of the missing bytes, and for all of them. useful is true for
// each host that delivers a part.
type bound struct {
	nine, all time.Duration
	useful    []bool
}

// fluid returns the bound if every host sends at its full rate from the start, with as many hosts as may be in use,
// limited by the client's link and the reader of a stream. A host that lies, has another file or serves no ranges does
// not count, unless there is no other.
func fluid(sc scenario) bound {
	return sc.bound(func(*host, time.Duration, int64, time.Duration) float64 { return math.Inf(1) })
}

// floor returns the bound that also includes the costs that no scheduler can avoid: the handshake and the request of
// each connection, the first answer, which names the mirrors, slow start from an initial window of 10 segments (RFC
// 6928) with all mirrors asked at that moment, and the pauses of BBR.
func floor(sc scenario) bound {
	named := sc.hosts[0].answers(0)
	if sc.rerun {
		named = 0
	}
	return sc.bound(func(h *host, t time.Duration, sent int64, d time.Duration) float64 {
		from := h.flows()
		if h != &sc.hosts[0] {
			from += named
		}
		if h.probes(t-from, h.rtt) {
			return 0
		}
		return max(0, slowStart(t+d-from, h.rtt)*float64(max(1, sc.lanes))-float64(sent)) / d.Seconds()
	})
}

// answers returns when the header of the first answer of a host arrives, if the connect begins at t.
func (h *host) answers(t time.Duration) time.Duration {
	trips := time.Duration(2)
	if h.ftp {
		trips = loginTrips + 1
	}
	return t + trips*h.rtt + h.setup
}

// flows returns the time from the first packet to the first byte.
func (h *host) flows() time.Duration {
	if h.ftp {
		return h.answers(0) + portTrips*h.rtt + h.setup
	}
	return h.answers(0)
}

// slowStart returns the maximum of bytes that a window has let through at a given time after its start. It begins with
// 10 segments and doubles in each round trip.
func slowStart(since, rtt time.Duration) float64 {
	if since <= 0 {
		return 0
	}
	return initialWindow * (math.Exp2(float64(min(since/rtt, 40)+1)) - 1)
}

// bound sums up the bytes of the hosts. limit returns the limit of a host at t for the time d, after the bytes that it
// has sent.
func (sc *scenario) bound(limit func(h *host, t time.Duration, sent int64, d time.Duration) float64) (b bound) {
	b.useful = make([]bool, len(sc.hosts))
	sent, rates := make([]int64, len(sc.hosts)), make([]float64, len(sc.hosts))
	links := sc.links()
	missing := float64(sc.size - sc.cfg.Have.Len())
	left := missing
	if missing == 0 {
		return b
	}
	for t, d := time.Duration(0), time.Duration(0); t < 24*time.Hour; t += d {
		d = max(4*time.Millisecond, t/2000)
		total := sc.offered(t, links, sent, rates, func(i int) float64 { return limit(&sc.hosts[i], t, sent[i], d) })
		most := total
		if sc.access != nil {
			most = min(most, sc.access(t))
		}
		if sc.pipe > 0 {
			most = min(most, sc.pipe)
		}
		for i, r := range rates {
			b.useful[i] = b.useful[i] || r > 0
			if total > 0 {
				sent[i] += int64(r * most / total * d.Seconds())
			}
		}
		got := most * d.Seconds()
		if over := left - missing/10; b.nine == 0 && got >= over {
			b.nine = t + time.Duration(over/most*float64(time.Second))
		}
		if got < left {
			left -= got
			continue
		}
		b.all = t + time.Duration(left/most*float64(time.Second))
		return b
	}
	b.all = 24 * time.Hour
	return b
}

// offered returns the total rate of the hosts, each up to its limit, of which at most Split are in use at a time.
func (sc *scenario) offered(t time.Duration, links []int, sent []int64, rates []float64,
	limit func(i int) float64) (total float64) {
	lanes := float64(max(1, sc.lanes))
	for i := range sc.hosts {
		h := &sc.hosts[i]
		rates[i] = 0
		if h.wrong || h.lies != nil || h.norange && len(sc.hosts) > 1 || h.dead(t, sent[i]) || links[i] != i ||
			h.mute != nil && h.mute(t) || h.busy != nil && h.busy(t) > 0 {
			continue
		}
		rates[i] = min(h.offers(t, sent[i]), h.lossLimit()*lanes)
		if h.most > 0 {
			rates[i] = min(rates[i], h.most*lanes)
		}
		rates[i] = min(rates[i], limit(i))
	}
	few(rates, max(1, sc.cfg.withDefaults().Split/max(1, sc.lanes)))
	for _, r := range rates {
		total += r
	}
	return total
}

// few keeps the n fastest.
func few(rates []float64, n int) {
	if n >= len(rates) {
		return
	}
	sorted := slices.Sorted(slices.Values(rates))
	least, k := sorted[len(sorted)-n], 0
	for i, r := range rates {
		if r < least || k == n {
			rates[i] = 0
			continue
		}
		k++
	}
}
