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

	looking  sync.Mutex     // of reached and unheard; no write is waited for with it
	reached  int64          // end of what is written last
	cut      bool           // it was told that it is enough
	awaited  bool           // of the reply
	unheard  *byterange.Set // of bytes that come in any order: what is written and the loop has not heard of; else nil
	front    *front         // nil: nothing is held back
	document bool           // it was a document that may replace the file

	// What was written and not told yet. The loop is not woken for every buffer of a fast source. mu is held until
	// it has heard, so that it hears in order.
	mu     sync.Mutex
	untold message
	told   time.Time
	late   *time.Timer // tells of what no write follows soon, when it is not told
	armed  bool
	over   bool
}

// A fetch tells of what it wrote after so many bytes or so much time, whatever comes first: also when its source is
// silent from then on.
const (
	tellBytes = 1 << 20
	tellTime  = 10 * time.Millisecond
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
	if err := k.note(byterange.Range{Start: off, End: off + n}, fresh); err != nil {
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
	k.looking.Lock()
	defer k.looking.Unlock()
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
	if k.unheard != nil {
		k.unheard.Add(byterange.Range{Start: off, End: off + n})
	}
	return n, nil
}

// alive reports whether the fetch may write: it was not stopped.
func (k *sink) alive() bool { return k.limit.Load() > 0 }

// heard is told of what the loop was told of.
func (k *sink) heard(r byterange.Range) {
	if k.unheard == nil {
		return
	}
	k.looking.Lock()
	defer k.looking.Unlock()
	k.unheard.Remove(r)
}

// Coming implements source.PieceSink.
func (k *sink) Coming(n int64) error { return k.send(message{id: k.id, coming: n}) }

// End implements source.PieceSink.
func (k *sink) End() int64 { return k.limit.Load() }

// halt ends all writing, and tells what was written that the loop has not heard of, also by a write that is under way; it has heard of
// what is before at.
func (k *sink) halt(at int64) (unheard byterange.Set) {
	k.looking.Lock()
	defer k.looking.Unlock()
	k.limit.Store(0)
	if k.unheard != nil {
		return k.unheard.Clone()
	}
	return byterange.NewSet(byterange.Range{Start: at, End: max(at, k.reached)})
}

// note remembers what was written, and tells the loop when it is time.
func (k *sink) note(r byterange.Range, fresh int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.untold.wrote.End != r.Start {
		if err := k.tell(); err != nil {
			return err
		}
		k.untold.wrote.Start = r.Start
	}
	k.untold.wrote.End = r.End
	k.untold.fresh += fresh
	if k.awaited && r.End == k.size.Load() {
		k.over = true // the rest is told with the end
		return nil
	}
	if k.untold.wrote.Len() >= tellBytes || time.Since(k.told) >= tellTime {
		return k.tell()
	}
	if !k.armed {
		k.arm()
	}
	return nil
}

// arm sees to it that the loop is told within tellTime. The caller holds mu.
func (k *sink) arm() {
	k.armed = true
	if k.late != nil {
		k.late.Reset(tellTime)
		return
	}
	k.late = time.AfterFunc(tellTime, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.armed = false; !k.over {
			k.tell() // an error ends the fetch anyway
		}
	})
}

// tell sends what was written since the last time. The caller holds mu.
func (k *sink) tell() error {
	if k.untold.wrote.Empty() {
		return nil
	}
	m := k.untold
	m.id = k.id
	if err := k.send(m); err != nil {
		return err // it is told with the end
	}
	k.untold, k.told = message{}, time.Now()
	return nil
}

// end returns what is not told yet. Nobody is told anything after it.
func (k *sink) end() message {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	if k.late != nil {
		k.late.Stop()
	}
	k.untold.id = k.id
	return k.untold
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
