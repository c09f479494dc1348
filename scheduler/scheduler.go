// Package scheduler decides which source fetches which range of a file, and when.
//
//	do, wake := s.Step(now, ev) // carry out do in order; call again with the next event, or at wake
//
// The scheduler is a deterministic state machine: events and times are its input, and actions its output. It has no
// clock, no network, no goroutine and no randomness, so equal histories result in equal actions, and its properties can
// be tested by simulation. It knows neither the protocol of a source nor the content of the file.
//
// Each byte of the file is in exactly one state: present, being fetched by one fetch, or missing. The rules are those
// of RFC 6249, section 7: the number of connections grows by observation ([GrowthMode]), no host gets more than one
// request at a time, stalled requests are finished by other sources, and the last ranges are split so that all sources
// finish together.
package scheduler

import (
	"cmp"
	"time"

	"braid/byterange"
)

// Scheduler plans one download. It is created by New and not safe for concurrent use.
//
// Each part owns one state: only its methods change it. A part that reads the state of another part, or asks it for a
// change, has a pointer to that part.
type Scheduler struct {
	cfg        Config
	clock      clock
	actions    actions
	mirrors    mirrors
	ranges     ranges
	requests   requests
	checks     checks
	estimates  estimates
	assignment assignment
	judge      judge
	growth     growth
	exchange   exchange
	trim       trim
	tail       tail
	peak       float64   // highest total speed over a second
	next       time.Time // when to decide again
	over       bool
}

// New returns a Scheduler. Sources are added by events.
func New(cfg Config) *Scheduler {
	cfg = cfg.withDefaults()
	s := &Scheduler{cfg: cfg, ranges: newRanges(cfg.Size, cfg.Have), growth: newGrowth(cfg.Growth, cfg.Split)}
	s.connect()
	return s
}

// connect creates the parts. It gives each part pointers to the parts that it reads or asks for a change.
func (s *Scheduler) connect() {
	cfg, now, ranges, sources := s.cfg, &s.clock, &s.ranges, &s.mirrors
	s.requests = requests{clock: now, actions: &s.actions, ranges: ranges, perHost: cfg.PerHost, byID: map[FetchID]*fetch{}}
	s.checks = checks{clock: now, actions: &s.actions, mirrors: sources, ranges: ranges, requests: &s.requests}
	s.estimates = estimates{clock: now, mirrors: sources, ranges: ranges, requests: &s.requests}
	s.assignment = assignment{
		cfg: cfg, clock: now, mirrors: sources, ranges: ranges, requests: &s.requests, pieces: &s.checks.pieces,
		estimates: &s.estimates,
	}
	s.judge = judge{
		cfg: cfg, clock: now, mirrors: sources, ranges: ranges, requests: &s.requests, estimates: &s.estimates,
		assignment: &s.assignment,
	}
	s.exchange = exchange{clock: now, mirrors: sources, ranges: ranges, requests: &s.requests, estimates: &s.estimates}
	s.trim = trim{
		clock: now, mirrors: sources, requests: &s.requests, estimates: &s.estimates, growth: &s.growth, exchange: &s.exchange,
	}
	s.tail = tail{
		cfg: cfg, clock: now, mirrors: sources, ranges: ranges, requests: &s.requests, checks: &s.checks,
		estimates: &s.estimates, assignment: &s.assignment,
	}
}

// Step handles the event ev, which happened at now. It returns the actions to carry out, and when to call Step again if
// nothing happens before. The zero time means that no call is needed. The actions are valid until the next call.
func (s *Scheduler) Step(now time.Time, ev Event) (do []Action, wake time.Time) {
	s.clock.set(now)
	s.actions.reset()
	if s.over {
		return nil, time.Time{}
	}
	if add, ok := ev.(SourceAdded); ok && s.requests.len() > 0 { // more sources may follow: decide about them together
		s.add(add)
		s.next = now
		return nil, now
	}
	if s.apply(ev) || !now.Before(s.next) {
		s.decide()
	}
	if s.over {
		return s.actions.list, time.Time{}
	}
	return s.actions.list, s.next
}

