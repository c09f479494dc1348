// Package scheduler decides which source fetches which range of a file now.
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
	"cmp"
	"time"

	"braid/byterange"
)

// A Scheduler plans one download. Use New; it is not safe for concurrent use.
type Scheduler struct {
	work
	growth   growth
	trim     trim
	exchange exchange
	tail     tail
	peak     float64   // the highest aggregate of a second
	next     time.Time // when to decide again
	over     bool
}

// New makes a scheduler. Sources are added by events.
func New(cfg Config) *Scheduler {
	cfg = cfg.withDefaults()
	s := &Scheduler{growth: newGrowth(cfg.Growth, cfg.Split)}
	s.work = work{cfg: cfg, ranges: newRanges(cfg.Size, cfg.Have), fetches: map[FetchID]*fetch{}}
	s.trim = trim{work: &s.work, growth: &s.growth, exchange: &s.exchange}
	s.exchange = exchange{work: &s.work}
	s.tail = tail{work: &s.work}
	return s
}

// Step tells s that ev happened at now. It returns what to do about it, and when to call Step again
// if nothing happens before; the zero time means that there is nothing to wait for. The actions are
// valid until the next call.
func (s *Scheduler) Step(now time.Time, ev Event) (do []Action, wake time.Time) {
	if s.epoch.IsZero() {
		s.epoch = now
	}
	s.now, s.do = now, s.do[:0]
	if s.over {
		return nil, time.Time{}
	}
	if add, ok := ev.(SourceAdded); ok && len(s.running) > 0 { // more may follow: they are decided about together
		s.add(add)
		s.next = now
		return nil, now
	}
	if s.apply(ev) || !now.Before(s.next) {
		s.decide()
	}
	if s.over {
		return s.do, time.Time{}
	}
	return s.do, s.next
}

// Outlook is when a source may be asked again, which is in the past if it may be now. gone reports whether it never will be.
func (s *Scheduler) Outlook(id SourceID) (until time.Time, gone bool) {
	m := s.mirrors.find(id)
	if m == nil {
		return time.Time{}, true
	}
	return m.until, m.gone()
}

// A Speed is what a source showed that it can do.
type Speed struct {
	Source SourceID
	Host   string        // as it answered
	Rate   float64       // in bytes a second: the highest mean of 3 s, or less if it collapsed; 0: it failed
	RTT    time.Duration // 0: unknown
}

// collapsed is the part of its highest speed below which a source's highest speed does not count any more.
const collapsed = 0.25

// Speeds lists what is worth remembering of the sources: of those that were seen at work for a second or more, or were
// remembered and failed, in the order in which they were added.
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

// Peak is the most that all sources together brought over a second, in bytes a second.
func (s *Scheduler) Peak() float64 { return s.peak }

// apply changes the state. It reports whether that calls for a decision.
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
		s.ranges.consumed = ev.Front
	case PiecesKnown:
		s.piecesKnown(ev)
	case PieceChecked:
		s.pieceChecked(ev)
	case Tick:
		return !s.now.Before(s.next)
	}
	return true
}

func (s *Scheduler) add(ev SourceAdded) {
	if s.mirrors.find(ev.ID) == nil {
		s.mirrors = append(s.mirrors, newMirror(ev, s.epoch))
	}
}

// takeAnswer handles an answer, and ends the fetch if the answer must not be used.
func (s *Scheduler) takeAnswer(ev Answered) {
	f := s.fetches[ev.Fetch]
	if f == nil || f.ending {
		return
	}
	f.activeAt, s.answered = s.now, true
	m := f.src
	if ev.RTT > 0 {
		m.rtt = ev.RTT
	}
	if ev.Host != "" && ev.Host != m.host {
		m.host = ev.Host
		if s.requests(ev.Host) > s.cfg.PerHost { // the host that answers counts (RFC 6249, section 7)
			s.close(m, ReasonSameHost)
			m.joined = false
			return
		}
	}
	s.setSize(ev.Size)
	if !f.whole && !ev.Ranged {
		s.completeAnswer(f)
	}
}

