package scheduler

import (
	"cmp"
	"slices"
	"time"
)

// mirrors are all that were added, in that order. Most of its methods sum up those that are open.
type mirrors []*mirror

func everyone(*mirror) bool { return true }

// count counts the elements that ok selects.
func count[T any](all []T, ok func(T) bool) (n int) {
	for _, e := range all {
		if ok(e) {
			n++
		}
	}
	return n
}

func (ms mirrors) find(id SourceID) *mirror {
	if i := slices.IndexFunc(ms, func(m *mirror) bool { return m.id == id }); i >= 0 {
		return ms[i]
	}
	return nil
}

// which lists the open mirrors that ok selects.
func (ms mirrors) which(ok func(*mirror) bool) (out mirrors) {
	for _, m := range ms {
		if m.open() && ok(m) {
			out = append(out, m)
		}
	}
	return out
}

// count counts the open mirrors.
func (ms mirrors) count() int { return count(ms, (*mirror).open) }

// sum adds up something of the open mirrors.
func (ms mirrors) sum(of func(*mirror) float64) (sum float64) {
	for _, m := range ms {
		if m.open() {
			sum += of(m)
		}
	}
	return sum
}

// fastest lists the open mirrors, the fastest first.
func (ms mirrors) fastest() (out mirrors) {
	out = ms.which(everyone)
	slices.SortStableFunc(out, bySpeed)
	return out
}

// bySpeed orders mirrors, the fastest first; bySlowness the slowest first.
func bySpeed(a, b *mirror) int    { return cmp.Compare(b.speed, a.speed) }
func bySlowness(a, b *mirror) int { return cmp.Compare(a.speed, b.speed) }

// aggregate is the speed of all that are open, in bytes a second.
func (ms mirrors) aggregate() float64 { return ms.sum(func(m *mirror) float64 { return m.speed }) }

// mean is what they brought in the last period, in bytes a second. It is long: a source may pause for a moment to measure
// its path, and so may all at once.
func (ms mirrors) mean(now time.Time, period time.Duration) float64 {
	return ms.sum(func(m *mirror) float64 { return m.meter.over(now, period) })
}

// speedOf is the speed of a mirror, or if it is not known the mean of those that were tried.
func (ms mirrors) speedOf(m *mirror) float64 {
	if m.speed > 0 {
		return m.speed
	}
	return ms.guess()
}

func (ms mirrors) guess() float64 {
	sum, n := 0.0, 0.0
	for _, m := range ms {
		if m.tried() && m.speed > 0 {
			sum, n = sum+m.speed, n+1
		}
	}
	if n == 0 {
		return firstWant / 2
	}
	return sum / n
}

// medianRTT is that of the open mirrors, of two the shorter; 100 ms while nothing is known.
func (ms mirrors) medianRTT() time.Duration {
	var all []time.Duration
	for _, m := range ms {
		if m.open() && m.rtt > 0 {
			all = append(all, m.rtt)
		}
	}
	if len(all) == 0 {
		return 100 * time.Millisecond
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}

// settlePeriod is how long mirrors are watched before they are compared. A pause that a sender makes to measure
// its path is short beside it.
func (ms mirrors) settlePeriod() time.Duration { return max(2*time.Second, 10*ms.medianRTT()) }

// flowing reports whether all open mirrors are at work, have been for so long, and their windows have grown.
func (ms mirrors) flowing(now time.Time, period time.Duration) bool {
	return !slices.ContainsFunc(ms, func(m *mirror) bool {
		return m.open() && (m.running == nil || !m.flows(now, max(period, warmTrips*m.rtt)+m.warming()) || m.grows(now, 2))
	})
}

// settled reports whether all open mirrors flow for long enough to tell what each of them does to the others: a new
// connection brings less than it will.
func (ms mirrors) settled(now time.Time) bool {
	period := ms.settlePeriod()
	return ms.flowing(now, period) && !slices.ContainsFunc(ms, func(m *mirror) bool {
		return m.open() && m.running.cold && !m.align.whole() && now.Sub(m.running.since) < period+2*m.rtt
	})
}

// weakest lists the open mirrors, the slowest first, without those that give pieces: see wholeFirst for what that costs.
func (ms mirrors) weakest() mirrors {
	some := ms.which(func(m *mirror) bool { return !m.align.whole() })
	slices.SortStableFunc(some, bySlowness)
	return some
}

// ranged reports whether another mirror than m serves ranges, now or later.
func (ms mirrors) ranged(m *mirror) bool {
	return slices.ContainsFunc(ms, func(o *mirror) bool {
		return o != m && !o.gone() && !o.noRanges && !o.slowTail && (o.running != nil || o.fails == 0 && (!o.last || o.align.whole()))
	})
}

// preferred orders mirrors that may be opened: the last resort and those with a slow tail come last, then those that were
// tried, the slower after the faster.
func preferred(a, b *mirror) bool {
	if a.last != b.last {
		return b.last
	}
	if a.slowTail != b.slowTail {
		return b.slowTail
	}
	if a.tried() != b.tried() {
		return !a.tried()
	}
	return a.speed > b.speed
}

// plan chooses the mirrors to open at once, as it is known that they are worth it, and counts them: the fastest of those
// whose speed is remembered, until together they should bring what was once reached. If most is 0, that is no limit.
func (ms mirrors) plan(most float64) (n int) {
	var known mirrors
	for _, m := range ms {
		if m.speed > 0 && !m.tried() {
			known = append(known, m)
		}
	}
	sum := ms.aggregate()
	slices.SortStableFunc(known, bySpeed)
	for _, m := range known {
		if most > 0 && sum >= most {
			break
		}
		sum += m.speed
		m.becomePlanned()
		n++
	}
	return n
}

// topPeriod is how long a mirror must do what is remembered of it. Losses, and buffers on the way, let bytes come in bursts
// that are faster than the path, even over a second.
const topPeriod = 3 * time.Second

// measure keeps the highest speed of each mirror, and returns what all brought in the last second. It is called some ten
// times a second.
func (ms mirrors) measure(now time.Time) (sum float64) {
	for _, m := range ms {
		if m.meter.flow.IsZero() {
			continue
		}
		sum += m.meter.over(now, time.Second)
		if age := now.Sub(m.meter.flow); age > time.Second {
			m.top = max(m.top, m.meter.over(now, min(age, topPeriod)))
		}
	}
	return sum
}
