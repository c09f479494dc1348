package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
)

// Report adds j to the queue, unless its version is known. If the error is nil, the job is stored. The error is a
// *LargeError if j is too large, and a *fleet.TakenError if its name is that of another file.
func (q *Queue) Report(ctx context.Context, j fleet.Job) (news fleet.News, err error) {
	if err := q.Fits(&j); err != nil {
		return news, err
	}
	r, err := change(ctx, q.storage.jobs, j.Key(), func(r *fleet.Record) (err error) {
		if r.State == "" { // a worker may hold an earlier fence of a record that was dropped
			r.Lease.Fence = uint64(q.clock.now().UnixMilli())
		}
		before := r.Job.Priority
		if news, err = r.Report(j, q.clock.now()); err == nil &&
			(news == fleet.Duplicate || news == fleet.Again && r.Job.Priority == before) {
			err = errSame
		}
		return err
	})
	if err == errSame {
		err = nil
	}
	if err == nil && (news == fleet.Fresh || news == fleet.Again) {
		err = q.wake(ctx, &r)
	}
	return news, err
}

// Fits returns a *LargeError if j is too large. All records of a job that fits stay within the server's limit.
func (q *Queue) Fits(j *fleet.Job) error {
	data, err := encode(j)
	if most := q.storage.conn.MaxPayload() / jobsOfValue; err == nil && int64(len(data)) > most {
		err = &LargeError{j.Name, int64(len(data)), most}
	}
	return err
}

var errSame = errors.New("no change")

// wake publishes the message for r, a queued record. The stream ignores a second message with the same ID.
func (q *Queue) wake(ctx context.Context, r *fleet.Record) error {
	id := fmt.Sprintf("%s-%d%s", r.Job.ID(), r.Since.UnixNano(), r.Job.Priority)
	_, err := q.storage.js.Publish(ctx, nameFor(subject, ".", r.Job.Priority), []byte(r.Job.Key()), jetstream.WithMsgID(id))
	return err
}

// A Claim is a job that this process has until Finish, Release or Abandon.
type Claim struct {
	Record fleet.Record // the record when the job was taken
	// Context is canceled with Next's context, when another worker has the job, or when an idle job's hosts are paused.
	Context context.Context
	// TakenOver reports that another worker had the job, and that its lease expired.
	TakenOver bool

	q        *Queue
	host     string // the host with limits that apply to the job
	msg      *nats.Msg
	cancel   context.CancelCauseFunc
	beating  sync.WaitGroup
	mu       sync.Mutex
	progress fleet.Progress
	last     stored[fleet.Record] // the record as last known
	seen     bool                 // idle was called, and the progress was seenDone bytes
	seenDone int64
	gets     bool // the download has received data

	confirmed atomic.Bool
}

// Next waits for a job and takes it. It fails only with the error of ctx. The queue must have been opened with Works.
func (q *Queue) Next(ctx context.Context) (*Claim, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if q.paused.Load() {
			if err := rest(ctx, 500*time.Millisecond); err != nil {
				return nil, err
			}
			continue
		}
		msg, err := q.pulls.next(ctx)
		if err == nil {
			var c *Claim
			if c, err = q.claim(ctx, msg); c != nil {
				return c, nil
			}
			if err == nil && q.pacer.passedMany() {
				rest(ctx, passFirst)
			}
		}
		if err != nil && ctx.Err() == nil {
			q.log.Debug("queue", "next", err)
			rest(ctx, 500*time.Millisecond)
		}
	}
}

// claim takes the job of msg. If the job cannot be taken now, it returns neither a claim nor an error.
func (q *Queue) claim(ctx context.Context, msg *nats.Msg) (*Claim, error) {
	key := string(msg.Data)
	if q.paused.Load() { // since the message was requested
		return nil, msg.Nak()
	}
	if ctx.Err() != nil || !q.mine.reserve(key) {
		return nil, msg.NakWithDelay(q.lease / 3)
	}
	c := &Claim{q: q, msg: msg}
	var wait time.Duration // until the host's limits allow the job
	r, err := changeFrom(ctx, q.storage.jobs, key, nil, func(r *fleet.Record) error {
		if r.State == "" || r.Job.Key() != key {
			return &fleet.OverError{State: "forgotten"}
		}
		c.TakenOver = r.State == fleet.Running && r.Lease.Holder != q.name
		var place fleet.Place
		if c.host, place, wait = q.pacer.admit(ctx, r); wait > 0 && place == r.Place {
			return errSame
		}
		if r.Place = place; wait > 0 {
			return nil
		}
		err := r.Take(q.name, q.clock.now(), q.lease)
		if held, ok := errors.AsType[*fleet.HeldError](err); ok && held.Lease.Holder == q.name { // an earlier response was lost
			return r.Prolong(q.name, held.Lease.Fence, r.Progress, q.clock.now(), q.lease)
		}
		return err
	})
	if wait > 0 && (err == nil || err == errSame) {
		q.mine.free(key)
		return nil, msg.NakWithDelay(wait)
	}
	if err == nil {
		q.pacer.began(c.host, key)
		c.Record, c.last = r.value, r
		c.Context, c.cancel = context.WithCancelCause(ctx)
		c.beating.Go(c.beat)
		q.mine.take(key, c)
		return c, nil
	}
	q.mine.free(key)
	return nil, q.notTaken(ctx, msg, key, err)
}

