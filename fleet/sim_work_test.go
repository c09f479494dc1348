package fleet

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// A worker has slots, turns at hosts that it took ahead, and what it may have of their bytes.
type worker struct {
	process
	turns map[int]*turns
	taps  map[int]*tap
	jobs  map[int]int // by host
}

// A slot is one of the downloads that a worker has at once.
type slot struct {
	*worker
	life  int
	file  *file
	fence uint64
	until time.Duration // of the lease, as the worker knows it
	claim int           // counts them, for what belongs to an earlier one
	left  float64       // bytes to come, of a host that is held to a number of them
}

func (s *sim) addWorkers() {
	for i := range s.shape.workers {
		w := &worker{process: process{name: fmt.Sprint("worker ", i)}}
		s.workers = append(s.workers, w)
		s.begin(w)
	}
}

// begin has a worker ask for jobs.
func (s *sim) begin(w *worker) {
	for _, p := range w.taps { // nothing comes any more
		s.turnTap(p, 0)
		p.slots = nil
	}
	w.turns, w.taps, w.jobs = map[int]*turns{}, map[int]*tap{}, map[int]int{}
	for range downloads {
		s.free(&slot{worker: w, life: w.life})
	}
}

func (s *sim) free(t *slot) {
	if t.file != nil {
		t.jobs[t.file.host]--
		s.leave(t)
	}
	t.file = nil
	t.claim++
	s.idle = append(s.idle, t)
	s.dispatch()
}

// deliverable has the message of a file wait for a worker.
func (s *sim) deliverable(f *file) {
	f.delivery++
	s.ready = append(s.ready, f)
	s.depth++
	s.deepest = max(s.deepest, s.depth)
	s.dispatch()
}

// dispatch brings messages to slots that wait for one, as long as the queue is up.
func (s *sim) dispatch() {
	if s.now < s.upAt {
		return
	}
	for len(s.ready) > 0 && len(s.idle) > 0 {
		t := s.idle[0]
		s.idle = s.idle[1:]
		if t.life != t.worker.life {
			continue
		}
		if t.stopped > s.now { // it asks again when it goes on
			s.as(&t.process, t.stopped, func() { s.free(t) })
			continue
		}
		f := s.ready[0]
		s.ready = s.ready[1:]
		s.depth--
		f.ackBy = s.now + s.lease
		s.await(f, f.delivery)
		s.take(t, f)
	}
}

// await brings a message again that is not answered in time.
func (s *sim) await(f *file, delivery int) {
	s.at(max(f.ackBy, s.upAt), func() {
		switch {
		case f.delivery != delivery:
		case s.now < f.ackBy || s.now < s.upAt:
			s.await(f, delivery)
		default:
			s.deliverable(f)
		}
	})
}

// later gives a message back until a time.
func (s *sim) later(f *file, at time.Duration) {
	f.delivery++
	delivery := f.delivery
	s.at(at+50*time.Millisecond, func() {
		if f.delivery == delivery {
			s.deliverable(f)
		}
	})
}

// take takes the job, as Queue.claim does.
func (s *sim) take(t *slot, f *file) {
	if f.record.Due(s.clock()) {
		s.admit(t, f)
	} else {
		s.claimed(t, f)
	}
}

func (s *sim) claimed(t *slot, f *file) {
	var err error
	s.store(&t.process, 1, func() {
		before := f.record
		err = f.record.Take(t.name, s.clock(), s.lease)
		if err != nil {
			return
		}
		if before.State == Running {
			s.stats.takenOver++
			f.allowed += s.lease + time.Second + f.took
			s.checkTakeOver(before.Lease)
		}
		f.stage, t.fence = f.record.Lease.Fence, f.record.Lease.Fence
	}, func() {
		var early *EarlyError
		var held *HeldError
		switch {
		case err == nil:
			s.hold(t, f)
			return
		case errors.As(err, &early):
			s.later(f, early.Next.Sub(t0))
		case errors.As(err, &held):
			s.later(f, held.Lease.Until.Sub(t0))
		default:
			f.delivery++ // it is acknowledged
		}
		s.free(t)
	})
}

// checkTakeOver: a job is not taken from a worker before its lease has run out.
func (s *sim) checkTakeOver(l Lease) {
	if s.clock().Before(l.Until) {
		s.fault("taken from %s, which has it until %v", l.Holder, l.Until.Sub(t0))
	}
}

// hold downloads, and prolongs the lease meanwhile.
func (s *sim) hold(t *slot, f *file) {
	t.file, t.until = f, s.now+s.lease
	t.jobs[f.host]++
	s.hosts[f.host].pace.Began(1)
	claim := t.claim
	s.beat(t, claim)
	s.request(t, claim, s.requests)
}

// on goes on with a claim later, if it is not given up meanwhile.
func (s *sim) on(t *slot, claim int, at time.Duration, do func()) {
	s.as(&t.process, at, func() {
		if t.claim == claim {
			do()
		}
	})
}

func (s *sim) beat(t *slot, claim int) {
	s.on(t, claim, s.now+s.lease/3, func() {
		switch {
		case s.now < s.upAt && s.now >= t.until: // it was not prolonged for as long as it lasts
			s.stats.givenUp++
			s.free(t)
		case s.now < s.upAt:
			s.beat(t, claim)
		default:
			t.file.ackBy = max(t.file.ackBy, s.now+s.lease)
			s.prolong(t, claim, func() { s.beat(t, claim) })
		}
	})
}

