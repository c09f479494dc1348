// Package scheduler decides who fetches which range of a file now.
//
//	do, wake := s.Step(now, ev) // carry out do in order; call again with the next event, or at wake
//
// It is a deterministic machine: events and the time go in, actions come out. It has no clock, no
// network, no goroutine and no randomness, so the same history gives the same actions and everything
// that it promises can be shown by simulation. It does not know what a source is made of, nor what the
// bytes are; it never sees them.
//
// Every byte of the file is in exactly one state: here, being fetched by one fetch, or missing. The
// rules that it follows are those of RFC 6249, section 7: the connections grow by observation
// ([GrowthMode]), no host gets more than one request at a time, stalled requests are finished elsewhere,
// and the last ranges are split so that all sources finish together.
package scheduler

import (
	"slices"
	"time"

	"braid/byterange"
)

// Config sets up a Scheduler. Every zero value means the default.
type Config struct {
	// Size is that of the file in bytes; -1 if it is not known yet.
	Size int64
	// Have is what is here already.
	Have byterange.Set
	// PerHost is how many requests one host may get at a time. If zero, 1 (RFC 6249, section 7).
	PerHost int
	// Split is how many sources may be in use at a time. If zero, 16.
	Split int
	// MinSplit is the least that is worth a request of its own to the user: a range is not split into less, so a file of less than
	// two of them comes from one source. What a source leaves behind that failed is asked for all the same. If zero, speeds and
	// round trips alone say what is worth a request.
	MinSplit int64
	// Aggregate is what all sources together once brought at best, in bytes a second, if it is remembered. Sources
	// whose speed is remembered are used from the start as long as their speeds do not add up to it. If zero,
	// that is no limit.
	Aggregate float64
	// Growth says how connections are added. The zero value doubles.
	Growth GrowthMode
	// Tries is how often a source may fail without progress. If zero, 20.
	Tries int
	// FirstTries is the same for as long as no source has ever answered. If zero, Tries.
	FirstTries int
	// RetryWait is the pause after a first failure; it doubles up to RetryMax. If zero, 1 s and 30 s.
	RetryWait, RetryMax time.Duration
	// Silence is how long a source that nobody can stand in for may send nothing. If zero, 30 s.
	Silence time.Duration
}

func (c Config) withDefaults() Config {
	or := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	if c.PerHost == 0 {
		c.PerHost = 1
	}
	if c.Split == 0 {
		c.Split = 16
	}
	if c.Tries == 0 {
		c.Tries = 20
	}
	if c.FirstTries == 0 {
		c.FirstTries = c.Tries
	}
	or(&c.RetryWait, time.Second)
	or(&c.RetryMax, 30*time.Second)
	or(&c.Silence, 30*time.Second)
	return c
}

// A Scheduler plans one download. Use New; it is not safe for concurrent use.
type Scheduler struct {
	cfg       Config
	size      int64 // -1 unknown
	here      int64 // how many bytes are in done
	pieces    pieces
	done      byterange.Set
	flying    byterange.Set // what running fetches are to bring
	sources   []*mirror     // in the order in which they were added
	fetches   map[FetchID]*fetch
	order     []*fetch // the running ones, oldest first: maps have no order, and Step must be deterministic
	lastID    FetchID
	growth    growth
	peak      float64 // the highest aggregate of a second
	wasted    float64 // bytes that were on their way when a range was split, about
	trim      trim
	epoch     time.Time
	exchanged time.Time // no other source is tried before
	next      time.Time // when to think again
	front     int64     // where the window begins, for a stream
	stream    bool
	do        []Action
	turns     []turn // of the last horizon
	heard     bool   // some source has answered
	over      bool
}

