package scheduler

import (
	"slices"
	"time"
)

const (
	silence     = 2 * time.Second // a mirror may be quiet for this or silenceRTTs round trips, the longer
	silenceRTTs = 8
	lively      = time.Second // a mirror that was active within it is at work
	enough      = 256 << 10   // progress that makes up for a failure
	slowGrace   = 5 * time.Second
	retryMax    = 30 * time.Second // the longest pause after a failure
	slowed      = 0.1              // of its speed: a mirror that brings less than that for a while has another one

	// A request with setup cost, as in FTP, takes several round trips before bytes come, and more the first time (login, TLS).
	// firstSilence is how many times as long as others such a mirror may be quiet before its round trip is known, firstTrips how
	// many times the round trips of later requests the first one may take.
	firstSilence = 3
	firstTrips   = 3
)

// mayBeQuiet is for how long nothing may come of f while another mirror could do its work.
func (f *fetch) mayBeQuiet() time.Duration {
	m := f.src
	limit := max(silence, silenceRTTs*m.rtt)
	switch {
	case m.trips == 0 || f.got > 0:
		return limit
	case m.rtt == 0:
		return firstSilence * limit
	}
	return max(limit, (silenceRTTs+firstTrips*time.Duration(m.trips))*m.rtt)
}

// judge ends stalled requests and takes work from far too slow ones (RFC 6249, section 7).
func (w *work) judge() {
	for _, f := range slices.Clone(w.running) {
		if f.ending {
			continue
		}
		if w.heldBack(f) {
			f.activeAt = w.now
		}
		quiet := w.now.Sub(f.activeAt)
		limit, most := f.mayBeQuiet(), w.cfg.Silence
		if f.src.slow { // it reports itself when it gives up
			limit, most = most+slowGrace, most+slowGrace
		}
		if quiet >= most || quiet >= limit && w.standIn(f) {
			w.cancel(f, ReasonSilent)
			w.backOff(f.src, 0)
			f.src.fellSilent()
			continue
		}
		w.noticeDrip(f)
		f.src.updateSpeed(w.now)
		w.lighten(f)
	}
}

// heldBack reports whether f has come so far ahead of a late reader that its bytes may not be taken: it is not silent.
func (w *work) heldBack(f *fetch) bool {
	return w.cfg.Window > 0 && f.pos >= w.window().End && f.pos < w.ranges.size
}

// standIn reports whether another mirror could do the work of f: one that is at work, or free to begin.
// When all are silent at once the fault is likely on this side, and ending them all would not help.
func (w *work) standIn(f *fetch) bool {
	if w.ranges.size < 0 {
		return false
	}
	return slices.ContainsFunc(w.mirrors, func(m *mirror) bool {
		if m == f.src || !w.usable(m) || m.noRanges {
			return false
		}
		if m.running == nil {
			return w.requests(m.host) < w.cfg.PerHost
		}
		return !m.running.ending && w.now.Sub(m.running.activeAt) < lively && m.running.got > 0
	})
}

// noticeDrip updates the speed of a mirror that drips: each byte after a pause begins a new flow, whose speed is unknown for a
// while, and the old speed would stay.
func (w *work) noticeDrip(f *fetch) {
	if f.got == 0 || w.now.Sub(f.since) < silence {
		return
	}
	if over := f.src.meter.over(w.now, silence); over > 0 && (f.src.speed == 0 || over < slowed*f.src.speed) {
		f.src.speed = over
	}
}

// lighten takes from a fetch what it would not bring in a long time: it has collapsed, or what it was
// asked for was a guess.
func (w *work) lighten(f *fetch) {
	m := f.src
	if f.toEnd || f.exclusive || f.got == 0 || !w.known(f) || w.warms(f) || !w.standIn(f) {
		return
	}
	speed, period := m.meter.over(w.now, 2*time.Second), windowTime
	most := 3 * period
	if f.guessed && w.lag(m, speed, false)*speed < 0.025*float64(w.ranges.missing()) {
		most = min(period*3/2, (w.remaining()-w.hashing(f.pos))*9/8+time.Second/2)
	}
	if float64(f.left()) <= most.Seconds()*speed {
		return
	}
	m.speed = m.meter.over(w.now, time.Second) // what it does now, without what it did before
	keep := max(int64(m.speed*min(period.Seconds(), (w.remaining()-w.hashing(f.pos)).Seconds())), minSteal)
	end := m.align.up(f.pos + keep)
	if least := max(minRange, w.cfg.MinSplit); f.end-end >= least && f.left()-keep >= least { // else too little is won for a request
		w.shrink(f, end, ReasonSlow)
	}
}

// warms reports whether the window of a new connection still grows, so that its mirror is faster than it was so far.
func (w *work) warms(f *fetch) bool {
	m := f.src
	switch {
	case m.align.whole():
		return false
	case f.guessed:
		return m.meter.grows(w.now, 2*m.rtt)
	}
	return f.cold && w.now.Sub(f.since) < warmTrips*m.rtt+silence
}

// known reports whether f has gone on for long enough to show the speed of its mirror.
func (w *work) known(f *fetch) bool {
	flows := w.now.Sub(f.src.meter.flow)
	switch {
	case f.guessed:
		return flows >= max(time.Second, 6*f.src.rtt)
	case f.src.meter.flow.After(f.since): // on a connection that is new
		return flows >= warmTrips*f.src.rtt+silence
	}
	return w.now.Sub(f.since) >= silence
}

// brokeOff is called for an answer that ended early. If it brought a good part its mirror may go on at once: a server that
// breaks off often is slow, not broken.
func (w *work) brokeOff(f *fetch, after time.Duration) {
	part := min(enough, f.size/4)
	if f.exclusive { // another would have to begin anew
		part = min(part, minSteal)
	}
	if after != 0 || f.got < part || f.got <= 0 {
		w.backOff(f.src, after)
	} else if w.ranges.size < 0 { // it is asked from the beginning, like any other
		f.src.becomeClosed()
	}
}

// backOff keeps a mirror that failed away from work for a while, for longer each time, and for good
// after too many times without progress.
func (w *work) backOff(m *mirror, after time.Duration) {
	m.failed()
	tries := w.cfg.Tries
	if !w.answered {
		tries = w.cfg.FirstTries
	}
	if m.fails >= tries {
		m.becomeGone()
		return
	}
	wait := w.cfg.RetryWait << min(m.fails-1, 10)
	m.until = w.now.Add(max(min(wait, retryMax), after))
}

// completeAnswer is called for a mirror that answers a range with the whole file. It is kept only if no other is left, or if it
// would be through before the others with the rest.
func (w *work) completeAnswer(f *fetch) {
	m := f.src
	m.noRanges = true
	if f.pos == 0 && f.end == w.ranges.size && f.end <= minRange { // all was asked for, and no other gets a part of so little
		f.toEnd, f.whole = true, true
		return
	}
	only := !w.mirrors.ranged(m) &&
		!slices.ContainsFunc(w.running, func(o *fetch) bool { return o != f && o.src.noRanges && !o.ending })
	sooner := m.speed > 0 && w.ranges.size > 0 &&
		float64(w.ranges.size)/m.speed < float64(w.ranges.missing())/max(w.mirrors.aggregate()-m.speed, 1)
	if !only && !sooner {
		w.close(m, ReasonNoRanges)
		return
	}
	w.release(f)
	f.pos, f.end, f.toEnd, f.whole = 0, 0, true, true
}