// Outlook returns when the source id may be asked again, which may be in the past. gone reports whether it is never
// asked again.
func (s *Scheduler) Outlook(id SourceID) (until time.Time, gone bool) {
	m := s.mirrors.find(id)
	if m == nil {
		return time.Time{}, true
	}
	return m.until, m.gone()
}

// Speed is the observed performance of a source.
type Speed struct {
	Source SourceID
	Host   string        // host that answered
	Rate   float64       // bytes a second: the highest mean over 3 s, or less if the speed collapsed; 0 after a failure
	RTT    time.Duration // 0 if unknown
}

// collapsed is the fraction of the highest speed of a source below which its present speed is reported instead.
const collapsed = 0.25

// Speeds returns the speeds that are worth remembering, in the order in which the sources were added: the speeds of
// sources that worked for a second or more, and of remembered sources that failed.
func (s *Scheduler) Speeds() (out []Speed) {
	for _, m := range s.mirrors {
		if m.top == 0 && (m.speed == 0 || !m.doubtful()) {
			continue
		}
		rate := m.top
		if m.speed < collapsed*m.top {
			rate = m.speed
		}
		if m.gone() || m.doubtful() {
			rate = 0
		}
		out = append(out, Speed{m.id, m.host, rate, m.rtt})
	}
	return out
}

// Peak returns the highest total speed of all sources over a second, in bytes a second.
func (s *Scheduler) Peak() float64 { return s.peak }

// apply updates the state after ev. It reports whether a decision is needed.
func (s *Scheduler) apply(ev Event) bool {
	switch ev := ev.(type) {
	case SourceAdded:
		s.add(ev)
	case Answered:
		s.takeAnswer(ev)
	case Progress:
		return s.progress(ev)
	case Coming:
		s.coming(ev)
		return false
	case FetchEnded:
		s.ended(ev)
	case SizeKnown:
		s.setSize(ev.Size)
	case Consumed:
		s.ranges.consume(ev.Front)
	case PiecesKnown:
		s.checks.piecesKnown(ev)
	case PieceChecked:
		s.checks.pieceChecked(ev)
	case Tick:
		return !s.clock.now.Before(s.next)
	}
	return true
}

func (s *Scheduler) add(ev SourceAdded) {
	if s.mirrors.find(ev.ID) == nil {
		s.mirrors = append(s.mirrors, newMirror(ev, s.clock.epoch))
	}
}

// takeAnswer handles the answer ev. It ends the fetch if the answer must not be used.
func (s *Scheduler) takeAnswer(ev Answered) {
	f := s.requests.find(ev.Fetch)
	if f == nil || f.ending {
		return
	}
	f.heard(s.clock.now)
	s.judge.answered = true
	m := f.src
	if ev.RTT > 0 {
		m.rtt = ev.RTT
	}
	if ev.Host != "" && ev.Host != m.host {
		m.host = ev.Host
		if s.requests.at(ev.Host) > s.cfg.PerHost { // the limit applies to the host that answers (RFC 6249, section 7)
			s.requests.close(m, ReasonSameHost)
			m.joined = false
			return
		}
	}
	s.setSize(ev.Size)
	if !f.whole && !ev.Ranged {
		s.judge.completeAnswer(f)
	}
}

// setSize sets the size of the file once. The caller refuses a source with another size.
func (s *Scheduler) setSize(size int64) {
	if s.ranges.size >= 0 || size < 0 {
		return
	}
	s.ranges.setSize(size)
	s.requests.bound(size)
}

// progress handles received bytes. It is called most often, so it asks for a decision only at the end of a range.
func (s *Scheduler) progress(ev Progress) bool {
	f := s.requests.find(ev.Fetch)
	if f == nil {
		s.checks.gain(ev.Range, nil)
		return s.ranges.missing() == 0
	}
	m := f.src
	if m.state == stateBanned {
		return false
	}
	fresh := s.checks.gain(ev.Range, m)
	f.heard(s.clock.now)
	if m.align.whole() {
		s.pieceCame(f, ev.Range, fresh)
		return false
	}
	m.meter.add(s.clock.now, ev.Range.Len())
	if fresh > 0 { // bytes that were present already are no progress
		f.got += fresh
		if ev.Range.End > f.reached {
			m.progressed()
		}
	}
	if f.ending {
		return false
	}
	if f.got >= min(enough, f.size/4) {
		m.proved()
	}
	f.advance(ev.Range.End)
	return f.toEnd && f.left() < s.assignment.reach(f)/4
}

