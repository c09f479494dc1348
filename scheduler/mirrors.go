package scheduler

import (
	"cmp"
	"slices"
	"time"
)

// mirrors are all sources in the order in which they were added. Most methods consider only open mirrors.
type mirrors []*mirror

func everyone(*mirror) bool { return true }

// count returns the number of elements for which ok returns true.
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

// which returns the open mirrors for which ok returns true.
func (ms mirrors) which(ok func(*mirror) bool) (out mirrors) {
	for _, m := range ms {
		if m.open() && ok(m) {
			out = append(out, m)
		}
	}
	return out
}

// count returns the number of open mirrors.
func (ms mirrors) count() int { return count(ms, (*mirror).open) }

// sum returns the sum of a property over the open mirrors.
func (ms mirrors) sum(of func(*mirror) float64) (sum float64) {
	for _, m := range ms {
		if m.open() {
			sum += of(m)
		}
	}
	return sum
}

// fastest returns the open mirrors, the fastest first.
func (ms mirrors) fastest() (out mirrors) {
	out = ms.which(everyone)
	slices.SortStableFunc(out, bySpeed)
	return out
}

// bySpeed sorts the fastest mirror first, and bySlowness the slowest.
func bySpeed(a, b *mirror) int    { return cmp.Compare(b.speed, a.speed) }
func bySlowness(a, b *mirror) int { return cmp.Compare(a.speed, b.speed) }

// aggregate returns the total speed of the open mirrors, in bytes a second.
func (ms mirrors) aggregate() float64 { return ms.sum(func(m *mirror) float64 { return m.speed }) }

// mean returns the measured speed of the open mirrors in the last period, in bytes a second. The period should be long,
// because a source may pause for a moment to measure its path, possibly together with all other sources.
func (ms mirrors) mean(now time.Time, period time.Duration) float64 {
	return ms.sum(func(m *mirror) float64 { return m.meter.over(now, period) })
}

// speedOf returns the speed of m or, if it is unknown, the mean speed of the mirrors that were tried.
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

// medianRTT returns the median round-trip time of the open mirrors (of two, the shorter). It returns 100 ms if no
// round-trip time is known.
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

// settlePeriod returns how long mirrors are observed before they are compared. The pause of a sender that measures its
// path is short in comparison.
func (ms mirrors) settlePeriod() time.Duration { return max(2*time.Second, 10*ms.medianRTT()) }

// flowing reports whether all open mirrors have been delivering for at least period, with fully grown windows.
func (ms mirrors) flowing(now time.Time, period time.Duration) bool {
	return !slices.ContainsFunc(ms, func(m *mirror) bool {
		return m.open() && (m.running == nil || !m.flows(now, max(period, warmTrips*m.rtt)+m.warming()) || m.grows(now, 2))
	})
}

// settled reports whether all open mirrors have been delivering long enough to show how they affect each other: a new
// connection delivers less than it will later.
func (ms mirrors) settled(now time.Time) bool {
	period := ms.settlePeriod()
	return ms.flowing(now, period) && !slices.ContainsFunc(ms, func(m *mirror) bool {
		return m.open() && m.running.cold && !m.align.whole() && now.Sub(m.running.since) < period+2*m.rtt
	})
}

// weakest returns the open mirrors, the slowest first, without mirrors that deliver whole pieces. wholeFirst explains
// what closing such a mirror costs.
func (ms mirrors) weakest() mirrors {
	some := ms.which(func(m *mirror) bool { return !m.align.whole() })
	slices.SortStableFunc(some, bySlowness)
	return some
}

// ranged reports whether a mirror other than m serves ranges, now or later.
func (ms mirrors) ranged(m *mirror) bool {
	return slices.ContainsFunc(ms, func(o *mirror) bool {
		return o != m && !o.gone() && !o.noRanges && !o.slowTail &&
			(o.running != nil || o.fails == 0 && (!o.last || o.align.whole()))
	})
}

// allowed reports whether m may be open. size is the size of the file, or -1 if unknown. A mirror without ranges may be
// open only if no other mirror is left.
func (ms mirrors) allowed(m *mirror, size int64) bool {
	return !m.noRanges || size < 0 || !ms.ranged(m)
}

// lone reports whether m is the only usable mirror, apart from mirrors that deliver whole pieces.
func (ms mirrors) lone(m *mirror, now time.Time) bool {
	return !slices.ContainsFunc(ms, func(o *mirror) bool {
		return o != m && !o.noRanges && o.usable(now) && !o.align.whole()
	})
}

// preferred reports whether a should be opened before b. Last resorts and mirrors with a slow tail come last. Untried
// mirrors come before tried mirrors, and fast mirrors before slow ones.
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

// plan chooses mirrors that can be opened without measuring, and returns their number. It chooses the fastest mirrors
// with a remembered speed, until the sum of all speeds reaches most. If most is 0, there is no limit.
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

// topPeriod is how long a mirror must sustain the speed that is remembered. Losses and buffers on the path cause bursts
// that are faster than the path, even over a second.
const topPeriod = 3 * time.Second

// measure updates the highest speed of each mirror, and returns the total speed in the last second.
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
