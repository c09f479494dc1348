package scheduler

import (
	"math"
	"time"

	"braid/byterange"
)

// minSteal is the least that is worth a request of its own.
const minSteal = 32 << 10

// kept tells whether the user wants a range to stay with its source, unless that falls silent: it is less than two that may be split off.
func (s *Scheduler) kept(now time.Time, f *fetch) bool {
	return f.left() < 2*s.cfg.MinSplit && s.hangs(now, f) == 0
}

// steal takes for m the part of another's range that m would finish sooner, when nothing is left
// that nobody works on. What holds up the front goes first; else what would take longest.
func (s *Scheduler) steal(now time.Time, m *mirror, why Reason) bool {
	victim := s.victim(now, m)
	if victim == nil {
		return false
	}
	if m.doubt || s.protected(now, victim) {
		return s.overtake(now, victim, m, why)
	}
	split := s.split(now, victim, m)
	if split == 0 {
		return false
	}
	s.take(now, victim, split, m, why)
	return true
}

// take gives the range of f from split on to m.
func (s *Scheduler) take(now time.Time, f *fetch, split int64, m *mirror, why Reason) {
	r := s.stillMissing(byterange.Range{Start: split, End: f.end})
	if !f.cut {
		s.wasted += inFlight(f)
	}
	s.shrink(f, split, ReasonSplit)
	if r.Empty() {
		return
	}
	if why == ReasonNext {
		why = ReasonSplit
	}
	s.start(now, m, r, false, why)
}

// stillMissing is r without what others brought at its beginning and its end.
func (s *Scheduler) stillMissing(r byterange.Range) (out byterange.Range) {
	for g := range s.done.Gaps(r) {
		if out.Empty() {
			out.Start = g.Start
		}
		out.End = g.End
	}
	return out
}

// hurry takes for m what the first range of the file would bring too late for the in-order hash, which would have much
// to do after the last byte.
func (s *Scheduler) hurry(now time.Time, m *mirror, why Reason) bool {
	f := s.frontmost()
	if f == nil || f.src == m || f.src.unit.whole() || m.unit.whole() || f.src.norange || f.alone || s.size-f.end < hashSlack {
		return false
	}
	due, pace := s.due(f), s.pace(now, f)
	ours := m.speed
	take := float64(f.left()) - pace*due
	if due > hurryTime || take < max(minSteal, pace/10, float64(s.cfg.MinSplit)) || s.lag(m, ours, m.alive)+take/max(ours, 1) > due || s.tooDear(f) {
		return false
	}
	s.take(now, f, f.end-int64(take), m, why)
	return true
}

const (
	hashSlack = 96 << 20 // what the hash does in a moment
	hurryTime = 4        // seconds before the end
)

// frontmost is the fetch that works at the beginning of what is missing.
func (s *Scheduler) frontmost() (first *fetch) {
	for _, f := range s.order {
		if !f.ending && (first == nil || f.pos < first.pos) {
			first = f
		}
	}
	return first
}

// victim chooses whose range to split for m.
func (s *Scheduler) victim(now time.Time, m *mirror) *fetch {
	blocked := s.window().End < s.size
	var worst *fetch
	var latest float64
	for _, f := range s.order {
		if f.ending || f.src == m || !blocked && s.begins(now, f) || s.kept(now, f) {
			continue
		}
		if (m.doubt || s.protected(now, f)) && !s.crawls(now, f, m) {
			continue
		}
		if blocked {
			if worst == nil || f.pos < worst.pos {
				worst = f
			}
			continue
		}
		if t := s.eta(now, f) - s.due(f); worst == nil || t > latest {
			worst, latest = f, t
		}
	}
	return worst
}

// protected tells whether a fetch is left alone unless it crawls: it is not worth another request, or nobody is to take
// a part of it.
func (s *Scheduler) protected(now time.Time, f *fetch) bool {
	return f.src.norange || f.alone || f.left() < minSteal && s.hangs(now, f) == 0
}

// begins tells whether a fetch was asked for just now: what it will do cannot be known yet.
func (s *Scheduler) begins(now time.Time, f *fetch) bool {
	return f.got == 0 && !f.src.doubt && now.Sub(f.since) < max(lively, 4*f.src.rtt)
}

