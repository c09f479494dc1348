package scheduler

import "time"

const (
	slotWidth = 20 * time.Millisecond
	slots     = 256 // slightly more than five seconds of history
)

// muchMore is the ratio between the bytes of two consecutive periods above which a window counts as growing.
const muchMore = 1.5

// growthLeast is the shortest period that is compared with the previous one, because bytes from a nearby server arrive
// in bursts.
const growthLeast = 5 * slotWidth

// meter counts bytes in time slots, so that the speed over any recent period can be computed in constant time.
type meter struct {
	epoch time.Time
	total int64
	at    int64        // number of the newest slot
	cum   [slots]int64 // total at the end of each slot
	flow  time.Time    // start of the present flow, after the last pause
	last  time.Time    // when the last byte arrived
}

// pause is the time without bytes after which a new flow begins.
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

// bytes returns the number of bytes in the last w, rounded to slots and limited to the history.
func (m *meter) bytes(now time.Time, w time.Duration) int64 {
	m.advance(now)
	back := min(int64(w/slotWidth)+1, slots-1)
	if back > m.at {
		return m.total
	}
	return m.total - m.cum[(m.at-back)%slots]
}

// over returns the mean speed in the last w, in bytes a second.
func (m *meter) over(now time.Time, w time.Duration) float64 {
	w = min(max(w, 2*slotWidth), (slots-2)*slotWidth).Truncate(slotWidth)
	// The newest slot is incomplete: the period consists of the complete slots before it and its elapsed part.
	part := now.Sub(m.epoch) % slotWidth
	return float64(m.bytes(now, w)) / (w + part).Seconds()
}

// steady returns the mean speed over the second half of the present flow, at most over the last 3 s.
func (m *meter) steady(now time.Time) float64 {
	if m.flow.IsZero() {
		return 0
	}
	return m.over(now, min(max(now.Sub(m.flow)/2, 3*slotWidth), 3*time.Second))
}

// grows reports whether the last period delivered much more than the period before, as in slow start.
func (m *meter) grows(now time.Time, period time.Duration) bool {
	last := m.bytes(now, period)
	return float64(last) > muchMore*float64(m.bytes(now, 2*period)-last)
}
