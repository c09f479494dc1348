package fleet

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// This file models how fleet/jetstream keeps to the pace of each host, and what the host sees.

type turns struct {
	next, gap  time.Duration
	left, took int
}

func (s *sim) limit() Limit { return Limit{Requests: s.rate, Bytes: s.bytes} }

// admit puts a job back into the queue if its host has no room for it, like Pacer.admit.
func (s *sim) admit(t *slot, f *file) {
	if s.limit() == (Limit{}) {
		s.claimed(t, f)
		return
	}
	h, name := &s.hosts[f.host], fmt.Sprint(f.host)
	if f.record.Place.Host == name {
		wait := h.pace.Wait(f.record.Place.Number, s.clock())
		if wait <= Soon && t.jobs[f.host] >= downloads/2 && h.pace.Wait(math.MaxUint64, s.clock()) > Soon {
			s.putOff(t, f, time.Second)
			return
		}
		s.begins(t, f, wait)
		return
	}
	s.stats.paced++
	var wait time.Duration
	var number uint64
	s.store(&t.process, 1, func() {
		number = h.pace.Enter(s.limit(), s.clock())
		wait = h.pace.Wait(number, s.clock())
	}, func() {
		f.allowed += 2 * wait
		if wait <= Soon {
			f.record.Place = Place{name, number}
			s.begins(t, f, wait)
			return
		}
		s.store(&t.process, 1, func() { f.record.Place = Place{name, number} }, func() { s.begins(t, f, wait) })
	})
}

// begins starts a job if its turn comes soon. Otherwise the job waits in the queue.
func (s *sim) begins(t *slot, f *file, wait time.Duration) {
	if wait <= Soon {
		s.claimed(t, f)
		return
	}
	held, _ := s.hosts[f.host].pace.Held(s.clock())
	f.allowed += held
	s.putOff(t, f, max(wait/2, min(wait, 2*time.Second), min(held, wait)))
}

func (s *sim) putOff(t *slot, f *file, wait time.Duration) {
	s.stats.putOff++
	s.later(f, s.now+wait)
	s.free(t)
}

// yield releases a job whose host is held.
func (s *sim) yield(t *slot, claim int) {
	f, fence := t.file, t.fence
	s.store(&t.process, 1, func() {
		if f.record.Release(t.name, fence, s.clock()) == nil {
			s.later(f, s.now)
		}
	}, func() {
		if t.claim == claim {
			s.free(t)
		}
	})
}

// request sends the remaining requests of a job, each in its turn, and then downloads the file.
func (s *sim) request(t *slot, claim, left int) {
	if left == 0 {
		s.load(t, claim)
		return
	}
	h := &s.hosts[t.file.host]
	if wait, _ := h.pace.Held(s.clock()); wait > 2*Soon {
		t.file.allowed += wait + time.Second
		s.on(t, claim, s.now+2*Soon, func() { s.yield(t, claim) })
		return
	} else if wait > 0 {
		t.file.allowed += wait
		s.on(t, claim, s.now+wait, func() { s.request(t, claim, left) })
		return
	}
	asked := s.now
	s.turn(t, claim, func() {
		if wait, _ := h.pace.Held(s.clock()); wait > 0 {
			s.request(t, claim, left)
			return
		}
		s.stats.inRoom = append(s.stats.inRoom, s.now-asked)
		s.asked(t.file.host)
		s.on(t, claim, s.now+s.answer, func() { s.request(t, claim, left-1) })
	})
}