// due is in how many seconds a fetch should be through, so that the in-order hash of what follows it is done when
// all is here.
func (s *Scheduler) due(f *fetch) float64 {
	return s.horizon(nil) - float64(s.size-f.end)/hashSpeed
}

// hashSpeed is what a processor hashes in a second, with some caution.
const hashSpeed = 800 << 20

// pace is how fast a fetch goes now, in bytes a second.
func (s *Scheduler) pace(now time.Time, f *fetch) float64 {
	if f.got == 0 && f.src.doubt {
		return 0
	}
	if f.got == 0 || now.Sub(f.src.meter.flow) < 10*slotWidth {
		if now.Sub(f.heard) > lively {
			return 0
		}
		if f.src.speed > 0 {
			return f.src.speed
		}
		return s.guess()
	}
	return f.src.meter.over(now, time.Second)
}

// eta is how many seconds a fetch still needs.
func (s *Scheduler) eta(now time.Time, f *fetch) float64 {
	return float64(f.left())/max(s.pace(now, f), 1) + s.hangs(now, f)
}

// hangs is for how many seconds the last of a fetch will not come, by what is known: as long again as it has been quiet, if
// that is longer than a round trip. A lost packet holds up those behind it for one or some. Of more than a little, that is no
// reason to close a connection, which would cost as much.
func (s *Scheduler) hangs(now time.Time, f *fetch) float64 {
	quiet := now.Sub(f.heard)
	if f.got == 0 || f.left() > lastBytes || quiet < max(hangTime, f.src.rtt) || quiet.Seconds() < 4*packet/max(f.src.speed, 1) {
		return 0
	}
	return quiet.Seconds()
}

const (
	hangTime  = 100 * time.Millisecond
	lastBytes = 256 << 10
	packet    = 1460 // bytes of a TCP segment
)

// lag is how many seconds go by until a new request to m brings bytes at its speed: one round trip if its connection
// is alive, else one more to connect, and those that its window needs to grow. Where each answer has a connection of its own
// it is never alive, and connecting is a part of the dialogue.
func (s *Scheduler) lag(m *mirror, speed float64, alive bool) float64 {
	rtt := m.rtt
	if rtt == 0 {
		rtt = s.medianRTT()
	}
	if alive && m.trips == 0 {
		return rtt.Seconds()
	}
	doublings := math.Log2(max(1, speed*rtt.Seconds()/firstWindow))
	return rtt.Seconds() * (1 + float64(max(1, m.trips)) + max(0, doublings-1))
}

// firstWindow is what a new connection sends in its first round trip (RFC 6928).
const firstWindow = 10 * packet

// split is where the range of f is to be cut so that f and m finish their parts at the same time; 0
// when that gains nothing worth a request, or wastes more than it gains.
func (s *Scheduler) split(now time.Time, f *fetch, m *mirror) int64 {
	theirs, ours := max(s.pace(now, f), 1), m.speed
	if ours == 0 {
		ours = s.guess()
	}
	lag, hangs := s.lag(m, ours, m.alive), s.hangs(now, f)
	left := float64(f.left())
	take := min(theirs*(left/theirs+hangs-lag)*ours/(theirs+ours), left)
	// Those who are at work will be free soon, too: what cannot be here when all is done is for them.
	take = min(take, ours*(s.horizon(nil)-lag/2))
	gain := take / theirs
	if take == left {
		gain += hangs
	}
	if gain < max(lag/2, worthSplit.Seconds()) || take < max(minSteal, float64(s.cfg.MinSplit)) && hangs < dearGain/2 {
		return 0
	}
	if gain < dearGain && s.tooDear(f) {
		return 0
	}
	return s.splitAt(now, f, m, f.end-int64(take))
}

// worthSplit is the least gain that is worth a request.
const worthSplit = 40 * time.Millisecond

// inFlight is about how much of f is on its way, which is lost when its connection is closed.
func inFlight(f *fetch) float64 { return f.src.speed * f.src.rtt.Seconds() }

// tooDear tells whether closing the connection of f wastes more than may be for a small gain.
func (s *Scheduler) tooDear(f *fetch) bool { return !f.cut && s.wasted+inFlight(f) > s.mayWaste() }

// dearGain is how many seconds are worth any waste.
const dearGain = 0.5

// mayWaste is how much may be lost so to gain a moment at the end: with what else is lost it stays under 1 %.
func (s *Scheduler) mayWaste() float64 { return max(256<<10, float64(s.size)/160) }