// notTaken settles msg, the message of a job that could not be taken because of err.
func (q *Queue) notTaken(ctx context.Context, msg *nats.Msg, key string, err error) error {
	if early, ok := errors.AsType[*fleet.EarlyError](err); ok {
		return q.later(msg, early.Next)
	}
	if held, ok := errors.AsType[*fleet.HeldError](err); ok {
		return q.later(msg, held.Lease.Until)
	}
	if _, ok := errors.AsType[*fleet.OverError](err); ok {
		return msg.Ack()
	}
	if newer, ok := errors.AsType[*NewerError](err); ok { // a worker with that version takes the job
		tellNewer(q, newer)
		return msg.NakWithDelay(q.lease)
	}
	if errors.Is(err, nats.ErrMaxPayload) { // the record is too large for any change
		why := tooLarge(q, key)
		_, err = change(ctx, q.storage.jobs, key, func(r *fleet.Record) error { return r.GiveUp(why, q.clock.now()) })
		if err == nil {
			return msg.Ack()
		}
	}
	if errors.Is(err, errUnreadable) || errors.Is(err, jetstream.ErrInvalidKey) { // a foreign value must not delay jobs
		q.log.Warn("queue", "message", key, "error", err)
		return msg.NakWithDelay(q.lease)
	}
	return errors.Join(err, msg.NakWithDelay(time.Second))
}

// later returns msg to the stream, which delivers it again shortly after the given time.
func (q *Queue) later(msg *nats.Msg, at time.Time) error {
	return msg.NakWithDelay(max(0, at.Sub(q.clock.now())) + 50*time.Millisecond)
}

// Fence returns the fence of the lease under which this process has the job.
func (c *Claim) Fence() uint64 { return c.Record.Lease.Fence }

// Tell records the progress of the job. brought is the number of bytes received by this attempt. Answers to Workers
// show the progress immediately. The record shows it after the next renewal of the lease.
func (c *Claim) Tell(p fleet.Progress, brought int64) {
	c.mu.Lock()
	gets := !c.gets && brought >= introduces
	c.gets = c.gets || gets
	c.progress = p
	c.mu.Unlock()
	if gets {
		c.q.pacer.over(c.host, fleet.Right)
	}
}

func (c *Claim) progressNow() fleet.Progress {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.progress
}

// beat renews the lease until the claim ends. If no renewal succeeds before the lease expires, it cancels Context,
// because another worker may have the job.
func (c *Claim) beat() {
	if err := c.q.keepLease(c.Context, c.Record.Lease.Until, c.prolong); err != nil {
		c.cancel(fmt.Errorf("the job is given up: %w", err))
	}
}

// prolong renews the lease and returns its end.
func (c *Claim) prolong(ctx context.Context) (until time.Time, err error) {
	r, err := c.change(ctx, func(r *fleet.Record) error {
		return r.Prolong(c.q.name, c.Fence(), c.progressNow(), c.q.clock.now(), c.q.lease)
	})
	c.msg.InProgress() // if this is lost, another worker gets the message and finds the lease
	return r.Lease.Until, err
}

func (c *Claim) change(ctx context.Context, f func(*fleet.Record) error) (fleet.Record, error) {
	c.mu.Lock()
	from := c.last
	c.mu.Unlock()
	now, err := changeFrom(ctx, c.q.storage.jobs, c.Record.Job.Key(), &from, f)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if now.revision > c.last.revision {
			c.last = now
		}
	}
	return now.value, err
}

// Confirm checks, before an action that cannot be undone, that this process still has the job. Otherwise the error is a
// *fleet.LostError. While the queue does not answer, it retries until ctx is done.
func (c *Claim) Confirm(ctx context.Context) error {
	c.confirmed.Store(true)
	return c.sure(ctx, c.confirm)
}

