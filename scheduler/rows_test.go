package scheduler

import (
	"fmt"
	"slices"
	"time"
)

const (
	ms  = time.Millisecond
	mib = 1 << 20
)

// row is a kind of network with the bars to reach in it, for each seed.
type row struct {
	name string
	size int64
	net  scenario // except for its size
	bar
	goal *bar // bar to reach in the future, if it is higher
}

// bar is a requirement.
type bar struct {
	least float64 // share of the best possible time
	warm  float64 // the same with remembered speeds; 0: not required
	floor float64 // share of the time at the floor; 0: not required
	waste float64 // maximum share of the file, or 1 MiB; 0: 1 %
	also  func(r report) (problem string)
}

// uneven returns six mirrors of 2 to 80 Mbit/s, 10 to 300 ms away.
func uneven() []host {
	return []host{
		plain(20, 30*ms), plain(5, 300*ms), plain(80, 60*ms),
		plain(2, 180*ms), plain(40, 120*ms), plain(10, 10*ms),
	}
}

// three returns three equal mirrors, one of which is changed.
func three(change func(*host)) []host { return with(equal(3, 40, 40*ms), 1, change) }

func within(d time.Duration) func(report) string {
	return func(r report) string {
		if r.allIn == 0 || r.allIn > d {
			return fmt.Sprintf("all in use within %v, want %v", r.allIn, d)
		}
		return ""
	}
}

func connections(n int) func(report) string {
	return func(r report) string {
		if r.late > n {
			return fmt.Sprintf("%d connections after ten seconds, want %d", r.late, n)
		}
		return ""
	}
}

func requestsUpTo(n int) func(report) string {
	return func(r report) string {
		if r.total() > n {
			return fmt.Sprintf("%d requests, want %d", r.total(), n)
		}
		return ""
	}
}

func movesOn(r report) string {
	if r.quiet > 500*ms {
		return fmt.Sprintf("a range was moved on %v after the time that a source may be silent", r.quiet)
	}
	return ""
}

// banned checks that a liar is not used after the first proven lie.
func banned(r report) string {
	lies := func(id SourceID) bool { return r.sc.hosts[r.sc.hostOf(id)].lies != nil }
	for i, a := range r.history {
		if f, ok := a.(Fetch); ok && lies(f.Source) && r.at[i] >= r.lie {
			return fmt.Sprintf("it was asked at %v, after the lie of %v", r.at[i], r.lie)
		}
		if c, ok := a.(Cancel); ok && c.Why == ReasonWrongBytes && r.at[i] > r.lie {
			return fmt.Sprintf("it was told to stop at %v, after the lie of %v", r.at[i], r.lie)
		}
	}
	if r.lie == 0 {
		return "no lie was found"
	}
	return ""
}

// rows returns the table: the requirements, further networks, and invented ones.
func rows() []row { return slices.Concat(asked(), more(), kept()) }

func asked() []row {
	return []row{
		{name: "8 equal mirrors", size: 256 * mib, bar: bar{least: 0.92, warm: 0.94, also: within(800 * ms)},
			goal: &bar{least: 0.92, warm: 0.95, also: within(800 * ms)},
			net:  scenario{hosts: equal(8, 40, 40*ms)}},
		{name: "6 uneven mirrors", size: 192 * mib, bar: bar{least: 0.91, warm: 0.93}, goal: &bar{least: 0.91, warm: 0.94},
			net: scenario{hosts: uneven()}},
		{name: "6 uneven mirrors, 20 GiB", size: 20 << 30, bar: bar{least: 0.985}, goal: &bar{least: 0.99},
			net: scenario{hosts: uneven()}},
		{name: "client link full with 1 of 10", size: 256 * mib, bar: bar{least: 0.98, also: connections(2)},
			net: scenario{hosts: equal(10, 40, 40*ms), access: steady(40)}},
		{name: "client link full with 3 of 10", size: 256 * mib, bar: bar{least: 0.95, also: connections(5)},
			goal: &bar{least: 0.96, also: connections(5)},
			net:  scenario{hosts: equal(10, 40, 40*ms), access: steady(120)}},
		{name: "1 of 3 stalls", size: 128 * mib, bar: bar{least: 0.90, also: movesOn},
			net: scenario{hosts: three(func(h *host) { h.rate = after(3*time.Second, 40, 0) })}},
		{name: "1 of 3 drops to 1 %", size: 128 * mib, bar: bar{least: 0.90, also: movesOn},
			net: scenario{hosts: three(func(h *host) { h.rate = after(3*time.Second, 40, 0.4) })}},
		{name: "1 of 3 dies", size: 128 * mib, bar: bar{least: 0.90, also: movesOn},
			net: scenario{hosts: three(func(h *host) { h.down = from(3 * time.Second) })}},
		{name: "1 of 3 flaps every 5 s", size: 128 * mib, bar: bar{least: 0.90, also: movesOn},
			net: scenario{hosts: three(func(h *host) {
				h.down = func(t time.Duration) bool { return t%(10*time.Second) > 5*time.Second }
			})}},
		{name: "a slow one becomes the fastest halfway", size: 256 * mib, bar: bar{least: 0.88},
			net: scenario{hosts: with(equal(3, 20, 40*ms), 2, func(h *host) { h.rate = after(15*time.Second, 2, 80) })}},
		{name: "the tenth is fast, nine are slow", size: 1024 * mib, bar: bar{least: 0.75},
			net: scenario{hosts: append(equal(9, 2, 40*ms), plain(80, 40*ms))}},
		{name: "1 of 4 lies, pieces known", size: 256 * mib, bar: bar{least: 0.85, waste: 0.1, also: banned},
			net: scenario{piece: mib, hosts: with(equal(4, 40, 40*ms), 1,
				func(h *host) { h.lies = func(i int64) bool { return i%7 == 3 } })}},
		{name: "32 mirrors, a small file", size: mib, bar: bar{also: requestsUpTo(2)},
			net: scenario{hosts: equal(32, 40, 40*ms)}},
		{name: "Retry-After of the only mirror", size: 8 * mib, bar: bar{least: 0.5, also: requestsUpTo(2)},
			net: scenario{hosts: with(equal(1, 40, 40*ms), 0, func(h *host) {
				h.busy = func(t time.Duration) time.Duration {
					if t < 4*time.Second {
						return 5 * time.Second
					}
					return 0
				}
			})}},
		{name: "all dead for 20 s", size: 64 * mib, bar: bar{least: 0.6, also: fewAttempts},
			net: scenario{hosts: each(equal(3, 40, 40*ms), func(_ int, h *host) {
				h.down = func(t time.Duration) bool { return t > 3*time.Second && t < 23*time.Second }
			})}},
	}
}

// fewAttempts checks that there is no busy loop while all hosts are dead.
func fewAttempts(r report) string {
	n := 0
	for _, at := range r.asked {
		if at > 3*time.Second && at < 22500*ms {
			n++
		}
	}
	if n > 20 {
		return fmt.Sprintf("%d attempts during the outage", n)
	}
	return ""
}
