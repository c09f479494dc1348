package download

import (
	"context"
	"fmt"
	"sync"
	"time"

	"braid/byterange"
	"braid/download/state"
	"braid/internal/partfile"
	"braid/scheduler"
	"braid/source"
	"braid/verify"
)

// A session is one attempt to download the file: everything from the first request to the proof. If the file changes or
// bytes are wrong, another session begins.
//
// All fields belong to the goroutine of run, the loop. Fetches run in other goroutines and send messages to the loop.
type session struct {
	*call
	ctx     context.Context
	part    *partfile.File
	sched   *scheduler.Scheduler
	sources sources
	fetches fetches
	hashing hashing
	workers sync.WaitGroup

	subject
	aside      aside
	swarm      swarm
	cut        cutoff
	newMirrors bool          // mirrors that the origin named are still to be added
	here       byterange.Set // ranges that were reported to the scheduler
	disk       disk

	wake time.Time
	how  outcome // the outcome, if the session ended early
	err  error   // the reason
	done bool
}

// run downloads until every byte is present and proven, or the session cannot continue.
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
		case t := <-s.aside.documents:
			s.applyDocument(t)
		case o := <-s.aside.offered:
			s.take(o)
		case all := <-s.carried.signed.done:
			s.applySignatures(all)
			s.usePieces() // not in applySignatures: prove calls it, too, and fetches no piece again
		case r := <-s.carried.looking.done:
			s.carried.looking.apply(s, r)
		case size := <-s.cut.ends:
			s.compared(size)
		case front := <-s.hashing.advanced:
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
	if err = s.disk.last.wait(ctx); err == nil {
		proof, err = s.prove()
	} else if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		s.stop(err)
	}
	return proof, err
}

// beat is the interval between updates of the journal.
const beat = 50 * time.Millisecond

// step passes ev to the scheduler and performs its actions. Events that an action causes are passed on in turn.
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
			case scheduler.ReasonWrongBytes:
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
			s.lastFailed()
		}
	}
}

// handle handles m, a message of a fetch.
func (s *session) handle(m message) {
	f := s.fetches.running[m.id]
	switch {
	case m.coming != 0:
		s.step(scheduler.Coming{Fetch: m.id, N: m.coming})
	case m.answer != nil:
		r := s.reply(m, f)
		r.after = s.disk.last
		m.reply <- r
	case m.ended:
		s.ended(m.id, f, m.err)
	default:
		s.fetches.count(f, m)
		if f.excluded {
			return
		}
		s.sources.credit(f.from, m)
		s.here.Add(m.wrote)
		if !f.from.swarm {
			s.swarm.here(m.wrote)
		}
		f.sink.reported(m.wrote)
		s.step(scheduler.Progress{Fetch: m.id, Range: m.wrote})
	}
}

// drain ends all goroutines of the session and waits for them.
func (s *session) drain() {
	s.fetches.drain(s.sources.credit)
	s.workers.Wait()
	s.hashing.workers.Wait()
	s.hashing.stop()
}

// launch starts a, a fetch that the scheduler requested.
func (s *session) launch(a scheduler.Fetch) {
	o := s.sources.lanes[a.Source]
	ctx, cancel := context.WithCancel(s.ctx)
	k := &sink{ctx: ctx, id: a.ID, part: s.part, upload: s.hashing.upload, out: s.fetches.messages, most: s.c.maxSize()}
	k.limit.Store(a.Range.End)
	k.size.Store(s.size)
	if o.swarm {
		k.unreported = &byterange.Set{}
	}
	s.carried.fetches++
	f := &flight{number: s.carried.fetches, from: o, lane: a.Source, sink: k, cancel: cancel, begun: time.Now(),
		at: a.Range.Start}
	s.observe(RangeStarted{ID: o.id, URL: o.masked, Host: o.host, Range: a.Range, Fetch: f.number, Why: a.Why})
	before := s.disk.last
	to, end := s.c.throttled(ctx, s.req, o, k)
	s.fetches.begin(a.ID, f, func() error {
		defer end()
		if err := before.wait(ctx); err != nil {
			return err
		}
		return o.src.Fetch(ctx, a.Range, to)
	})
}

// beat checks the least speed, updates the journal and reports the progress.
func (s *session) beat() {
	s.fetches.stats.beat()
	if err := s.fetches.keepsUp(s.c, s.req, s.c.limitOf(s.req), time.Now()); err != nil {
		s.stop(err)
	}
	if !s.begun || s.part.Useless() {
		return
	}
	s.disk.record(s.fetches.stats.beats%syncBeats == 0)
	if s.fetches.stats.beats%rememberBeats == 0 {
		s.remember()
		s.workers.Go(s.c.State.Save)
	}
	if s.fetches.stats.beats%2 == 0 {
		s.askTorrent()
		s.progress()
	}
}