// sure retries ask until the queue answers or ctx is done.
func (c *Claim) sure(ctx context.Context, ask func(context.Context) error) error {
	for {
		once, stop := context.WithTimeout(ctx, oneCall)
		err := ask(once)
		stop()
		if _, lost := errors.AsType[*fleet.LostError](err); err == nil || lost || rest(ctx, 500*time.Millisecond) != nil {
			return err
		}
	}
}

// confirm checks that this process has the job, and renews the lease if it expires soon. In a cluster it always writes:
// a server may answer a read without the last change, but it cannot store a change that conflicts with it.
func (c *Claim) confirm(once context.Context) error {
	if !c.q.storage.clustered() {
		r, _, err := read[fleet.Record](once, c.q.storage.jobs, c.Record.Job.Key())
		if err == nil {
			err = r.Lease.Check(c.q.name, c.Fence())
		}
		if err != nil || r.Lease.Until.Sub(c.q.clock.now()) > c.q.lease/2 {
			return err
		}
	}
	_, err := c.prolong(once)
	return err
}

// Opened stores an upload's ID before any part of it is sent. The error is a *fleet.LostError if another worker has the job.
func (c *Claim) Opened(ctx context.Context, upload string) error {
	return c.sure(ctx, func(once context.Context) error {
		_, err := c.change(once, func(r *fleet.Record) error { return r.Opened(c.q.name, c.Fence(), upload) })
		return err
	})
}

// Abandon ends the claim of a job that another process has, or that was dropped. It stores nothing.
func (c *Claim) Abandon() {
	c.cancel(nil)
	c.beating.Wait()
	c.q.mine.free(c.Record.Job.Key())
}

// Finish stores how the job ended and returns its record. It retries until the record is stored or ctx is done. The
// claim ends in either case. The error is a *fleet.LostError if another worker has the job.
func (c *Claim) Finish(ctx context.Context, e fleet.Ending) (fleet.Record, error) {
	c.q.pacer.over(c.host, e.Kind)
	gone := goneLackers(ctx, c, e.Kind)
	return c.end(ctx, func(r *fleet.Record) error {
		if r.Last != nil && r.Last.Worker == c.q.name && r.Last.Fence == c.Fence() { // the response to an earlier Finish was lost
			return errSame
		}
		r.Lackers = slices.DeleteFunc(r.Lackers, func(name string) bool { return slices.Contains(gone, name) })
		return r.Finish(c.q.name, c.Fence(), e, c.q.clock.now())
	})
}

// Release gives the job back. The attempt is counted only if Confirm was called, because the file may then be in place.
func (c *Claim) Release(ctx context.Context) error {
	_, err := c.end(ctx, func(r *fleet.Record) error {
		tries := r.Tries
		err := r.Release(c.q.name, c.Fence(), c.q.clock.now())
		if c.confirmed.Load() {
			r.Tries = tries
		}
		return err
	})
	return err
}

func (c *Claim) end(ctx context.Context, f func(*fleet.Record) error) (fleet.Record, error) {
	defer c.q.mine.free(c.Record.Job.Key())
	level, gaveUp := slog.LevelWarn, false
	c.cancel(nil) // otherwise beat would report the ended job as lost
	c.beating.Wait()
	for {
		once, stop := context.WithTimeout(ctx, oneCall)
		r, err := c.change(once, f)
		stop()
		if _, lost := errors.AsType[*fleet.LostError](err); lost {
			return r, err
		}
		if err == nil || err == errSame {
			return r, c.settle(ctx, &r)
		}
		c.q.log.Log(ctx, level, "queue", "job", c.Record.Job.Name, "error", err)
		level = slog.LevelDebug // warn only about the first error
		if errors.Is(err, nats.ErrMaxPayload) {
			if gaveUp {
				return r, err
			}
			why := tooLarge(c.q, c.Record.Job.Key())
			gaveUp, f = true, func(r *fleet.Record) error {
				if err := r.Lease.Check(c.q.name, c.Fence()); err != nil {
					return err
				}
				return r.GiveUp(why, c.q.clock.now())
			}
			continue
		}
		if err := rest(ctx, 500*time.Millisecond); err != nil {
			return r, err
		}
	}
}

// settle acknowledges or returns the job's message, depending on the state of r.
func (c *Claim) settle(ctx context.Context, r *fleet.Record) error {
	switch r.State {
	case fleet.Done, fleet.Dead:
		return c.msg.Ack() // if this is lost, the message comes again, and its record is done
	case fleet.Waiting:
		return c.q.later(c.msg, r.Again())
	case fleet.Queued:
		if c.msg.Subject != nameFor(subject, ".", r.Job.Priority) { // it was reported again, with another priority
			if err := c.q.wake(ctx, r); err != nil {
				return errors.Join(err, c.msg.Nak())
			}
			return c.msg.Ack()
		}
	}
	return c.msg.Nak()
}