// pieceCame handles a complete piece, whose bytes coming has already counted.
func (s *Scheduler) pieceCame(f *fetch, r byterange.Range, fresh int64) {
	f.partial(-r.Len())
	if fresh > 0 {
		f.src.progressed()
		f.src.proved()
	}
	if !f.ending {
		f.advance(min(s.ranges.first(f.pos), f.end))
		s.requests.countBehind(f)
	}
}

// coming handles bytes of incomplete pieces.
func (s *Scheduler) coming(ev Coming) {
	f := s.requests.find(ev.Fetch)
	if f == nil || f.src.state == stateBanned {
		return
	}
	f.partial(ev.N)
	if ev.N <= 0 {
		return
	}
	f.heard(s.clock.now)
	f.got += ev.N
	f.src.meter.add(s.clock.now, ev.N)
}

// ended handles ev, the end of a fetch, and what follows from it for the source.
func (s *Scheduler) ended(ev FetchEnded) {
	f := s.requests.find(ev.Fetch)
	if f == nil {
		return
	}
	s.requests.remove(f)
	m := f.src
	m.ended(ev.Fault == FaultNone && !f.cut && !f.ending)
	m.updateSpeed(s.clock.now)
	switch ev.Fault {
	case FaultNone:
		if f.toEnd && !f.ending { // the body ended with the file
			s.setSize(f.pos)
		}
	case FaultTransient:
		s.judge.brokeOff(f, ev.After)
	case FaultHeld:
		m.becomeClosed()
		m.until = s.clock.now.Add(ev.After)
	case FaultGone, FaultWrong:
		m.becomeGone()
	case FaultWrongBytes:
		s.checks.ban(m)
	}
}

// Config configures a Scheduler. Zero and negative values mean the default.
type Config struct {
	// Size is the size of the file in bytes, or -1 if it is unknown.
	Size int64
	// Have are the bytes that are already present.
	Have byterange.Set
	// PerHost is the maximum of concurrent requests to one host. If zero, it is 1 (RFC 6249, section 7).
	PerHost int
	// Split is the maximum of sources in use. If zero, it is 16.
	Split int
	// MinSplit is the smallest range for which a further source is asked. Ranges are not split into smaller parts, so a
	// file of less than twice MinSplit comes from one source. The rest that a failed source leaves may be smaller. If
	// zero, only speeds and round trips decide.
	MinSplit int64
	// Aggregate is the remembered best total speed of all sources, in bytes a second. Sources with remembered speeds
	// are used from the start until the sum of their speeds reaches Aggregate. If zero, there is no limit.
	Aggregate float64
	// Growth determines how connections are added. With the zero value, each step adds twice as many as the last step.
	Growth GrowthMode
	// Tries is the number of failures without progress after which a source is given up. If zero, it is 20.
	Tries int
	// FirstTries replaces Tries until any source has answered. If zero, it is Tries.
	FirstTries int
	// RetryWait is the pause after a first failure; it doubles up to 30 s. If zero, it is 1 s.
	RetryWait time.Duration
	// Window is the maximum distance from the front within which ranges are assigned, in bytes. If zero, speeds decide.
	Window int64
	// Silence is how long a source may send nothing if no other source can take over. If zero, it is 30 s.
	Silence time.Duration
}

func (c Config) withDefaults() Config {
	c.PerHost = cmp.Or(max(c.PerHost, 0), 1)
	c.Split = cmp.Or(max(c.Split, 0), 16)
	c.MinSplit = max(c.MinSplit, 0)
	c.Tries = cmp.Or(max(c.Tries, 0), 20)
	c.FirstTries = cmp.Or(max(c.FirstTries, 0), c.Tries)
	c.RetryWait = cmp.Or(max(c.RetryWait, 0), time.Second)
	c.Silence = cmp.Or(max(c.Silence, 0), 30*time.Second)
	return c
}
