package scheduler

import (
	"slices"
	"time"
)

const (
	silence     = 2 * time.Second // a source may be quiet for this or silenceRTTs round trips, the longer
	silenceRTTs = 8
	lively      = time.Second // a source that was heard within it is at work
	enough      = 256 << 10   // progress that makes up for a failure
	slowGrace   = 5 * time.Second
)

// judge ends what is stalled and takes work from what is far too slow (S16).
func (s *Scheduler) judge(now time.Time) {
	for _, f := range slices.Clone(s.order) {
		if f.ending {
			continue
		}
		quiet := now.Sub(f.heard)
		limit, most := f.mayBeQuiet(), s.cfg.Silence
		if f.src.slow { // it says itself when it gives up
			limit, most = most+slowGrace, most+slowGrace
		}
		if quiet >= most || quiet >= limit && s.standIn(now, f) {
			s.cancel(f, ReasonSilent)
			s.backOff(now, f.src, 0)
			f.src.stalled = true
			continue
		}
		s.slows(now, f)
		s.learn(now, f.src)
		s.lighten(now, f)
	}
}

// standIn tells whether another source could do the work of f: one that is at work, or free to begin.
// When all are silent at once the fault is likely on this side, and ending them all would not help.
func (s *Scheduler) standIn(now time.Time, f *fetch) bool {
	if s.size < 0 {
		return false
	}
	for _, m := range s.sources {
		if m == f.src || !s.usable(now, m) || m.norange {
			continue
		}
		if m.running == nil && s.requests(m.host) < s.cfg.PerHost {
			return true
		}
		if m.running != nil && !m.running.ending && now.Sub(m.running.heard) < lively && m.running.got > 0 {
			return true
		}
	}
	return false
}

// learn remembers how fast a source is.
func (s *Scheduler) learn(now time.Time, m *mirror) {
	if m.meter.last.IsZero() || m.meter.last.Sub(m.meter.flow) < 3*slotWidth {
		return
	}
	if m.running == nil { // between two ranges: as it was when the last byte came
		now = m.meter.last
	}
	m.speed = m.meter.steady(now)
}

// lighten takes from a fetch what it would not bring in a long time: it has collapsed, or what it was
// asked for was a guess.
func (s *Scheduler) lighten(now time.Time, f *fetch) {
	m := f.src
	if f.open || f.alone || f.got == 0 || !f.known(now) || !s.standIn(now, f) {
		return
	}
	speed := m.meter.over(now, 2*time.Second)
	period := windowTime
	most := 3 * period
	if f.guessed && s.lag(m, speed, false)*speed < 0.01*float64(s.missing()) {
		most = min(period*3/2, s.remaining()*9/8+time.Second/2)
	}
	if float64(f.left()) <= most.Seconds()*speed {
		return
	}
	m.speed = m.meter.over(now, time.Second) // what it does now, without what it did before
	keep := m.speed * min(period.Seconds(), float64(s.missing())/max(s.aggregate(), 1))
	s.lightenTo(f, max(int64(keep), minSteal))
}

// known tells whether f has gone on for long enough to say how fast its source is.
func (f *fetch) known(now time.Time) bool {
	if f.guessed {
		return now.Sub(f.src.meter.flow) >= max(time.Second, 6*f.src.rtt)
	}
	if f.src.meter.flow.After(f.since) { // on a connection that is new
		return now.Sub(f.src.meter.flow) >= warmTrips*f.src.rtt+silence
	}
	return now.Sub(f.since) >= silence
}

// lightenTo leaves keep bytes to f, unless too little would be won for a request.
func (s *Scheduler) lightenTo(f *fetch, keep int64) {
	end := f.src.unit.up(f.pos + keep)
	if least := max(minRange, s.cfg.MinSplit); f.end-end >= least && f.left()-keep >= least {
		s.shrink(f, end, ReasonSlow)
	}
}

// brokeOff deals with a source whose answer ended early. If it brought a good part it may go on at once: a server that
// breaks off often is slow, not broken.
func (s *Scheduler) brokeOff(now time.Time, f *fetch, after time.Duration) {
	part := min(enough, f.size/4)
	if f.alone { // another would have to begin anew
		part = min(part, minSteal)
	}
	if after == 0 && f.got >= part && f.got > 0 {
		if s.size < 0 { // it is asked from the beginning, like any other
			s.close(f.src)
		}
		return
	}
	s.backOff(now, f.src, after)
}

// backOff keeps a source that failed away from work for a while, for longer each time, and for good
// after too many times without progress (rules 22, 23).
func (s *Scheduler) backOff(now time.Time, m *mirror, after time.Duration) {
	s.close(m)
	m.doubt = true
	m.fails++
	tries := s.cfg.Tries
	if !s.heard {
		tries = s.cfg.FirstTries
	}
	if m.fails >= tries {
		m.gone = true
		return
	}
	wait := s.cfg.RetryWait << min(m.fails-1, 10)
	m.until = now.Add(max(min(wait, s.cfg.RetryMax), after))
}

// close gives the place of a source to another.
func (s *Scheduler) close(m *mirror) { m.open = false }

// usable tells whether a source may be asked now.
func (s *Scheduler) usable(now time.Time, m *mirror) bool {
	return !m.gone && !now.Before(m.until)
}

// completeAnswer deals with a source that answers a range with the whole file (S15, rule 14): it is
// kept only when it alone is left, or would be through with everything before the others with the rest.
func (s *Scheduler) completeAnswer(now time.Time, f *fetch) {
	m := f.src
	m.norange = true
	alone := !s.ranged(m)
	for _, o := range s.order {
		if o != f && o.src.norange && !o.ending {
			alone = false
		}
	}
	sooner := m.speed > 0 && s.size > 0 &&
		float64(s.size)/m.speed < float64(s.missing())/max(s.aggregate()-m.speed, 1)
	if !alone && !sooner {
		s.cancel(f, ReasonNoRanges)
		s.close(m)
		return
	}
	s.release(f)
	f.pos, f.end, f.open, f.whole = 0, 0, true, true
}