// A mirror is what the scheduler knows of a source.
type mirror struct {
	id        SourceID
	host      string // named, then as it answered
	trips     int
	unit      unit
	slow      bool
	last      bool
	gone      bool // for good
	liar      bool // a piece that it alone brought was wrong
	norange   bool // answers ranges with the whole file
	open      bool // it has a place among those in use
	tried     bool // it was given a fetch before
	fails     int
	until     time.Time // not before
	rtt       time.Duration
	meter     meter
	unproven  byterange.Set // what it brought and no check has passed
	speed     float64       // last steady speed, or the remembered one; 0 unknown
	top       float64       // its highest speed; see topPeriod
	alive     bool          // its connection waits for another request
	running   *fetch
	newcomer  bool // opened by the step that is being measured
	late      bool // had not answered when its step was judged: it counts on neither side of the next
	doubt     bool // it failed and has brought nothing since
	stalled   bool // it fell silent and has brought nothing since
	crawler   bool // it held up others that waited, and has brought nothing since
	returned  bool // it came back by exchange, which happens once
	exchanged bool // it takes the place of another
	planned   bool // it is about to be opened
}

// New makes a scheduler. Sources are added by events.
func New(cfg Config) *Scheduler {
	cfg = cfg.withDefaults()
	s := &Scheduler{cfg: cfg, size: cfg.Size, done: cfg.Have.Clone(), fetches: map[FetchID]*fetch{}}
	s.here = s.done.Len()
	s.growth = newGrowth(cfg.Growth, cfg.Split)
	return s
}

// Step tells s that ev happened at now. It returns what to do about it, and when to call Step again
// if nothing happens before; the zero time means that there is nothing to wait for. The actions are
// valid until the next call.
func (s *Scheduler) Step(now time.Time, ev Event) (do []Action, wake time.Time) {
	if s.epoch.IsZero() {
		s.epoch = now
	}
	s.do = s.do[:0]
	if s.over {
		return nil, time.Time{}
	}
	if add, ok := ev.(SourceAdded); ok && len(s.order) > 0 { // more may follow: they are decided about together
		s.add(add)
		s.next = now
		return nil, now
	}
	if s.apply(now, ev) || !now.Before(s.next) {
		s.think(now)
	}
	if s.over {
		return s.do, time.Time{}
	}
	return s.do, s.next
}

// apply changes the state and tells whether that calls for a decision.
func (s *Scheduler) apply(now time.Time, ev Event) bool {
	switch ev := ev.(type) {
	case SourceAdded:
		s.add(ev)
	case Answered:
		s.answered(now, ev)
	case Progress:
		return s.progress(now, ev)
	case Coming:
		s.coming(now, ev)
		return false
	case FetchEnded:
		s.ended(now, ev)
	case SizeKnown:
		s.setSize(ev.Size)
	case Consumed:
		s.stream, s.front = true, ev.Front
	case PiecesKnown:
		s.piecesKnown(ev)
	case PieceChecked:
		s.pieceChecked(ev)
	case Tick:
		return !now.Before(s.next)
	}
	return true
}

func (s *Scheduler) add(ev SourceAdded) {
	if s.mirror(ev.ID) != nil {
		return
	}
	m := &mirror{
		id: ev.ID, host: ev.Host, trips: ev.Trips, unit: newUnit(ev.Align, ev.Lead), slow: ev.Slow, last: ev.Last,
		speed: ev.Rate, rtt: ev.RTT, unproven: ev.Brought.Clone(),
	}
	m.meter.epoch = s.epoch
	s.sources = append(s.sources, m)
}

func (s *Scheduler) mirror(id SourceID) *mirror {
	for _, m := range s.sources {
		if m.id == id {
			return m
		}
	}
	return nil
}

// answered takes note of who answers and how, and refuses what must not be used.
func (s *Scheduler) answered(now time.Time, ev Answered) {
	f := s.fetches[ev.Fetch]
	if f == nil || f.ending {
		return
	}
	f.heard, f.answered = now, true
	m := f.src
	s.heard = true
	if ev.RTT > 0 {
		m.rtt = ev.RTT
	}
	if ev.Host != "" && ev.Host != m.host {
		m.host = ev.Host
		if s.requests(ev.Host) > s.cfg.PerHost { // C7 counts who answers; its place is for another
			s.cancel(f, ReasonSameHost)
			s.close(m)
			m.newcomer = false
			return
		}
	}
	if s.size < 0 && ev.Size >= 0 {
		s.setSize(ev.Size)
	}
	if !f.whole && !ev.Ranged {
		s.completeAnswer(now, f)
	}
}