// turn waits for a turn at the host, like Pacer.Turn.
func (s *sim) turn(t *slot, claim int, then func()) {
	if s.rate == 0 {
		then()
		return
	}
	n := t.file.host
	use := func(a *turns) {
		at := max(a.next, s.now)
		a.next, a.left = a.next+a.gap, a.left-1
		s.on(t, claim, at, then)
	}
	if a := t.turns[n]; a != nil && a.left > 0 && a.next >= s.now {
		use(a)
		return
	}
	s.stats.paced++
	take := 1
	if a := t.turns[n]; a != nil && a.left == 0 && s.now < a.next {
		take = min(2*a.took, max(1, int(s.rate*ahead.Seconds())))
	}
	a := &turns{left: take, took: take}
	s.store(&t.process, 1, func() {
		first, gap := s.hosts[n].pace.Turns(a.left, s.rate, s.clock().Add(toQueue))
		a.next, a.gap = first.Sub(t0), gap
	}, func() {
		if t.claim == claim {
			t.turns[n] = a
			use(a)
		}
	})
}

// A tap is the share of a worker in the bandwidth of a host. The worker's downloads from that host divide it.
type tap struct {
	host  int
	rate  float64 // bytes per second, very few until there is a share
	since time.Duration
	slots []*slot
	ends  int // incremented to invalidate earlier calculations
}

// load downloads the file.
func (s *sim) load(t *slot, claim int) {
	if s.bytes == 0 {
		s.on(t, claim, s.now+t.file.took, func() { s.end(t, claim) })
		return
	}
	n := t.file.host
	t.left = t.file.took.Seconds() * speed
	p := t.taps[n]
	if p == nil {
		p = &tap{host: n, since: s.now}
		t.taps[n] = p
		s.share(t.worker, p)
	}
	s.flow(p, func() { p.slots = append(p.slots, t) })
}

// leave removes the download of a slot from its tap.
func (s *sim) leave(t *slot) {
	if p := t.taps[t.file.host]; p != nil {
		s.flow(p, func() { p.slots = slices.DeleteFunc(p.slots, func(o *slot) bool { return o == t }) })
	}
}

func (p *tap) each() float64 { return min(speed, p.rate/float64(max(1, len(p.slots)))) }

func (s *sim) turnTap(p *tap, rate float64) { s.flow(p, func() { p.rate = rate }) }

// flow calculates what has come through a tap so far, calls change, and schedules the end of each download at its new
// rate.
func (s *sim) flow(p *tap, change func()) {
	h := &s.hosts[p.host]
	came := p.each() * (s.now - p.since).Seconds()
	for _, t := range p.slots {
		t.left -= came
		h.bytes += came
	}
	h.flow -= p.each() * float64(len(p.slots))
	change()
	h.flow += p.each() * float64(len(p.slots))
	h.mostFlow = max(h.mostFlow, h.flow)
	p.since = s.now
	p.ends++
	if p.each() == 0 {
		return
	}
	reckoned := p.ends
	for _, t := range p.slots {
		claim := t.claim
		at := s.now + time.Duration(max(0, t.left)/p.each()*float64(time.Second)) + time.Microsecond
		s.on(t, claim, at, func() {
			if p.ends == reckoned {
				size := t.file.took.Seconds() * speed
				s.flow(p, func() { p.slots = slices.DeleteFunc(p.slots, func(o *slot) bool { return o == t }) })
				h.pace.Ended(int64(size))
				s.end(t, claim)
			}
		})
	}
}

// share renews the share of a worker regularly, like Pacer.share.
func (s *sim) share(w *worker, p *tap) {
	if len(p.slots) == 0 && p.rate > 0 {
		s.turnTap(p, 0)
		s.hosts[p.host].pace.LeaveShare(w.name, s.clock())
		delete(w.taps, p.host)
		return
	}
	want := s.bytes
	if most := 2 * int64(speed) * int64(len(p.slots)); p.rate > 0 && most < int64(p.rate) {
		want = most
	}
	var rate int64
	var again time.Duration
	s.stats.paced++
	s.store(&w.process, 1, func() {
		rate, again = s.hosts[p.host].pace.TakeShare(w.name, len(p.slots), want, s.bytes,
			s.clock())
	}, func() {
		s.turnTap(p, float64(max(rate, 1<<10)))
		s.as(&w.process, s.now+again, func() { s.share(w, p) })
	})
}
