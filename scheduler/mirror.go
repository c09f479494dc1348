package scheduler

import (
	"time"

	"braid/byterange"
)

// state is the state of a mirror. Only the methods named become... change it.
type state uint8

const (
	stateUntried state = iota // never asked
	statePlanned              // never asked, but about to be opened with other mirrors whose speeds are remembered
	stateOpen                 // in use: ranges are assigned to it
	stateClosed               // was in use, and may be asked again
	stateGone                 // not asked again
	stateBanned               // not asked again because of wrong bytes, and its further bytes are ignored
)

// trust is reduced by a failure until the mirror has delivered enough bytes.
type trust uint8

const (
	trusted  trust = iota
	doubted        // after a failure
	silenced       // after a silence
)

// traits are the constant properties of a mirror.
type traits struct {
	id    SourceID
	trips int       // see SourceAdded.Trips
	align alignment // the unit in which it delivers bytes
	slow  bool      // see SourceAdded.Slow
	last  bool      // last resort
}

// mirror is the scheduler's record of a source.
type mirror struct {
	traits
	host     string // of the URL, later of the answers
	noRanges bool   // answers a range with the whole file

	state    state
	trust    trust
	slowTail bool      // it delayed waiting mirrors, and has not delivered enough since then
	fails    int       // consecutive failures
	until    time.Time // not asked before this time
	joined   bool      // part of the step that growth measures
	late     bool      // unanswered when its step was judged: not counted in the next step

	running  *fetch
	alive    bool          // its connection is idle and can be reused
	unproven byterange.Set // bytes that it delivered and that passed no check
	path
}

// path is the measured performance of a mirror.
type path struct {
	rtt   time.Duration // 0 if unknown
	meter meter
	speed float64 // last steady or remembered speed in bytes a second; 0 if unknown
	top   float64 // highest speed; see topPeriod
}

func newMirror(ev SourceAdded, epoch time.Time) *mirror {
	m := &mirror{
		traits: traits{id: ev.ID, trips: ev.Trips, align: newAlignment(ev.Align, ev.Lead), slow: ev.Slow, last: ev.Last},
		host:   ev.Host, unproven: ev.Brought.Clone(), path: path{rtt: ev.RTT, speed: ev.Rate},
	}
	m.meter.epoch = epoch
	return m
}

func (m *mirror) open() bool  { return m.state == stateOpen }
func (m *mirror) tried() bool { return m.state >= stateOpen }
func (m *mirror) gone() bool  { return m.state >= stateGone }

// usable reports whether the mirror may be asked at now.
func (m *mirror) usable(now time.Time) bool { return !m.gone() && !now.Before(m.until) }

// doubtful reports whether the mirror has failed and not yet shown that it works.
func (m *mirror) doubtful() bool { return m.trust != trusted }

// becomePlanned requires stateUntried. estimates.horizon then counts the mirror as open.
func (m *mirror) becomePlanned() { m.state = statePlanned }

// becomeUntried cancels a plan that was not carried out.
func (m *mirror) becomeUntried() {
	if m.state == statePlanned {
		m.state = stateUntried
	}
}

// becomeOpen requires a mirror that may be asked and has no fetch. The mirror is then in use and runs f.
func (m *mirror) becomeOpen(f *fetch) { m.state, m.running = stateOpen, f }

// becomeClosed closes m if it is open. It does not cancel a running fetch.
func (m *mirror) becomeClosed() {
	if m.state == stateOpen {
		m.state = stateClosed
	}
}

// becomeGone ends the use of a mirror.
func (m *mirror) becomeGone() { m.state = max(m.state, stateGone) }

// becomeBanned ends the use of a mirror that delivered wrong bytes. The remembered speed of an untried mirror is
// dropped, because it may be the speed of another server.
func (m *mirror) becomeBanned() {
	if !m.tried() {
		m.speed = 0
	}
	m.state = stateBanned
}

// ended records that the fetch of a mirror has ended. alive reports whether its connection can be reused.
func (m *mirror) ended(alive bool) { m.running, m.alive = nil, alive }

// failed records a failure: an open mirror is closed, and the mirror becomes doubted and has one attempt less.
func (m *mirror) failed() {
	m.becomeClosed()
	m.trust = max(m.trust, doubted)
	m.fails++
}

// fellSilent marks a mirror as silenced, so that it is not tried again when the other mirrors are almost done.
func (m *mirror) fellSilent() { m.trust = silenced }

// heldUp marks a mirror with a slow tail, so that it is opened after all others.
func (m *mirror) heldUp() { m.slowTail = true }

// progressed resets the count of failures.
func (m *mirror) progressed() { m.fails = 0 }

// proved restores full trust.
func (m *mirror) proved() { m.trust, m.slowTail = trusted, false }

// settle records the verdict on a step. late reports whether no connection of the step had answered.
func (m *mirror) settle(late bool) {
	m.late = m.joined && late || m.late && m.meter.total == 0
	m.joined = false
}

// updateSpeed updates the steady speed, if the mirror has worked for long enough.
func (m *mirror) updateSpeed(now time.Time) {
	if m.meter.last.IsZero() || m.meter.last.Sub(m.meter.flow) < 3*slotWidth {
		return
	}
	if m.running == nil { // between two ranges: as of the last byte
		now = m.meter.last
	}
	speed := m.meter.steady(now)
	if m.grows(now, 4) { // the connection is still getting faster: do not lower the speed
		speed = max(speed, m.speed, m.meter.over(now, 2*m.rtt))
	}
	m.speed = speed
}

// grows reports whether the window of the connection is still growing: much more arrived in the last round trips than
// in as many before. trips is their number.
func (m *mirror) grows(now time.Time, trips time.Duration) bool {
	return m.rtt > 0 && !m.align.whole() && m.meter.grows(now, max(trips*m.rtt, growthLeast))
}

// flows reports whether bytes have been arriving without a pause for at least the duration long.
func (m *mirror) flows(now time.Time, long time.Duration) bool {
	return !m.meter.flow.IsZero() && now.Sub(m.meter.flow) >= long
}

// warming returns how long a new answer takes to show the speed of the mirror. It is 0 if the mirror reuses
// connections.
func (m *mirror) warming() time.Duration {
	if m.trips == 0 {
		return 0
	}
	return warmTrips * m.rtt
}
