package fleet

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// A worker has slots, turns at hosts that it took ahead, and its shares of their bandwidth.
type worker struct {
	process
	turns map[int]*turns
	taps  map[int]*tap
	jobs  map[int]int // number of jobs by host
}

// A slot is one of the concurrent downloads of a worker.
type slot struct {
	*worker
	life  int
	file  *file
	fence uint64
	until time.Duration // end of the lease, as far as the worker knows
	claim int           // number of the job, to recognize events of an earlier one
	left  float64       // bytes to download from a host with a limited bandwidth
}

func (s *sim) addWorkers() {
	for i := range s.shape.workers {
		w := &worker{process: process{name: fmt.Sprint("worker ", i)}}
		s.workers = append(s.workers, w)
		s.begin(w)
	}
}

// begin makes a worker ask for jobs.
func (s *sim) begin(w *worker) {
	for _, p := range w.taps { // the downloads have ended
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

// deliverable makes the message of a file available to workers.
func (s *sim) deliverable(f *file) {
	f.delivery++
	s.ready = append(s.ready, f)
	s.depth++
	s.deepest = max(s.deepest, s.depth)
	s.dispatch()
}

// dispatch delivers messages to free slots while the queue is up.
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
		if t.stopped > s.now { // the slot asks again when the worker continues
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

// await delivers a message again if it is not acknowledged in time.
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

// later delivers a message again at the time at.
func (s *sim) later(f *file, at time.Duration) {
	f.delivery++
	delivery := f.delivery
	s.at(at+50*time.Millisecond, func() {
		if f.delivery == delivery {
			s.deliverable(f)
		}
	})
}

// take takes the job, like Queue.claim.
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
			f.delivery++ // the message is acknowledged
		}
		s.free(t)
	})
}

// checkTakeOver reports a fault if a job is taken from a worker before its lease has expired.
func (s *sim) checkTakeOver(l Lease) {
	if s.clock().Before(l.Until) {
		s.fault("taken from %s, which has it until %v", l.Holder, l.Until.Sub(t0))
	}
}

// hold downloads the file and prolongs the lease meanwhile.
func (s *sim) hold(t *slot, f *file) {
	t.file, t.until = f, s.now+s.lease
	t.jobs[f.host]++
	s.hosts[f.host].pace.Began(1)
	claim := t.claim
	s.beat(t, claim)
	s.request(t, claim, s.requests)
}

// on calls do at the time at unless the slot has another job by then.
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
		case s.now < s.upAt && s.now >= t.until: // the lease expired without being prolonged
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

// prolong prolongs the lease and then calls then. If the lease is lost, it gives the job up.
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

// confirm calls then when it is certain that the lease is held, like Claim.Confirm. A single server can tell; with
// several servers the lease must be prolonged.
func (s *sim) confirm(t *slot, claim int, then func()) {
	if !s.single {
		s.prolong(t, claim, then)
		return
	}
	f, fence := t.file, t.fence
	var err error
	var left time.Duration
	s.store(&t.process, 0, func() {
		err, left = f.record.Lease.Check(t.name, fence),
			f.record.Lease.Until.Sub(s.clock())
	}, func() {
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

// end ends an attempt. A failed one is stored in the queue; a good file is put in place before.
func (s *sim) end(t *slot, claim int) {
	f := t.file
	if f.kind != Right && f.record.Wrong+f.record.Failed == 0 { // the second attempt succeeds
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

// place renames the file that was made with a fence. If another worker has taken the job since, the folder of the file
// is gone and nothing is renamed.
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

// finish stores how the attempt ended.
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

// ended handles the message according to the state of the record, and measures the lateness of a file that is done.
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

// measure records the lateness of a file without the time of its download. It reports a fault if the file is later than
// allowed.
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

// killWorker kills a worker. If back is set, it is started again.
func (s *sim) killWorker(n int, back bool) {
	w := s.workers[n]
	w.life++
	if back {
		s.after(backAfter, func() { s.begin(w) })
	}
}

// stop stops a worker for the time d, like SIGSTOP.
func (s *sim) stop(w *worker, d time.Duration) {
	w.stopped = s.now + d
	s.stops++
}

// queueDown makes the queue unavailable for the time d.
func (s *sim) queueDown(d time.Duration) {
	s.upAt = s.now + d
	if s.slack > 0 { // the jobs of that time have to be done too
		s.slack += 2*d + s.lease
	}
	s.at(s.upAt, s.dispatch)
}
