package scheduler

import (
	"time"

	"braid/byterange"
)

// A state is where a mirror stands. Only the methods become... change it.
type state uint8

const (
	stateUntried state = iota // it was never asked
	statePlanned              // never asked, and about to be opened with others whose speed is remembered
	stateOpen                 // it has a place among those in use
	stateClosed               // it had a place, and may be asked again
	stateGone                 // it is not asked again
	stateBanned               // nor is this one, and what it still brings does not count: it brought wrong bytes
)

// A trust is what a failure leaves behind until the mirror has brought enough again.
type trust uint8

const (
	trusted  trust = iota
	doubted        // it failed
	silenced       // it fell silent
)

// traits are what a mirror is, whatever happens.
type traits struct {
	id    SourceID
	trips int       // see SourceAdded.Trips
	align alignment // how its bytes come
	slow  bool      // that it is silent means little
	last  bool      // it is the last resort
}

// A mirror is what the scheduler knows of a source.
type mirror struct {
	traits
	host     string // named, then as it answered
	noRanges bool   // it answers a range with the whole file

	state    state
	trust    trust
	slowTail bool      // it held up others that waited, and has brought nothing since
	fails    int       // in a row
	until    time.Time // not to be asked before
	joined   bool      // it is a part of the step that growth measures
	late     bool      // it had not answered when its step was judged: it counts on neither side of the next

	running  *fetch
	alive    bool          // its connection waits for another request
	unproven byterange.Set // what it brought and no check has passed
	path
}

// A path is how fast a mirror is.
type path struct {
	rtt   time.Duration // 0: unknown
	meter meter
	speed float64 // last steady speed, or the remembered one, in bytes a second; 0: unknown
	top   float64 // its highest speed; see topPeriod
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

// doubtful reports whether the mirror failed and has to show that it works.
func (m *mirror) doubtful() bool { return m.trust != trusted }

// becomePlanned demands an untried mirror, and leaves one for which the work is planned as if it were open.
func (m *mirror) becomePlanned() { m.state = statePlanned }

// becomeUntried takes a plan back that came to nothing.
func (m *mirror) becomeUntried() {
	if m.state == statePlanned {
		m.state = stateUntried
	}
}

// becomeOpen demands a mirror that may be asked and has nothing to do, and leaves one at work in a place of its own.
func (m *mirror) becomeOpen(f *fetch) { m.state, m.running = stateOpen, f }

// becomeClosed gives the place of an open mirror to another. What runs still has to be cancelled. Other states stay.
func (m *mirror) becomeClosed() {
	if m.state == stateOpen {
		m.state = stateClosed
	}
}

// becomeGone leaves a mirror that is not asked again.
func (m *mirror) becomeGone() { m.state = max(m.state, stateGone) }

// becomeBanned does the same with one that brought wrong bytes. The remembered speed of an untried one may be another server's.
func (m *mirror) becomeBanned() {
	if !m.tried() {
		m.speed = 0
	}
	m.state = stateBanned
}

// ended leaves a mirror without work. alive: its connection can take another request.
func (m *mirror) ended(alive bool) { m.running, m.alive = nil, alive }

// failed leaves a mirror without a place, in doubt, and one failure nearer to the end of its tries.
func (m *mirror) failed() {
	m.becomeClosed()
	m.trust = max(m.trust, doubted)
	m.fails++
}

// fellSilent leaves a mirror that failed so to the end, when others are nearly through.
func (m *mirror) fellSilent() { m.trust = silenced }

// heldUp leaves a mirror that is opened after all others.
func (m *mirror) heldUp() { m.slowTail = true }

// progressed leaves a mirror with all of its tries.
func (m *mirror) progressed() { m.fails = 0 }

// proved leaves a mirror that works, whatever was before.
func (m *mirror) proved() { m.trust, m.slowTail = trusted, false }

// settle is called after the verdict on a step. late: none of its connections had answered.
func (m *mirror) settle(late bool) {
	m.late = m.joined && late || m.late && m.meter.total == 0
	m.joined = false
}

// updateSpeed sets the steady speed of the mirror, if it has been at work for long enough.
func (m *mirror) updateSpeed(now time.Time) {
	if m.meter.last.IsZero() || m.meter.last.Sub(m.meter.flow) < 3*slotWidth {
		return
	}
	if m.running == nil { // between two ranges: as it was when the last byte came
		now = m.meter.last
	}
	speed := m.meter.steady(now)
	if m.grows(now, 4) { // a new connection: what an older one did counts as well
		speed = max(speed, m.speed, m.meter.over(now, 2*m.rtt))
	}
	m.speed = speed
}

// grows reports whether the window of its connection still grows: so many round trips brought much more than as many before.
func (m *mirror) grows(now time.Time, trips time.Duration) bool {
	return m.rtt > 0 && !m.align.whole() && m.meter.grows(now, max(trips*m.rtt, growthLeast))
}

// flows reports whether bytes have been coming for so long without a pause.
func (m *mirror) flows(now time.Time, long time.Duration) bool {
	return !m.meter.flow.IsZero() && now.Sub(m.meter.flow) >= long
}

// warming is how long it takes until a new answer shows what its source can do, if each has a connection of its own.
func (m *mirror) warming() time.Duration {
	if m.trips == 0 {
		return 0
	}
	return warmTrips * m.rtt
}