// setSize sets the size of the file, once: the caller refuses a source with another one.
func (s *Scheduler) setSize(size int64) {
	if s.ranges.size >= 0 || size < 0 {
		return
	}
	s.ranges.setSize(size)
	for _, f := range s.running {
		f.end = min(f.end, size)
	}
}

// progress handles bytes that came. It is the hot path: only the end of a range calls for a decision.
func (s *Scheduler) progress(ev Progress) bool {
	f := s.fetches[ev.Fetch]
	if f == nil {
		s.gain(ev.Range, nil)
		return s.ranges.missing() == 0
	}
	m := f.src
	if m.state == stateBanned {
		return false
	}
	fresh := s.gain(ev.Range, m)
	f.activeAt = s.now
	if m.align.whole() {
		s.pieceCame(f, ev.Range, fresh)
		return false
	}
	m.meter.add(s.now, ev.Range.Len())
	if fresh > 0 { // what was here already is no progress
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
	if ev.Range.End > f.pos {
		f.pos = ev.Range.End
		f.end = max(f.end, f.pos)
	}
	return f.toEnd && f.left() < s.reach(f)/4
}

// pieceCame handles a complete piece of a source. Its bytes were counted by coming.
func (s *Scheduler) pieceCame(f *fetch, r byterange.Range, fresh int64) {
	f.came = max(f.came-r.Len(), 0)
	if fresh > 0 {
		f.src.progressed()
		f.src.proved()
	}
	if !f.ending {
		f.pos = max(f.pos, min(s.ranges.first(f.pos), f.end))
		s.countBehind(f)
	}
}

// coming handles bytes of pieces that are not complete yet.
func (s *Scheduler) coming(ev Coming) {
	f := s.fetches[ev.Fetch]
	if f == nil || f.src.state == stateBanned {
		return
	}
	f.came = max(f.came+ev.N, 0)
	if ev.N <= 0 {
		return
	}
	f.activeAt = s.now
	f.got += ev.N
	f.src.meter.add(s.now, ev.N)
}

// ended handles the end of a fetch, and what it means for its source.
func (s *Scheduler) ended(ev FetchEnded) {
	f := s.fetches[ev.Fetch]
	if f == nil {
		return
	}
	s.remove(f)
	m := f.src
	m.ended(ev.Fault == FaultNone && !f.cut && !f.ending)
	m.updateSpeed(s.now)
	switch ev.Fault {
	case FaultNone:
		if f.toEnd && !f.ending { // the end of the body was the end of the file
			s.setSize(f.pos)
		}
	case FaultTransient:
		s.brokeOff(f, ev.After)
	case FaultHeld:
		m.becomeClosed()
		m.until = s.now.Add(ev.After)
	case FaultGone, FaultWrong:
		m.becomeGone()
	case FaultWrongBytes:
		s.ban(m)
	}
}

// Config sets up a Scheduler. Zero values and negative ones mean the default.
type Config struct {
	// Size is that of the file in bytes; -1 if it is not known yet.
	Size int64
	// Have is what is here already.
	Have byterange.Set
	// PerHost is how many requests one host may get at a time. If zero, 1 (RFC 6249, section 7).
	PerHost int
	// Split is how many sources may be in use at a time. If zero, 16.
	Split int
	// MinSplit is the least that the user wants to ask a further source for: a range is not split into less, so a file
	// of less than two of them comes from one source. What a failed source leaves behind is asked for all the same. If
	// zero, speeds and round trips alone decide.
	MinSplit int64
	// Aggregate is the best that all sources together once brought, in bytes a second, if it is remembered. Sources
	// whose speed is remembered are used from the start as long as their speeds do not add up to it. If zero,
	// that is no limit.
	Aggregate float64
	// Growth is how connections are added. The zero value doubles.
	Growth GrowthMode
	// Tries is how often a source may fail without progress. If zero, 20.
	Tries int
	// FirstTries is the same for as long as no source has ever answered. If zero, Tries.
	FirstTries int
	// RetryWait is the pause after a first failure; it doubles up to 30 s. If zero, 1 s.
	RetryWait time.Duration
	// Window is how far ahead of the front ranges are given out at most, in bytes. If zero, as far as suits the sources.
	Window int64
	// Silence is how long a source may send nothing when no other can take over. If zero, 30 s.
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
