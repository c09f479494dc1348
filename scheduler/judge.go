package scheduler

import (
	"slices"
	"time"
)

const (
	silence     = 2 * time.Second // a mirror may be quiet for this or for silenceRTTs round trips, whichever is longer
	silenceRTTs = 8
	lively      = time.Second // a mirror is regarded as working if it was active within this time
	enough      = 256 << 10   // in bytes: progress that makes up for a failure
	slowGrace   = 5 * time.Second
	retryMax    = 30 * time.Second // longest pause after a failure
	slowed      = 0.1              // share of the recorded speed of a mirror below which noticeDrip updates it

	// A request with setup cost, as in FTP, takes several round trips before bytes arrive, and the first request takes
	// more (login, TLS). Before its round-trip time is known, such a mirror may be quiet firstSilence times as long as
	// other mirrors. Its first request may take firstTrips times as many round trips of setup as later requests.
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

// judge decides about mirrors that are silent, slow or failing, and about mirrors that answer a range with the whole
// file. It records whether any mirror has answered, because Config.FirstTries applies until then.
type judge struct {
	cfg        Config
	clock      *clock
	mirrors    *mirrors
	ranges     *ranges
	requests   *requests
	estimates  *estimates
	assignment *assignment
	answered   bool // at least one mirror has answered
}

// review ends stalled requests and takes work from requests that are far too slow (RFC 6249, section 7).
func (j *judge) review() {
	for f := range j.requests.active() {
		if j.heldBack(f) {
			f.heard(j.clock.now)
		}
		quiet := j.clock.now.Sub(f.activeAt)
		limit, most := f.mayBeQuiet(), j.cfg.Silence
		if f.src.slow { // a slow source reports its own failure
			limit, most = most+slowGrace, most+slowGrace
		}
		if quiet >= most || quiet >= limit && j.standIn(f) {
			j.requests.cancel(f, ReasonSilent)
			j.backOff(f.src, 0)
			f.src.fellSilent()
			continue
		}
		f.noticeDrip(j.clock.now)
		f.src.updateSpeed(j.clock.now)
		j.lighten(f)
	}
}

// heldBack reports whether f has reached the end of the window because of a slow reader. Such a fetch is not silent.
func (j *judge) heldBack(f *fetch) bool {
	return j.cfg.Window > 0 && f.pos >= j.assignment.window().End && f.pos < j.ranges.size
}

// standIn reports whether another mirror could do the work of f: that mirror is working, or free to begin. If all
// mirrors are silent at once, the fault is probably local, and ending all fetches would not help.
func (j *judge) standIn(f *fetch) bool {
	if j.ranges.size < 0 {
		return false
	}
	return slices.ContainsFunc(*j.mirrors, func(m *mirror) bool {
		if m == f.src || !m.usable(j.clock.now) || m.noRanges {
			return false
		}
		if m.running == nil {
			return j.requests.at(m.host) < j.cfg.PerHost
		}
		return !m.running.ending && j.clock.now.Sub(m.running.activeAt) < lively && m.running.got > 0
	})
}

// noticeDrip updates the speed of the mirror of f if it sends a few bytes with pauses between them. Each byte after a
// pause begins a new flow of unknown speed, so updateSpeed would keep the old speed.
func (f *fetch) noticeDrip(now time.Time) {
	if f.got == 0 || now.Sub(f.since) < silence {
		return
	}
	if over := f.src.meter.over(now, silence); over > 0 && (f.src.speed == 0 || over < slowed*f.src.speed) {
		f.src.speed = over
	}
}

// lighten shortens f to the range that its mirror can deliver in reasonable time, if the speed of the mirror collapsed
// or was guessed wrong.
func (j *judge) lighten(f *fetch) {
	m := f.src
	if f.toEnd || f.exclusive || f.got == 0 || !f.known(j.clock.now) || f.warms(j.clock.now) || !j.standIn(f) {
		return
	}
	speed, period := m.meter.over(j.clock.now, 2*time.Second), windowTime
	most := 3 * period
	if f.guessed && j.estimates.lag(m, speed, false)*speed < 0.025*float64(j.ranges.missing()) {
		most = min(period*3/2, (j.estimates.remaining()-j.estimates.hashing(f.pos))*9/8+time.Second/2)
	}
	if float64(f.left()) <= most.Seconds()*speed {
		return
	}
	m.speed = m.meter.over(j.clock.now, time.Second)             // the present speed, without earlier history
	rest := j.estimates.remaining() - j.estimates.hashing(f.pos) // at m.speed
	keep := max(int64(m.speed*min(period, rest).Seconds()), minSteal)
	end := m.align.up(f.pos + keep)
	// Fewer bytes, if taken from f, would not be worth a request.
	if least := max(minRange, j.cfg.MinSplit); f.end-end >= least && f.left()-keep >= least {
		j.requests.shrink(f, end, ReasonSlow)
	}
}

// warms reports whether f uses a new connection whose window is still growing, so that its mirror will become faster.
func (f *fetch) warms(now time.Time) bool {
	m := f.src
	switch {
	case m.align.whole():
		return false
	case f.guessed:
		return m.meter.grows(now, 2*m.rtt)
	}
	return f.cold && now.Sub(f.since) < warmTrips*m.rtt+silence
}

// known reports whether f has run long enough to show the speed of its mirror.
func (f *fetch) known(now time.Time) bool {
	flows := now.Sub(f.src.meter.flow)
	switch {
	case f.guessed:
		return flows >= max(time.Second, 6*f.src.rtt)
	case f.src.meter.flow.After(f.since): // on a new connection
		return flows >= warmTrips*f.src.rtt+silence
	}
	return now.Sub(f.since) >= silence
}

// brokeOff handles the early end of f. If f delivered a good part of its range, its mirror may continue immediately: a
// server that often closes connections is slow, not broken.
func (j *judge) brokeOff(f *fetch, after time.Duration) {
	part := min(enough, f.size/4)
	if f.exclusive { // another mirror would have to begin again
		part = min(part, minSteal)
	}
	if after != 0 || f.got < part || f.got <= 0 {
		j.backOff(f.src, after)
	} else if j.ranges.size < 0 { // its mirror will be asked from the first byte, like any other mirror
		f.src.becomeClosed()
	}
}

// backOff excludes a mirror after a failure: for a pause that is longer each time, and permanently after too many
// failures without progress.
func (j *judge) backOff(m *mirror, after time.Duration) {
	m.failed()
	tries := j.cfg.Tries
	if !j.answered {
		tries = j.cfg.FirstTries
	}
	if m.fails >= tries {
		m.becomeGone()
		return
	}
	wait := j.cfg.RetryWait << min(m.fails-1, 10)
	m.until = j.clock.now.Add(max(min(wait, retryMax), after))
}

// completeAnswer handles a mirror that answers f, which is for a range, with the whole file. The mirror is kept only if
// no other mirror is left, or if it would deliver the file before the other mirrors deliver the rest.
func (j *judge) completeAnswer(f *fetch) {
	m := f.src
	m.noRanges = true
	// Everything was requested, and the file is too small to be shared.
	if f.pos == 0 && f.end == j.ranges.size && f.end <= minRange {
		f.becomeWhole()
		return
	}
	only := !j.mirrors.ranged(m) &&
		!j.requests.any(func(o *fetch) bool { return o != f && o.src.noRanges && !o.ending })
	sooner := m.speed > 0 && j.ranges.size > 0 &&
		float64(j.ranges.size)/m.speed < float64(j.ranges.missing())/max(j.mirrors.aggregate()-m.speed, 1)
	if !only && !sooner {
		j.requests.close(m, ReasonNoRanges)
		return
	}
	j.requests.release(f)
	f.pos, f.end = 0, 0
	f.becomeWhole()
}
