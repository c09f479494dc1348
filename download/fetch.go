package download

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"braid/byterange"
	"braid/internal/partfile"
	"braid/scheduler"
	"braid/source"
)

// A message is what a fetch tells the loop. Exactly one of answer, coming and ended is set, or else it reports that
// wrote is on disk.
type message struct {
	id     scheduler.FetchID
	wrote  byterange.Range
	fresh  int
	answer *source.Answer
	reply  chan<- reply // for answer
	coming int64
	ended  bool
	err    error
}

// A reply is what becomes of the body of an answer.
type reply struct {
	err     error  // nil lets it come
	after   *chore // which has to be done before
	awaited bool   // the loop hears that the file is complete when the body has ended: it may go on
	front   *front
}

// A flight is a running fetch, as the loop sees it.
type flight struct {
	number int // in all sessions
	from   *origin
	lane   scheduler.SourceID
	sink   *sink
	cancel context.CancelFunc
	begun  time.Time
	at     int64 // how far it came
	bytes  int64
	// Its source lied: what it still says does not count.
	excluded bool
	answer   source.Answer
	fresh    byterange.Range // what it brought in one piece and Observe was not told of, if that is wanted
}

// A sink takes the bytes of one fetch to the part file. Its methods are called by the fetch. What the loop changes are limit and
// size.
type sink struct {
	ctx   context.Context
	id    scheduler.FetchID
	part  *partfile.File
	limit atomic.Int64 // end of what is wanted
	size  atomic.Int64 // of the file; -1 if it is not known
	most  int64        // end of what may come while the size is not known (rule 19)
	out   chan<- message

	reachedMu  sync.Mutex     // guards reached and unreported; no write is waited for with it
	reached    int64          // end of what is written last
	cut        bool           // it was told that it is enough
	awaited    bool           // of the reply
	unreported *byterange.Set // of bytes that come in any order: what is written and the loop has not heard of; else nil
	front      *front         // nil: nothing is held back
	document   bool           // it was a document that may replace the file

	// What was written and not told yet. The loop is not woken for every buffer of a fast source. mu is held until
	// it has heard, so that it hears in order.
	mu         sync.Mutex
	pending    message
	reportedAt time.Time
	timer      *time.Timer // tells of what no write follows soon, when it is not told
	timing     bool
	over       bool
}

// A fetch tells of what it wrote after so many bytes or so much time, whatever comes first: also when its source is
// silent from then on.
const (
	reportBytes = 1 << 20
	reportTime  = 10 * time.Millisecond
)

// An overrunError says that a body goes on where the file ends.
type overrunError struct{ size int64 }

func (e *overrunError) Error() string {
	return fmt.Sprintf("the body goes on after byte %d, where the file ends", e.size)
}

// Answer asks the loop whether the body is wanted.
func (k *sink) Answer(a source.Answer) error {
	replies := make(chan reply, 1)
	if err := k.send(message{id: k.id, answer: &a, reply: replies}); err != nil {
		return err
	}
	select {
	case r := <-replies:
		if k.awaited = r.awaited; r.err != nil {
			return r.err
		}
		k.front = r.front.read(k.part)
		return r.after.wait(k.ctx)
	case <-k.ctx.Done():
		return k.ctx.Err()
	}
}

// WriteAt writes what is wanted of p. Bytes that are on disk already are not written again, so that no byte
// changes after it was hashed.
func (k *sink) WriteAt(p []byte, off int64) (int, error) {
	if k.front != nil {
		return k.hold(p, off)
	}
	return k.write(p, off)
}

func (k *sink) write(p []byte, off int64) (int, error) {
	n, fresh, err := k.put(p, off)
	k.cut = n < int64(len(p))
	if err != nil {
		return 0, err
	}
	if err := k.addPending(byterange.Range{Start: off, End: off + n}, fresh); err != nil {
		return 0, err
	}
	if n < int64(len(p)) {
		return int(n), source.ErrEnough
	}
	return int(n), nil
}

// put writes what is wanted of p.
func (k *sink) put(p []byte, off int64) (n int64, fresh int, err error) {
	if n, err = k.wanted(int64(len(p)), off); err != nil {
		return 0, 0, err
	}
	fresh, err = k.part.WriteWhile(p[:n], off, k.alive)
	switch {
	case errors.Is(err, partfile.ErrStopped):
		return 0, 0, source.ErrEnough
	case err != nil:
		return 0, 0, local(err)
	}
	return n, fresh, nil
}

