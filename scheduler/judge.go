package scheduler

import (
	"slices"
	"time"
)

const (
	silence     = 2 * time.Second // a mirror may be quiet for this or for silenceRTTs round trips, whichever is longer
	silenceRTTs = 8
	lively      = time.Second // a mirror counts as working if it was active within this time
	enough      = 256 << 10   // progress that makes up for a failure
	slowGrace   = 5 * time.Second
	retryMax    = 30 * time.Second // longest pause after a failure
	slowed      = 0.1              // share of its speed below which the speed of a mirror is updated

	// A request with setup cost, as in FTP, takes several round trips before bytes arrive, and the first one takes more
	// (login, TLS). Such a mirror may be quiet firstSilence times as long as others before its round-trip time is
	// known. Its first request may take firstTrips times as many round trips of setup as later ones.
	firstSilence = 3
	firstTrips   = 3
)

// mayBeQuiet returns how long f may receive nothing while another mirror could do its work.
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

// judge ends stalled requests and takes work from requests that are far too slow (RFC 6249, section 7).
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
		if f.src.slow { // such a source reports its failure itself
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

// heldBack reports whether f has reached the end of the window because of a slow reader. Then it is not silent.
func (w *work) heldBack(f *fetch) bool {
	return w.cfg.Window > 0 && f.pos >= w.window().End && f.pos < w.ranges.size
}

// standIn reports whether another mirror could do the work of f: one that is working, or free to begin. If all mirrors
// are silent at once, the fault is probably local, and ending all fetches would not help.
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

// noticeDrip updates the speed of a mirror that sends a few bytes with pauses between them. Each byte after a pause
// begins a new flow of unknown speed, so updateSpeed would keep the old speed.
func (w *work) noticeDrip(f *fetch) {
	if f.got == 0 || w.now.Sub(f.since) < silence {
		return
	}
	if over := f.src.meter.over(w.now, silence); over > 0 && (f.src.speed == 0 || over < slowed*f.src.speed) {
		f.src.speed = over
	}
}

// lighten shortens a fetch to the range that it can deliver in reasonable time. It is for a mirror whose
// speed collapsed or was guessed wrong.
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
	m.speed = m.meter.over(w.now, time.Second) // the present speed, without earlier history
	keep := max(int64(m.speed*min(period.Seconds(), (w.remaining()-w.hashing(f.pos)).Seconds())), minSteal)
	end := m.align.up(f.pos + keep)
	// With less, the gain would be too small for a request.
	if least := max(minRange, w.cfg.MinSplit); f.end-end >= least && f.left()-keep >= least {
		w.shrink(f, end, ReasonSlow)
	}
}

// warms reports whether the window of a new connection is still growing, so that its mirror will become faster.
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

// known reports whether f has run long enough to show the speed of its mirror.
func (w *work) known(f *fetch) bool {
	flows := w.now.Sub(f.src.meter.flow)
	switch {
	case f.guessed:
		return flows >= max(time.Second, 6*f.src.rtt)
	case f.src.meter.flow.After(f.since): // on a new connection
		return flows >= warmTrips*f.src.rtt+silence
	}
	return w.now.Sub(f.since) >= silence
}

// brokeOff handles an answer that ended early. If it delivered a good part of the range, its mirror may continue at
// once: a server that often closes connections is slow, not broken.
func (w *work) brokeOff(f *fetch, after time.Duration) {
	part := min(enough, f.size/4)
	if f.exclusive { // another mirror would have to begin again
		part = min(part, minSteal)
	}
	if after != 0 || f.got < part || f.got <= 0 {
		w.backOff(f.src, after)
	} else if w.ranges.size < 0 { // asked from the beginning like any other
		f.src.becomeClosed()
	}
}

// backOff excludes a mirror that failed for a while, longer each time, and permanently after too many attempts without
// progress.
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

// completeAnswer handles a mirror that answers a range with the whole file. The mirror is kept only if no other is
// left, or if it would deliver the file before the others deliver the rest.
func (w *work) completeAnswer(f *fetch) {
	m := f.src
	m.noRanges = true
	// Everything was requested, and the file is too small to be shared.
	if f.pos == 0 && f.end == w.ranges.size && f.end <= minRange {
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