func (s *session) progress() {
	if s.req.Observe == nil && s.req.reporter == nil {
		return
	}
	s.fetches.reportBrought()
	have := s.part.Have()
	s.observe(Progress{Done: have.Len(), Size: s.size, Rate: s.fetches.stats.rate(), Active: s.fetches.active(),
		Twice: s.result.Duplicate + s.fetches.stats.twice()})
}

// remember saves the measured speeds of the sources for later downloads. It saves no speeds that a limit has reduced.
func (s *session) remember() {
	if s.c.State == nil || s.c.Limit.Rate() > 0 {
		return
	}
	working := 0
	for _, sp := range s.sched.Speeds() {
		o := s.sources.lanes[sp.Source]
		if o.lanes > 1 || o.swarm || s.c.HostLimits.Limited(o.url) { // the speed of one lane is not that of the server
			continue
		}
		known := state.Speed{Rate: sp.Rate, RTT: sp.RTT}
		if o.banned {
			known.Rate = 0
		}
		if known.Rate > 0 {
			working++
		}
		s.c.State.Learn(sp.Host, known)
		// If the server redirects, the next download may look up the speed of either host.
		if named := source.HostPort(o.url); named != sp.Host {
			s.c.State.Learn(named, known)
		}
	}
	if working > 1 {
		s.c.State.Learn(state.AllHosts, state.Speed{Rate: s.sched.Peak()})
	}
}

// identity returns the record about the file for the journal of the part file.
func (s *session) identity() partfile.Identity {
	id := identityOf(s.req, s.known)
	found := without(join(s.carried.looking.finding().Claims, s.carried.looking.remaining(s.digests.by(aList))), id.Claims)
	if s.req.onDisk() && verify.Agree(s.digests.firsthand(), found) == nil { // a later run may need these digests
		id.Looked = join(id.Looked, found)
	}
	id.Host, id.Date = s.result.Host, s.result.LastModified
	if id.Host == "" { // the server has not answered in this session
		id.Host, id.Date = s.carried.answeredBy, s.carried.answered
	}
	return id
}

// describe records the known facts about the file in the journal.
func (s *session) describe() {
	if s.makeWay() != nil {
		return
	}
	id := s.identity()
	s.hashing.upload.describe(id)
	s.disk.do(func() error { return s.part.Begin(id) })
}

// makeWay sets aside the useless bytes of an earlier run, before other bytes are written.
func (s *session) makeWay() error {
	if err := s.part.MakeWay(); err != nil {
		return s.stop(err)
	}
	s.carried.tellAside(s.req, s.part)
	return nil
}

// reserve checks that the file is within the limit and fits on disk, and records the known facts in the journal.
func (s *session) reserve() error {
	s.fetches.bound(s.size)
	if most := s.c.MaxSize; most > 0 && s.size > most {
		err := fmt.Errorf("the file has %d bytes, and no more than %d are allowed", s.size, most)
		return s.stop(fail(Limit, "download", source.Mask(s.req.URL), err, HintLimit))
	}
	if err := s.makeWay(); err != nil {
		return err
	}
	id, size, how := s.identity(), s.size, s.c.Allocation
	s.hashing.upload.describe(id)
	if !s.req.onDisk() {
		how = AllocateNone
	}
	s.disk.do(func() error {
		if err := makeRoom(s.part, size, s.req.onDisk()); err != nil {
			return err
		}
		if err := s.part.Begin(id); err != nil {
			return err
		}
		return allocate(s.part, size, how)
	})
	return nil
}

// stop ends the session with err and the outcome that follows from it. It returns err, so that a caller can refuse the
// body of an answer with it.
func (s *session) stop(err error) error {
	how := outcomeOf(err)
	if s.guessed() && is[*partfile.SpaceError](err) { // only a mirror stated this large size
		how = sizeDisowned
	}
	return s.end(how, err)
}

// end ends the session, if it has not ended. It returns err, so that a caller can refuse the body of an answer with it.
func (s *session) end(how outcome, err error) error {
	if s.how == ongoing {
		s.how, s.err = how, err
	}
	return err
}

// streamed reports whether any byte was written to the stream or uploaded.
func (s *session) streamed() bool {
	return s.req.Stream != nil && s.part.Front() > 0 || s.hashing.upload != nil && s.hashing.upload.begun()
}
