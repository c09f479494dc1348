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

// A message is sent by a fetch to the loop. At most one of answer, coming and ended is set. If none is set, the message
// reports that the bytes of wrote are on disk: fresh is the number of bytes that this fetch wrote, and theirs are the
// ranges that another fetch had written before.
type message struct {
	id     scheduler.FetchID
	wrote  byterange.Range
	fresh  int
	theirs byterange.Set
	answer *source.Answer
	reply  chan<- reply // for answer
	coming int64
	ended  bool
	err    error
}

// A reply states whether the body of an answer is wanted, and how it is written.
type reply struct {
	err     error  // why the body is refused; nil: the body is wanted
	after   *chore // must be done before the first write
	awaited bool   // report the last bytes only after the body has ended, because the body may be too long
	front   *front
}

// A flight is a running fetch as the loop sees it.
type flight struct {
	number   int // counted over all sessions
	from     *origin
	lane     scheduler.SourceID
	sink     *sink
	cancel   context.CancelFunc
	begun    time.Time
	at       int64 // end of the last reported bytes
	bytes    int64
	excluded bool // the source sent wrong bytes: further messages of the fetch do not count
	answer   source.Answer
	fresh    byterange.Range // the last contiguous range that was written and is not in an event yet
}

// A sink writes the bytes of one fetch to the part file. The fetch calls its methods. The loop changes limit and size.
type sink struct {
	ctx    context.Context
	id     scheduler.FetchID
	part   *partfile.File
	upload *uploading   // limits how far bytes may be ahead of the upload; may be nil
	limit  atomic.Int64 // end of the wanted range
	size   atomic.Int64 // of the file; -1 if unknown
	most   int64        // while the size is unknown: limits the end of a write
	out    chan<- message

	reachedMu  sync.Mutex     // guards reached and unreported; never held during a write
	reached    int64          // end of the last write
	cut        bool           // the last write was cut off at the limit
	awaited    bool           // see reply
	unreported *byterange.Set // written bytes that are not reported; nil if bytes arrive in order
	front      *front         // holds back the first bytes; nil: nothing is held back
	document   bool           // the answer was a document that may replace the file

	// The fields below hold written bytes that are not reported yet, so that a fast source does not wake the loop for
	// every buffer. mu is held while a message is sent, so that messages arrive in order.
	mu         sync.Mutex
	pending    message
	reportedAt time.Time
	timer      *time.Timer // reports bytes if no write follows soon
	timing     bool
	over       bool
}

// A fetch reports written bytes after reportBytes or reportTime, whichever is first, also if no more bytes are
// received.
const (
	reportBytes = 1 << 20
	reportTime  = 10 * time.Millisecond
)

// An overrunError is the error of a body that continues after the end of the file.
type overrunError struct{ size int64 }

func (e *overrunError) Error() string {
	return fmt.Sprintf("the body continues after byte %d, the end of the file", e.size)
}

// Answer asks the loop whether the body of a is wanted.
func (k *sink) Answer(a source.Answer) error {
	replies := make(chan reply, 1)
	k.send(message{id: k.id, answer: &a, reply: replies}) // if it fails, ctx has ended
	select {
	case r := <-replies:
		if k.awaited = r.awaited; r.err != nil {
			return r.err
		}
		k.front = r.front.read(k.part)
		return r.after.wait(k.ctx)
	case <-k.ctx.Done():
		return abandoned(a, k.ctx.Err())
	}
}

// abandoned returns the error of a fetch that was given up because of err before its answer a, which still counts.
func abandoned(a source.Answer, err error) error {
	return &source.Error{URL: source.Mask(a.URL), Host: a.Host, Fault: source.FaultNetwork, Hops: a.Hops, Err: err}
}

// WriteAt writes the wanted part of p. Bytes that are already on disk are not written again, so that no byte
// changes after it was hashed.
func (k *sink) WriteAt(p []byte, off int64) (int, error) {
	if k.front != nil {
		return k.hold(p, off)
	}
	return k.write(p, off)
}

func (k *sink) write(p []byte, off int64) (int, error) {
	var theirs byterange.Set
	n, fresh, err := k.put(p, off, &theirs)
	k.cut = n < int64(len(p))
	if err != nil {
		return 0, err
	}
	if err := k.addPending(byterange.Range{Start: off, End: off + n}, fresh, theirs); err != nil {
		return 0, err
	}
	if n < int64(len(p)) {
		return int(n), source.ErrEnough
	}
	return int(n), nil
}

// put writes the wanted part of p. n is the length of that part, and fresh is the number of its bytes that were not on
// disk. Ranges that were on disk are added to theirs.
func (k *sink) put(p []byte, off int64, theirs *byterange.Set) (n int64, fresh int, err error) {
	if err := k.upload.room(k.ctx, off+int64(len(p))); err != nil {
		return 0, 0, err
	}
	if n, err = k.wanted(int64(len(p)), off); err != nil {
		return 0, 0, err
	}
	fresh, err = k.part.WriteWhile(p[:n], off, k.alive, theirs)
	switch {
	case errors.Is(err, partfile.ErrStopped):
		return 0, 0, source.ErrEnough
	case err != nil:
		return 0, 0, local(err)
	}
	return n, fresh, nil
}

// wanted returns how many of n bytes at off may be written. It counts these bytes as written.
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

// alive reports whether the fetch may write, because it was not stopped.
func (k *sink) alive() bool { return k.limit.Load() > 0 }

// reported removes r from the unreported bytes, after the loop has received the message about r.
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

// halt ends all writing. It returns the bytes that were written and not reported, including the bytes of a write in
// progress. Bytes before at were reported.
func (k *sink) halt(at int64) (unheard byterange.Set) {
	k.reachedMu.Lock()
	defer k.reachedMu.Unlock()
	k.limit.Store(0)
	if k.unreported != nil {
		return k.unreported.Clone()
	}
	return byterange.NewSet(byterange.Range{Start: at, End: max(at, k.reached)})
}

// addPending records written bytes. It reports all pending bytes once there are reportBytes of them, or after reportTime.
func (k *sink) addPending(r byterange.Range, fresh int, theirs byterange.Set) error {
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
	for t := range theirs.All() {
		k.pending.theirs.Add(t)
	}
	if k.awaited && r.End == k.size.Load() {
		k.over = true // the pending bytes are reported with the end
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

// startTimer makes sure that written bytes are reported within reportTime. The caller holds mu.
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

// report sends a message about the bytes that were written since the last report. The caller holds mu.
func (k *sink) report() error {
	if k.pending.wrote.Empty() {
		return nil
	}
	m := k.pending
	m.id = k.id
	if err := k.send(m); err != nil {
		return err // the pending bytes are reported with the end
	}
	k.pending, k.reportedAt = message{}, time.Now()
	return nil
}

// end returns the message about the bytes that were not reported. No report is sent after end.
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

// send sends m to the loop, unless the fetch was cancelled.
func (k *sink) send(m message) error {
	select {
	case k.out <- m:
		return nil
	case <-k.ctx.Done():
		return k.ctx.Err()
	}
}

// faultOf returns what err means for the source of the fetch that it ended, and when the source may be asked again.
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
	case e.Held:
		return scheduler.FaultHeld, e.After
	case e.Retry:
		return scheduler.FaultTransient, e.After
	}
	return scheduler.FaultGone, 0
}

// wrongBytes reports whether err means that the received bytes are not of the file.
func wrongBytes(err error) bool {
	return errors.As(err, new(*overrunError)) || errors.As(err, new(*source.ContentError))
}