// prolong goes on when the lease is prolonged, and gives the job up when it is lost.
func (s *sim) prolong(t *slot, claim int, then func()) {
	f, fence := t.file, t.fence
	var err error
	s.store(&t.process, 1, func() { err = f.record.Prolong(t.name, fence, Progress{}, s.clock(), s.lease) }, func() {
		switch {
		case t.claim != claim:
		case err != nil:
			s.stats.late++
			s.free(t)
		default:
			t.until = s.now + s.lease
			then()
		}
	})
}

// confirm goes on when the lease is sure to be held, as Claim.Confirm does: one server says so; several have to store
// that it is prolonged.
func (s *sim) confirm(t *slot, claim int, then func()) {
	if !s.single {
		s.prolong(t, claim, then)
		return
	}
	f, fence := t.file, t.fence
	var err error
	var left time.Duration
	s.store(&t.process, 0, func() { err, left = f.record.Lease.Check(t.name, fence), f.record.Lease.Until.Sub(s.clock()) }, func() {
		switch {
		case t.claim != claim:
		case err != nil:
			s.stats.late++
			s.free(t)
		case left <= s.lease/2:
			s.prolong(t, claim, then)
		default:
			then()
		}
	})
}

// end ends a try: what is wrong is told to the queue, and what is right is put in place before.
func (s *sim) end(t *slot, claim int) {
	f := t.file
	if f.kind != Right && f.record.Wrong+f.record.Failed == 0 { // it is right the second time
		s.finish(t, claim, f.kind)
		return
	}
	version, _ := strconv.Atoi(f.record.Job.Version)
	s.confirm(t, claim, func() {
		if s.stopNext > 0 {
			s.stopNext--
			s.stop(t.worker, s.lease+3*time.Second)
		}
		s.on(t, claim, s.now, func() {
			s.place(f, t.fence, version)
			s.finish(t, claim, Right)
		})
	})
}

// place renames what was made under a fence. For a late worker its folder is there no more.
func (s *sim) place(f *file, fence uint64, version int) {
	switch {
	case f.stage != fence || f.inPlace == version:
		return
	case f.inPlace > version:
		s.fault("%s of version %d is put in the place of version %d", f.name, version, f.inPlace)
	}
	if f.record.Lease.Fence != fence {
		s.fault("%s is written under fence %d, and its lease has %d", f.name, fence, f.record.Lease.Fence)
	}
	f.inPlace = version
	s.stats.placed++
}

// finish stores how the try ended.
func (s *sim) finish(t *slot, claim int, kind Kind) {
	f, fence := t.file, t.fence
	var err error
	s.store(&t.process, 1, func() {
		version := f.record.Job.Version
		if err = f.record.Finish(t.name, fence, Ending{Kind: kind}, s.clock()); err == nil {
			s.ended(f, version, kind)
		}
	}, func() {
		if t.claim != claim {
			return
		}
		if err != nil {
			s.stats.late++
		}
		s.free(t)
	})
}

// ended does with the message what the record calls for, and takes down how late the file is.
func (s *sim) ended(f *file, version string, kind Kind) {
	if number, _ := strconv.Atoi(version); kind == Right {
		if number <= f.done {
			s.fault("%s of version %d is done after version %d", f.name, number, f.done)
		}
		f.done = number
		if number == f.version {
			s.measure(f)
		}
	}
	switch f.record.State {
	case Done, Dead:
		s.writes, s.stats.acks = s.writes+1, s.stats.acks+1
		f.delivery++
		if f.record.State == Dead {
			s.stats.dead++
		}
	case Waiting:
		f.troubled = true
		f.allowed += f.record.Next.Sub(s.clock()) + elsewhere + time.Second + f.took
		s.later(f, f.record.Again().Sub(t0))
	default:
		s.later(f, s.now)
	}
}

// measure takes down how late a file is, beside the time of its download. It may be late for what happened to it, and no more.
func (s *sim) measure(f *file) {
	late := s.now - f.reported - f.took
	s.stats.last, s.stats.stored = s.now, s.writes-s.stats.acks
	s.stats.seen = append(s.stats.seen, s.now-f.published)
	h := &s.hosts[f.host]
	if f.troubled {
		s.stats.again = append(s.stats.again, late)
	} else {
		s.stats.once = append(s.stats.once, late)
		h.late = append(h.late, late)
	}
	if most := f.allowed + s.slack; s.slack > 0 && late > most {
		s.fault("%s is %v late, and may be %v", f.name, late, most)
	}
}

// killWorker ends one. It is started again, unless it is lost for good.
func (s *sim) killWorker(n int, back bool) {
	w := s.workers[n]
	w.life++
	if back {
		s.after(backAfter, func() { s.begin(w) })
	}
}

// stop is what SIGSTOP does, for a time.
func (s *sim) stop(w *worker, d time.Duration) {
	w.stopped = s.now + d
	s.stops++
}

// queueDown has the queue answer nothing for a time.
func (s *sim) queueDown(d time.Duration) {
	s.upAt = s.now + d
	if s.slack > 0 { // and what came meanwhile has to be done
		s.slack += 2*d + s.lease
	}
	s.at(s.upAt, s.dispatch)
}
