package download

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"braid/byterange"
	"braid/download/partfile"
	"braid/scheduler"
	"braid/verify"
)

// A session is one attempt to bring the file: everything between the first request and the proof. When it
// turns out that the file changed or that what came is wrong, another session begins anew.
//
// All its fields belong to the goroutine of run. Fetches are functions that send messages.
type session struct {
	c       *Client
	http    network
	req     *Request
	plan    *plan
	ctx     context.Context
	part    *partfile.File
	sched   *scheduler.Scheduler
	sources sources
	fetches fetches
	hashing hashing
	workers sync.WaitGroup

	subject
	aside   aside
	swarm   swarm
	cut     cutoff
	news    bool          // the mirrors that the origin named are not added yet
	here    byterange.Set // what the scheduler was told of
	syncing atomic.Bool

	wake   time.Time
	atlas  *atlas // nil but in a batch
	result *Result
	how    outcome // how it ended early
	err    error   // why
	done   bool
}

// run carries the download out until everything is here and proven, or it cannot go on.
func (s *session) run(ctx context.Context) (proof verify.Proof, err error) {
	ctx, cancel := context.WithCancel(ctx)
	s.ctx = ctx
	defer func() {
		cancel()
		s.drain()
		s.swarm.leave()
		s.remember()
	}()
	s.begin()
	timer := time.NewTimer(0)
	defer timer.Stop()
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for !s.done && s.how == ongoing {
		select {
		case m := <-s.fetches.messages:
			s.handle(m)
		case err := <-s.hashing.failed:
			s.stop(err)
		case c := <-s.hashing.pieces.checked:
			s.pieceChecked(c)
		case t := <-s.aside.told:
			s.hear(t)
		case o := <-s.aside.offered:
			s.take(o)
		case all := <-s.plan.signed.done:
			s.gathered(all)
			s.usePieces() // not at the end, where nothing is fetched again
		case size := <-s.cut.ends:
			s.endsAt(size)
		case front := <-s.hashing.moved:
			s.step(scheduler.Consumed{Front: front})
		case <-timer.C:
			s.step(scheduler.Tick{})
		case <-ticker.C:
			s.beat()
		case <-ctx.Done():
			s.stop(context.Cause(ctx))
		}
		timer.Stop()
		if !s.wake.IsZero() {
			timer.Reset(time.Until(s.wake))
		}
	}
	if s.how != ongoing {
		return verify.Proof{}, s.err
	}
	if proof, err = s.prove(); err != nil {
		s.stop(err)
	}
	return proof, err
}

// beat is how often the journal is brought up to date and observers are told of the progress.
const beat = 50 * time.Millisecond

// step feeds the scheduler and does what it says. An action may lead to further events; they follow.
func (s *session) step(ev scheduler.Event) {
	do, wake := s.sched.Step(time.Now(), ev)
	s.wake = wake
	for _, a := range do {
		switch a := a.(type) {
		case scheduler.Fetch:
			s.launch(a)
		case scheduler.Shrink:
			f := s.fetches.running[a.ID]
			f.sink.limit.Store(a.End)
			s.observe(RangeCut{Fetch: f.number, ID: f.from.id, Host: f.from.host, End: a.End, Why: a.Why})
		case scheduler.Cancel:
			f := s.fetches.running[a.ID]
			f.sink.limit.Store(0)
			f.cancel()
			switch a.Why {
			case scheduler.ReasonLied:
				s.exclude(f)
			case scheduler.ReasonSilent:
				s.sources.silent(f.from)
			}
			s.observe(RangeCut{Fetch: f.number, ID: f.from.id, Host: f.from.host, End: f.at, Ended: true, Why: a.Why})
		case scheduler.Check:
			s.hashing.check(s.ctx, a, s.provenBySwarm)
		case scheduler.Ban:
			s.ban(a.Source)
		case scheduler.Discard:
			s.void(a.Range)
		case scheduler.Finish:
			s.done = true
		case scheduler.Fail:
			s.stop(s.sources.none())
		}
	}
}

// handle takes a message of a fetch.
func (s *session) handle(m message) {
	f := s.fetches.running[m.id]
	switch {
	case m.coming != 0:
		s.step(scheduler.Coming{Fetch: m.id, N: m.coming})
	case m.answer != nil:
		m.reply <- s.reply(m, f)
	case m.ended:
		s.ended(m.id, f, m.err)
	default:
		s.fetches.count(f, m)
		if f.excluded {
			return
		}
		for g := range s.here.Gaps(m.wrote) {
			f.from.brought.Add(g)
		}
		s.here.Add(m.wrote)
		if !f.from.swarm {
			s.swarm.here(m.wrote)
		}
		f.sink.heard(m.wrote)
		s.step(scheduler.Progress{Fetch: m.id, Range: m.wrote})
	}
}

// drain ends all that runs for the session, and waits for it.
func (s *session) drain() {
	s.fetches.drain()
	s.workers.Wait()
	s.hashing.workers.Wait()
	s.hashing.stop()
}