// Outlook tells when a source may be asked again, which is in the past if it may be now, and whether it
// never will be.
func (s *Scheduler) Outlook(id SourceID) (until time.Time, gone bool) {
	m := s.mirror(id)
	if m == nil {
		return time.Time{}, true
	}
	return m.until, m.gone
}

// requests counts the running requests at a host, those included that are being ended: their
// connection may not be closed yet.
func (s *Scheduler) requests(host string) (n int) {
	for _, f := range s.order {
		if f.src.host == host {
			n++
		}
	}
	return n
}

// setSize is also told twice; the first one counts, as a source with another size is refused by the
// caller (C8).
func (s *Scheduler) setSize(size int64) {
	if s.size >= 0 || size < 0 {
		return
	}
	s.size = size
	s.lose(byterange.Range{Start: size, End: byterange.Unbounded})
	s.flying.Remove(byterange.Range{Start: size, End: byterange.Unbounded})
	for _, f := range s.order {
		f.end = min(f.end, size)
	}
}

// progress books bytes. It is the hot path: a decision is only called for when a range is through.
func (s *Scheduler) progress(now time.Time, ev Progress) bool {
	f := s.fetches[ev.Fetch]
	if f == nil {
		s.gain(ev.Range, nil)
		return s.missing() == 0
	}
	if f.src.liar {
		return false
	}
	fresh := s.gain(ev.Range, f.src)
	f.heard = now
	if f.src.unit.whole() {
		return s.unitCame(f, ev.Range, fresh)
	}
	f.src.meter.add(now, ev.Range.Len())
	if fresh > 0 { // what was here already is no progress
		f.got += fresh
		if ev.Range.End > f.reached {
			f.src.fails = 0
		}
	}
	if f.ending {
		return false
	}
	if f.got >= min(enough, f.size/4) {
		f.src.doubt, f.src.stalled, f.src.crawler = false, false, false
	}
	if ev.Range.End > f.pos {
		f.pos = ev.Range.End
		f.end = max(f.end, f.pos)
	}
	return f.open && f.left() < s.reserve(now, f)/4
}

// gain notes that bytes are here, tells how many were not before, and remembers who brought them.
func (s *Scheduler) gain(r byterange.Range, from *mirror) (fresh int64) {
	for g := range s.done.Gaps(r) {
		fresh += g.Len()
		if from != nil {
			from.unproven.Add(g)
		}
	}
	s.here += fresh
	s.done.Add(r)
	s.flying.Remove(r)
	s.checkPieces(r)
	return fresh
}

// lose notes that bytes are missing again.
func (s *Scheduler) lose(r byterange.Range) {
	for had := range s.done.Covered(r) {
		s.here -= had.Len()
	}
	s.done.Remove(r)
}

// discard makes bytes missing again that are here and turned out wrong.
func (s *Scheduler) discard(r byterange.Range) {
	for had := range s.done.Covered(r) {
		s.do = append(s.do, Discard{had})
	}
	s.lose(r)
}

// missing counts the bytes that are not here, or tells -1 when the size is not known.
func (s *Scheduler) missing() int64 {
	if s.size < 0 {
		return -1
	}
	return s.size - s.here
}

// ended books the end of a fetch and what it says about its source.
func (s *Scheduler) ended(now time.Time, ev FetchEnded) {
	f := s.fetches[ev.Fetch]
	if f == nil {
		return
	}
	delete(s.fetches, ev.Fetch)
	s.order = slices.DeleteFunc(s.order, func(o *fetch) bool { return o == f })
	s.release(f)
	m := f.src
	m.running = nil
	m.alive = ev.Fault == FaultNone && !f.cut && !f.ending
	s.learn(now, m)
	switch ev.Fault {
	case FaultNone:
		if s.size < 0 && f.open && !f.ending { // the end of the body was the end of the file
			s.setSize(f.pos)
		}
	case FaultTransient:
		s.brokeOff(now, f, ev.After)
	case FaultGone, FaultWrong:
		m.gone = true
		s.close(m)
	case FaultLied:
		s.lied(m)
	}
}
