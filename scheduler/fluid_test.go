package scheduler

import (
	"slices"
	"time"
)

// fluid is the best possible time: every host at its rate from the start, as many of them as may be in use, up to the
// client's link and what the reader of a stream takes. It tells who has a part in it. Who lies, has something
// else or serves no ranges does not count, unless nobody else is there.
func fluid(sc scenario) (best time.Duration, useful []bool) {
	useful = make([]bool, len(sc.hosts))
	sent, rates := make([]int64, len(sc.hosts)), make([]float64, len(sc.hosts))
	links := sc.links()
	left := float64(sc.size - sc.cfg.Have.Len())
	for t, d := time.Duration(0), time.Duration(0); t < 24*time.Hour; t += d {
		d = max(4*time.Millisecond, t/2000)
		total := sc.offered(t, links, sent, rates)
		most := total
		if sc.access != nil {
			most = min(most, sc.access(t))
		}
		if sc.pipe > 0 {
			most = min(most, sc.pipe)
		}
		for i, r := range rates {
			useful[i] = useful[i] || r > 0
			if total > 0 {
				sent[i] += int64(r * most / total * d.Seconds())
			}
		}
		if got := most * d.Seconds(); got < left {
			left -= got
			continue
		}
		return t + time.Duration(left/most*float64(time.Second)), useful
	}
	return 24 * time.Hour, useful
}

// offered is what the hosts can give, of which no more than Split are in use at a time.
func (sc *scenario) offered(t time.Duration, links []int, sent []int64, rates []float64) (total float64) {
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
	}
	few(rates, max(1, sc.cfg.withDefaults().Split/max(1, sc.lanes)))
	for _, r := range rates {
		total += r
	}
	return total
}

// few leaves the n fastest.
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
