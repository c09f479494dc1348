package download

import (
	"context"
	"errors"
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
	*attempt
	cancel  context.CancelFunc
	sched   *scheduler.Scheduler
	facts   facts
	answers answers
	choice  choice
	proving proving
	cut     cutoff
	here    byterange.Set // ranges that were reported to the scheduler
	wake    time.Time     // when the scheduler gets the next Tick; zero: never
}

// An attempt holds the state that the parts of a session share. Each part embeds the attempt, and adds its own state.
type attempt struct {
	*call
	ctx     context.Context
	part    *partfile.File
	disk    disk
	workers sync.WaitGroup
	sources sources
	fetches fetches
	end     ending
	step    func(scheduler.Event) // passes an event to the scheduler
}

// An ending states how a session ended. The first call of early or stop decides.
type ending struct {
	how  outcome // the outcome, if the session ended early
	err  error   // the reason
	done bool    // all bytes are there, or none is needed
}

// early ends the session, if it has not ended. It returns err, so that a caller can refuse the body of an answer.
func (e *ending) early(how outcome, err error) error {
	if e.how == ongoing {
		e.how, e.err = how, err
	}
	return err
}

// stop ends the session with err and the outcome that follows from it. It returns err, like early.
func (e *ending) stop(err error) error { return e.early(outcomeOf(err), err) }

func newSession(ctx context.Context, c *call, part *partfile.File) *session {
	a := &attempt{call: c, part: part, fetches: fetches{running: map[scheduler.FetchID]*flight{},
		messages: make(chan message, 16), detail: c.req.Detail, observe: c.req.observe}}
	s := &session{attempt: a, facts: facts{attempt: a, known: c.carried.known}}
	a.ctx, s.cancel = context.WithCancel(ctx)
	s.answers = answers{attempt: a, facts: &s.facts}
	s.cut = cutoff{attempt: a, facts: &s.facts, ends: make(chan int64, 1)}
	s.choice = choice{attempt: a, facts: &s.facts, here: &s.here, offered: make(chan offer, 1)}
	s.proving = proving{attempt: a, facts: &s.facts, hashing: newHashing(part, c.req.Stream, c.upload),
		aside: aside{documents: make(chan documentResult, 1)}}
	s.proving.hashing.known = s.choice.provenBySwarm
	a.disk, a.step = disk{part: part, fail: s.proving.hashing.fail, workers: &a.workers}, s.perform
	return s
}

