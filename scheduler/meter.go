package scheduler

import "time"

const (
	slotWidth = 20 * time.Millisecond
	slots     = 256 // a little over five seconds of history
)

// muchMore is how much more a window that doubles lets through at least in the next two round trips.
const muchMore = 1.5

// growthLeast is the shortest time that is compared with the one before: what is near comes in bursts.
const growthLeast = 5 * slotWidth

// A meter counts bytes in time slots, so that the speed over any recent period is found in
// constant time. Its memory does not grow.
type meter struct {
	epoch time.Time
	total int64
	at    int64        // number of the newest slot
	cum   [slots]int64 // total at the end of a slot
	flow  time.Time    // when bytes began to flow after the last pause
	last  time.Time    // when the last byte came
}

// pause is how long nothing may come before the flow counts as a new one.
const pause = 500 * time.Millisecond

func (m *meter) slot(t time.Time) int64 { return int64(t.Sub(m.epoch) / slotWidth) }

// advance carries the total forward to the slot of now.
func (m *meter) advance(now time.Time) {
	to := m.slot(now)
	if to-m.at > slots {
		m.at = to - slots
	}
	for ; m.at < to; m.at++ {
		m.cum[(m.at+1)%slots] = m.total
	}
}

func (m *meter) add(now time.Time, n int64) {
	m.advance(now)
	if m.last.IsZero() || now.Sub(m.last) > pause {
		m.flow = now
	}
	m.last = now
	m.total += n
	m.cum[m.at%slots] = m.total
}

// bytes is how many came in the last w, which is at most the history and rounded to slots.
func (m *meter) bytes(now time.Time, w time.Duration) int64 {
	m.advance(now)
	back := min(int64(w/slotWidth)+1, slots-1)
	if back > m.at {
		return m.total
	}
	return m.total - m.cum[(m.at-back)%slots]
}

// over is the mean speed in bytes a second in the last w.
func (m *meter) over(now time.Time, w time.Duration) float64 {
	w = min(max(w, 2*slotWidth), (slots-2)*slotWidth).Truncate(slotWidth)
	// The newest slot is not over yet: the period is the whole slots before it and its part.
	part := now.Sub(m.epoch) % slotWidth
	return float64(m.bytes(now, w)) / (w + part).Seconds()
}

// steady is the speed once the flow has got going: over its younger half, at most the last 3 s.
func (m *meter) steady(now time.Time) float64 {
	if m.flow.IsZero() {
		return 0
	}
	return m.over(now, min(max(now.Sub(m.flow)/2, 3*slotWidth), 3*time.Second))
}

// grows reports whether the last period brought much more than the one before, as in slow start.
func (m *meter) grows(now time.Time, period time.Duration) bool {
	last := m.bytes(now, period)
	return float64(last) > muchMore*float64(m.bytes(now, 2*period)-last)
}