// wanted is how many of n bytes at off may be written. They count as written from here on.
func (k *sink) wanted(n, off int64) (int64, error) {
	k.reachedMu.Lock()
	defer k.reachedMu.Unlock()
	n = min(n, k.limit.Load()-off)
	if n <= 0 {
		return 0, source.ErrEnough
	}
	switch size := k.size.Load(); {
	case size >= 0 && off+n > size:
		return 0, &overrunError{size}
	case size < 0 && off+n > k.most:
		return 0, tooLong(k.most)
	}
	k.reached = off + n
	if k.unreported != nil {
		k.unreported.Add(byterange.Range{Start: off, End: off + n})
	}
	return n, nil
}

// alive reports whether the fetch may write: it was not stopped.
func (k *sink) alive() bool { return k.limit.Load() > 0 }

// reported notes that the loop got the message about r.
func (k *sink) reported(r byterange.Range) {
	if k.unreported == nil {
		return
	}
	k.reachedMu.Lock()
	defer k.reachedMu.Unlock()
	k.unreported.Remove(r)
}

// Coming implements source.PieceSink.
func (k *sink) Coming(n int64) error { return k.send(message{id: k.id, coming: n}) }

// End implements source.PieceSink.
func (k *sink) End() int64 { return k.limit.Load() }

// halt ends all writing, and tells what was written that the loop has not heard of, also by a write that is under way; it has heard of
// what is before at.
func (k *sink) halt(at int64) (unheard byterange.Set) {
	k.reachedMu.Lock()
	defer k.reachedMu.Unlock()
	k.limit.Store(0)
	if k.unreported != nil {
		return k.unreported.Clone()
	}
	return byterange.NewSet(byterange.Range{Start: at, End: max(at, k.reached)})
}

// addPending remembers what was addPending, and tells the loop when it is time.
func (k *sink) addPending(r byterange.Range, fresh int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.pending.wrote.End != r.Start {
		if err := k.report(); err != nil {
			return err
		}
		k.pending.wrote.Start = r.Start
	}
	k.pending.wrote.End = r.End
	k.pending.fresh += fresh
	if k.awaited && r.End == k.size.Load() {
		k.over = true // the rest is told with the end
		return nil
	}
	if k.pending.wrote.Len() >= reportBytes || time.Since(k.reportedAt) >= reportTime {
		return k.report()
	}
	if !k.timing {
		k.startTimer()
	}
	return nil
}

// startTimer sees to it that the loop is told within reportTime. The caller holds mu.
func (k *sink) startTimer() {
	k.timing = true
	if k.timer != nil {
		k.timer.Reset(reportTime)
		return
	}
	k.timer = time.AfterFunc(reportTime, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.timing = false; !k.over {
			k.report() // an error ends the fetch anyway
		}
	})
}

// report sends what was written since the last time. The caller holds mu.
func (k *sink) report() error {
	if k.pending.wrote.Empty() {
		return nil
	}
	m := k.pending
	m.id = k.id
	if err := k.send(m); err != nil {
		return err // it is told with the end
	}
	k.pending, k.reportedAt = message{}, time.Now()
	return nil
}

// end returns what is not told yet. Nobody is told anything after it.
func (k *sink) end() message {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	if k.timer != nil {
		k.timer.Stop()
	}
	k.pending.id = k.id
	return k.pending
}

// send gives the loop a message, unless it has stopped listening.
func (k *sink) send(m message) error {
	select {
	case k.out <- m:
		return nil
	case <-k.ctx.Done():
		return k.ctx.Err()
	}
}

// faultOf tells the scheduler what the end of a fetch means for its source.
func faultOf(err error) (scheduler.Fault, time.Duration) {
	var e *source.Error
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return scheduler.FaultNone, 0
	case errors.Is(err, errRefused):
		return scheduler.FaultNone, 0
	case wrongBytes(err):
		return scheduler.FaultWrongBytes, 0
	case !errors.As(err, &e):
		return scheduler.FaultGone, 0
	case e.Fault == source.FaultMismatch:
		return scheduler.FaultWrong, 0
	case e.Retry:
		return scheduler.FaultTransient, e.After
	}
	return scheduler.FaultGone, 0
}

// wrongBytes reports whether a fetch ended because what it brought is not of the file.
func wrongBytes(err error) bool {
	return errors.As(err, new(*overrunError)) || errors.As(err, new(*source.ContentError))
}