// run downloads until every byte is present and proven, or the session cannot continue.
func (s *session) run() (proof verify.Proof, err error) {
	ctx := s.ctx
	defer func() {
		s.cancel()
		s.drain()
		s.choice.swarm.leave()
		s.sources.remember(s.c, s.sched)
	}()
	s.begin()
	timer := time.NewTimer(0)
	defer timer.Stop()
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for !s.end.done && s.end.how == ongoing {
		select {
		case m := <-s.fetches.messages:
			s.handle(m)
		case err := <-s.proving.hashing.failed:
			s.stop(err)
		case c := <-s.proving.hashing.pieces.checked:
			s.proving.pieceChecked(c)
		case t := <-s.proving.aside.documents:
			s.applyDocument(t)
		case o := <-s.choice.offered:
			s.choice.take(o)
		case all := <-s.carried.signed.done:
			s.proving.applySignatures(all)
			s.proving.usePieces() // not in applySignatures, which also runs after the loop, where no piece is fetched
		case r := <-s.carried.looking.done:
			s.carried.looking.apply(&s.proving, r)
		case size := <-s.cut.ends:
			s.compared(size)
		case front := <-s.proving.hashing.advanced:
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
	if s.end.how != ongoing {
		return verify.Proof{}, s.end.err
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

// perform passes ev to the scheduler and performs its actions. Events that an action causes are passed on in turn.
func (s *session) perform(ev scheduler.Event) {
	do, wake := s.sched.Step(time.Now(), ev)
	s.wake = wake
	for _, a := range do {
		switch a := a.(type) {
		case scheduler.Fetch:
			s.launch(a)
		case scheduler.Shrink:
			f := s.fetches.running[a.ID]
			f.sink.limit.Store(a.End)
			s.req.observe(RangeCut{Fetch: f.number, ID: f.from.id, Host: f.from.host, End: a.End, Why: a.Why})
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
			s.req.observe(RangeCut{Fetch: f.number, ID: f.from.id, Host: f.from.host, End: f.at, Ended: true, Why: a.Why})
		case scheduler.Check:
			s.proving.hashing.check(s.ctx, a)
		case scheduler.Ban:
			s.ban(a.Source)
		case scheduler.Discard:
			s.void(a.Range)
		case scheduler.Finish:
			s.end.done = true
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
			s.choice.swarm.here(m.wrote)
		}
		f.sink.reported(m.wrote)
		s.step(scheduler.Progress{Fetch: m.id, Range: m.wrote})
	}
}

// drain ends all goroutines of the session and waits for them. The next session knows what the host of the URL stated in
// an answer that arrives now.
func (s *session) drain() {
	o := s.sources.first()
	for _, err := range s.giveUpUnanswered(o) {
		if e, ok := errors.AsType[*source.Error](err); ok && s.roleOf(o) == asOrigin {
			x, _ := s.req.resolve(e.Hops, asOrigin, footing{})
			s.facts.known.digests.add(theHost, noted, x.asked)
		}
	}
	s.fetches.drain(s.sources.credit)
	s.workers.Wait()
	s.proving.hashing.workers.Wait()
	s.proving.hashing.stop()
}

// giveUpUnanswered gives up the requests to o that no target of its redirects has answered yet, and returns their errors.
func (s *session) giveUpUnanswered(o *origin) []error {
	return s.fetches.giveUp(s.sources.credit, func(f *flight) bool { return f.from == o && f.answer.Host == "" })
}

// launch starts a, a fetch that the scheduler requested.
func (s *session) launch(a scheduler.Fetch) {
	o := s.sources.lanes[a.Source]
	ctx, cancel := context.WithCancel(s.ctx)
	k := &sink{ctx: ctx, id: a.ID, part: s.part, upload: s.proving.hashing.upload, out: s.fetches.messages, most: s.c.maxSize()}
	k.limit.Store(a.Range.End)
	k.size.Store(s.facts.known.size)
	if o.swarm {
		k.unreported = &byterange.Set{}
	}
	s.carried.fetches++
	f := &flight{number: s.carried.fetches, from: o, lane: a.Source, sink: k, cancel: cancel, begun: time.Now(),
		at: a.Range.Start}
	s.req.observe(RangeStarted{ID: o.id, URL: o.masked, Host: o.host, Range: a.Range, Fetch: f.number, Why: a.Why})
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
	if !s.facts.begun || s.part.Useless() {
		return
	}
	s.disk.record(s.fetches.stats.beats%syncBeats == 0)
	if s.fetches.stats.beats%rememberBeats == 0 {
		s.sources.remember(s.c, s.sched)
		s.workers.Go(s.c.State.Save)
	}
	if s.fetches.stats.beats%2 == 0 {
		s.choice.askTorrent()
		s.progress()
	}
}

func (s *session) progress() {
	if s.req.Observe == nil && s.req.reporter == nil {
		return
	}
	s.fetches.reportBrought()
	have := s.part.Have()
	s.req.observe(Progress{Done: have.Len(), Size: s.facts.known.size, Rate: s.fetches.stats.rate(), Active: s.fetches.active(),
		Twice: s.result.Duplicate + s.fetches.stats.twice()})
}

// remember saves the measured speeds of the sources for later downloads. It saves no speeds that a limit has reduced.
func (x *sources) remember(c *Client, sched *scheduler.Scheduler) {
	if c.State == nil || c.Limit.Rate() > 0 {
		return
	}
	working := 0
	for _, sp := range sched.Speeds() {
		o := x.lanes[sp.Source]
		if o.lanes > 1 || o.swarm || c.HostLimits.Limited(o.url) { // the speed of one lane is not that of the server
			continue
		}
		known := state.Speed{Rate: sp.Rate, RTT: sp.RTT}
		if o.banned {
			known.Rate = 0
		}
		if known.Rate > 0 {
			working++
		}
		c.State.Learn(sp.Host, known)
		// If the server redirects, the next download may look up the speed of either host.
		if named := source.HostPort(o.url); named != sp.Host {
			c.State.Learn(named, known)
		}
	}
	if working > 1 {
		c.State.Learn(state.AllHosts, state.Speed{Rate: sched.Peak()})
	}
}

// identity returns the record about the file for the journal of the part file.
func (f *facts) identity() partfile.Identity {
	id := identityOf(f.req, f.known)
	found := without(join(f.carried.looking.finding().Claims, f.carried.looking.remaining(f.known.digests.by(aList))), id.Claims)
	if f.req.hasName() && verify.Agree(f.known.digests.firsthand(), found) == nil { // a later run may need these digests
		id.Looked = join(id.Looked, found)
	}
	id.Host, id.Date = f.result.Host, f.result.LastModified
	if id.Host == "" { // the server has not answered in this session
		id.Host, id.Date = f.carried.answeredBy, f.carried.answered
	}
	return id
}

// describe records the known facts about the file in the journal.
func (f *facts) describe() {
	if f.makeWay() != nil {
		return
	}
	id := f.identity()
	f.upload.describe(id)
	f.disk.do(func() error { return f.part.Begin(id) })
}

// makeWay sets aside the useless bytes of an earlier run, before other bytes are written.
func (f *facts) makeWay() error {
	if err := f.part.MakeWay(); err != nil {
		return f.end.stop(err)
	}
	f.carried.tellAside(f.req, f.part)
	return nil
}

// reserve checks that the file is within the limit and fits on disk, and records the known facts in the journal.
func (f *facts) reserve() error {
	f.fetches.bound(f.known.size)
	if most := f.c.MaxSize; most > 0 && f.known.size > most {
		err := fmt.Errorf("the file has %d bytes, and no more than %d are allowed", f.known.size, most)
		return f.end.stop(fail(Limit, "download", source.Mask(f.req.URL), err, HintLimit))
	}
	if err := f.makeWay(); err != nil {
		return err
	}
	id, size, how := f.identity(), f.known.size, f.c.Allocation
	f.upload.describe(id)
	if !f.req.onDisk() {
		how = AllocateNone
	}
	f.disk.do(func() error {
		if f.req.onDisk() && size >= 0 {
			if err := f.part.CheckSpace(size); err != nil {
				return err
			}
		}
		if err := f.part.Begin(id); err != nil {
			return err
		}
		return allocate(f.part, size, how)
	})
	return nil
}

// stop ends the session with err, which may be an error of the disk. It returns err, like ending.early.
func (s *session) stop(err error) error {
	if s.facts.known.guessed() && is[*partfile.SpaceError](err) { // only a mirror stated this large size
		return s.end.early(sizeDisowned, err)
	}
	return s.end.stop(err)
}

// streamed reports whether any byte was written to the stream or uploaded.
func (f *facts) streamed() bool {
	return f.req.Stream != nil && f.part.Front() > 0 || f.upload != nil && f.upload.begun()
}
