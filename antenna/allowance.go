package antenna

import (
	"sync/atomic"
	"time"
)

// mostFailed is how many tries of a day may fail for each update that a feed may have, until those that have failed
// before wait for another day: news without end about files that are not there are requests, too.
const mostFailed = 10

// A quota is what the updates of a feed that are being handled may bring.
type quota struct {
	handling int // how many there are
	day      int64
	left     *atomic.Int64 // bytes, of that day
	begun    int64         // what left was when the day began, or the first of them
	// warned is the last day of which a Skipped said that there is no more.
	warned int64
}

// mayHave returns what the updates of m may still bring today, and whether it may have p besides. Nil: there is no limit.
func (m *member) mayHave(p *pending) (allowance *atomic.Int64, ok bool) {
	day, limits := &m.saved.Day, &m.feed.Limits
	left, ok := day.left(limits.Updates, limits.DayBytes)
	if p.fails() && limits.Updates >= 0 && day.Failed >= mostFailed*limits.Updates {
		return nil, false
	}
	if !ok || left == 0 {
		return nil, ok
	}
	if m.quota.handling == 0 || m.quota.left == nil {
		m.quota.left = new(atomic.Int64)
		m.quota.set(day.Number, left)
	}
	m.renew()
	return m.quota.left, m.quota.left.Load() > 0 // what is being handled may have spent it
}

// set gives those that are handled so many bytes for a day.
func (q *quota) set(day, left int64) {
	q.day, q.begun = day, left
	q.left.Store(left)
}

// renew gives the updates that are handled what a day that has begun meanwhile allows: one that runs past the end of a
// day is not ended by what was left of it.
func (m *member) renew() {
	q := &m.quota
	if q.handling == 0 || q.left == nil || q.day == m.saved.Day.Number {
		return
	}
	left, _ := m.saved.Day.left(-1, m.feed.Limits.DayBytes)
	q.set(m.saved.Day.Number, left)
}

// renewAll does so for all feeds.
func (l *updates) renewAll(now time.Time) {
	for _, m := range l.polls.members {
		if m.quota.handling > 0 {
			m.saved.Day = m.saved.Day.at(now)
			m.renew()
		}
	}
}

// renewal is when a day ends on which updates are handled whose bytes are limited.
func (l *updates) renewal() (at time.Time, ok bool) {
	for _, m := range l.polls.members {
		if m.quota.handling > 0 && m.quota.left != nil {
			return dayCount{Number: m.quota.day}.end(), true
		}
	}
	return at, false
}

// afford reports whether the feed of an update may have one more today, which then begins, and what that may bring.
func (l *updates) afford(p *pending, now time.Time) (a *atomic.Int64, ok bool) {
	m := l.polls.byID[p.Feed]
	if m == nil { // no longer configured
		return nil, true
	}
	m.saved.Day = m.saved.Day.at(now)
	if a, ok = m.mayHave(p); ok {
		m.saved.Day.Updates++
		m.quota.handling++
		l.buffer.feed(m, false, now)
	}
	return a, ok
}

// account counts what an update has cost its feed. One that failed was none: its place is for the next that waits.
func (l *updates) account(t *target, h *Handled, stopping bool, now time.Time) {
	m := l.polls.byID[t.saved.Pending.Feed]
	if m == nil {
		return
	}
	m.saved.Day = m.saved.Day.at(now)
	cost := max(h.Outcome.Bytes, 0)
	if q := &m.quota; t.day != m.saved.Day.Number && q.left != nil && q.day == m.saved.Day.Number {
		cost = min(cost, max(q.begun-q.left.Load(), 0)) // the rest came before this day
	}
	m.saved.Day.Bytes += cost
	m.quota.handling--
	l.buffer.feed(m, false, now)
	if h.Err == nil || m.saved.Day.Number != t.day {
		return
	}
	m.saved.Day.Updates--
	if !stopping {
		m.saved.Day.Failed++
	}
	if m.quota.warned == t.day {
		l.unpark(m, now)
	}
}

// park has the update of t wait for another day.
func (l *updates) park(t *target, now time.Time) {
	p := t.saved.Pending
	m := l.polls.byID[p.Feed]
	p.At, p.Limited = m.saved.Day.end().Add(jitter(time.Hour, chance())-time.Hour), true
	if m.quota.warned != m.saved.Day.Number { // else it is known, and a glob may have thousands that wait
		m.quota.warned = m.saved.Day.Number
		l.emit(Skipped{Feed: m.feed.Name, Why: DailyLimit, Until: m.saved.Day.end()})
	}
	l.buffer.target(t, now)
	l.targets.queue(t, now)
}

// unpark has one of the updates that wait for another day tried today.
func (l *updates) unpark(m *member, now time.Time) {
	var next *target
	for _, t := range l.targets.all {
		if p := t.saved.Pending; p != nil && p.Limited && p.Feed == m.id && !p.fails() && (next == nil || p.At.Before(next.saved.Pending.At)) {
			next = t
		}
	}
	if next != nil {
		next.saved.Pending.At, next.saved.Pending.Limited = now, false
		l.targets.queue(next, now)
	}
}
