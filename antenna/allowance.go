package antenna

import (
	"sync/atomic"
	"time"
)

// mostFailed is how many attempts may fail a day for each of Limits.Updates. After that, updates that failed before
// wait until the next day, because an attempt to fetch a missing file is a request, too.
const mostFailed = 10

// A quota limits the running updates of a feed.
type quota struct {
	handling int // number of running updates
	day      int64
	left     *atomic.Int64 // bytes that the running updates may still transfer on day
	begun    int64         // value of left when the day or the first update began
	// warned is the last day for which a Skipped with DailyLimit was emitted.
	warned int64
}

// left returns how many bytes an update of m may transfer, and whether it may begin today. p is the update, or the
// previous update of the same URL, which may be nil. If ok is true, a left of 0 means no limit.
func (m *member) left(p *pending, now time.Time) (left int64, ok bool) {
	day, limits := m.saved.Day.at(now), &m.feed.Limits
	if p != nil && p.fails() && limits.Updates >= 0 && day.Failed >= mostFailed*limits.Updates {
		return 0, false
	}
	return day.left(limits.Updates, limits.DayBytes)
}

// mayHave reports whether p, an update of m, may begin today. allowance has the bytes that the running updates of m may
// still transfer; nil means no limit.
func (m *member) mayHave(p *pending, now time.Time) (allowance *atomic.Int64, ok bool) {
	left, ok := m.left(p, now)
	if !ok || left == 0 {
		return nil, ok
	}
	if m.quota.handling == 0 || m.quota.left == nil {
		m.quota.left = new(atomic.Int64)
		m.quota.set(m.saved.Day.Number, left)
	}
	m.renew()
	return m.quota.left, m.quota.left.Load() > 0 // running updates may have used up all bytes
}

// set sets the bytes that the running updates may transfer on a day.
func (q *quota) set(day, left int64) {
	q.day, q.begun = day, left
	q.left.Store(left)
}

// renew sets the allowance of the running updates for a new day. Otherwise an update that runs past midnight would be
// limited by the rest of the previous day.
func (m *member) renew() {
	q := &m.quota
	if q.handling == 0 || q.left == nil || q.day == m.saved.Day.Number {
		return
	}
	left, _ := m.saved.Day.left(-1, m.feed.Limits.DayBytes)
	q.set(m.saved.Day.Number, left)
}

func (l *updates) renewAll(now time.Time) {
	for _, m := range l.polls.members {
		if m.quota.handling > 0 {
			m.saved.Day = m.saved.Day.at(now)
			m.renew()
		}
	}
}

// renewal returns the end of the day, if a running update has an allowance.
func (l *updates) renewal() (at time.Time, ok bool) {
	for _, m := range l.polls.members {
		if m.quota.handling > 0 && m.quota.left != nil {
			return dayCount{Number: m.quota.day}.end(), true
		}
	}
	return at, false
}

// afford reports whether the feed of p may have another update today. If so, p has begun, and a is its allowance.
func (l *updates) afford(p *pending, now time.Time) (a *atomic.Int64, ok bool) {
	m := l.polls.byID[p.Feed]
	if m == nil { // no longer configured
		return nil, true
	}
	m.saved.Day = m.saved.Day.at(now)
	if a, ok = m.mayHave(p, now); ok {
		m.saved.Day.Updates++
		m.quota.handling++
		l.buffer.feed(m, false, now)
	}
	return a, ok
}

// account counts the cost of an update for its feed. A failed update does not count as an update, so that the next
// waiting update may begin instead.
func (l *updates) account(t *target, h *Handled, stopping bool, now time.Time) {
	m := l.polls.byID[t.saved.Pending.Feed]
	if m == nil {
		return
	}
	m.saved.Day = m.saved.Day.at(now)
	cost := max(h.Outcome.Bytes, 0)
	if q := &m.quota; t.day != m.saved.Day.Number && q.left != nil && q.day == m.saved.Day.Number {
		cost = min(cost, max(q.begun-q.left.Load(), 0)) // the other bytes were transferred before this day
	}
	m.saved.Day.Bytes += cost
	m.quota.handling--
	l.buffer.feed(m, false, now)
	if h.Err == nil || m.saved.Day.Number != t.day {
		return
	}
	m.saved.Day.Updates--
	if _, late := isLate(t, h.Err); !stopping && !late {
		m.saved.Day.Failed++
	}
	if m.quota.warned == t.day {
		l.unpark(m, now)
	}
}

// park makes the update of t wait until the next day, unless another feed reports an update, too.
func (l *updates) park(t *target, now time.Time) {
	p := t.saved.Pending
	m := l.polls.byID[p.Feed]
	p.At, p.Limited = m.saved.Day.end().Add(jitter(time.Hour, chance())-time.Hour), true
	if m.quota.warned != m.saved.Day.Number { // once a day, because a glob may have thousands of waiting updates
		m.quota.warned = m.saved.Day.Number
		l.run.emit(Skipped{Feed: m.feed.Name, Why: DailyLimit, Until: m.saved.Day.end()})
	}
	l.buffer.target(t, now)
	l.targets.queue(t, now)
	if t.w.follow == nil {
		l.targets.decide(t, now)
	}
}

// unpark makes an update of m due now, if one waits for the next day.
func (l *updates) unpark(m *member, now time.Time) {
	var next *target
	for _, t := range l.targets.all {
		if p := t.saved.Pending; p != nil && p.Limited && p.Feed == m.id && !p.fails() &&
			(next == nil || p.At.Before(next.saved.Pending.At)) {
			next = t
		}
	}
	if next != nil {
		next.saved.Pending.At, next.saved.Pending.Limited = now, false
		l.targets.queue(next, now)
	}
}
