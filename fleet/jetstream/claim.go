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

// Report puts a job into the queue, if it is news. When it returns without an error the job is stored. The error is a *LargeError if it is too large.
func (q *Queue) Report(ctx context.Context, j fleet.Job) (news fleet.News, err error) {
	if err := q.Fits(&j); err != nil {
		return news, err
	}
	r, err := change(ctx, q.jobs, j.Key(), func(r *fleet.Record) (err error) {
		if r.State == "" { // what was dropped may have left a worker with an earlier fence
			r.Lease.Fence = uint64(q.now().UnixMilli())
		}
		before := r.Job.Priority
		if news, err = r.Report(j, q.now()); err == nil &&
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

// Fits returns a *LargeError if the queue does not take a job. One that it takes stays within what its server takes, whatever becomes of it.
func (q *Queue) Fits(j *fleet.Job) error {
	data, err := encode(j)
	if most := q.conn.MaxPayload() / jobsOfValue; err == nil && int64(len(data)) > most {
		err = &LargeError{j.Name, int64(len(data)), most}
	}
	return err
}

var errSame = errors.New("nothing changes")

// wake publishes the message of a record that is queued, once.
func (q *Queue) wake(ctx context.Context, r *fleet.Record) error {
	id := fmt.Sprintf("%s-%d%s", r.Job.ID(), r.Since.UnixNano(), r.Job.Priority)
	_, err := q.js.Publish(ctx, nameFor(subject, ".", r.Job.Priority), []byte(r.Job.Key()), jetstream.WithMsgID(id))
	return err
}

// A Claim is a job that this process has, until Finish or Release.
type Claim struct {
	Record fleet.Record // as it was taken
	// Context ends when the job is this process's no more, and with that of Next.
	Context context.Context
	// TakenOver: another worker had the job, and its lease had run out.
	TakenOver bool

	q        *Queue
	host     string // that it waited for, or might have to
	msg      *nats.Msg
	cancel   context.CancelCauseFunc
	beating  sync.WaitGroup
	mu       sync.Mutex
	progress fleet.Progress
	last     stored[fleet.Record] // as this process has seen it last
	seen     bool                 // by idle, with so much of it
	seenDone int64
	gets     bool // somewhere

	confirmed atomic.Bool
}

// Next waits for a job, and takes it. The error is that of ctx. The queue was opened with Works.
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

// claim takes the job of a message. Without a claim and an error there is nothing to do for now.
func (q *Queue) claim(ctx context.Context, msg *nats.Msg) (*Claim, error) {
	key := string(msg.Data)
	if q.paused.Load() { // since the request for it
		return nil, msg.Nak()
	}
	if ctx.Err() != nil || !q.reserve(key) {
		return nil, msg.NakWithDelay(q.lease / 3)
	}
	c := &Claim{q: q, msg: msg}
	var wait time.Duration // for its host
	r, err := changeFrom(ctx, q.jobs, key, nil, func(r *fleet.Record) error {
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
		err := r.Take(q.name, q.now(), q.lease)
		if held, ok := errors.AsType[*fleet.HeldError](err); ok && held.Lease.Holder == q.name { // the answer to an earlier try was lost
			return r.Prolong(q.name, held.Lease.Fence, r.Progress, q.now(), q.lease)
		}
		return err
	})
	if wait > 0 && (err == nil || err == errSame) {
		q.free(key)
		return nil, msg.NakWithDelay(wait)
	}
	if err == nil {
		q.pacer.began(c.host, key)
		c.Record, c.last = r.value, r
		c.Context, c.cancel = context.WithCancelCause(ctx)
		c.beating.Go(c.beat)
		q.mu.Lock()
		defer q.mu.Unlock()
		q.mine[key] = c
		return c, nil
	}
	q.free(key)
	return nil, q.notTaken(ctx, msg, key, err)
}

// notTaken does with a message what the error calls for with which its job was not taken.
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
	if newer, ok := errors.AsType[*NewerError](err); ok { // a newer worker takes it
		tellNewer(q, newer)
		return msg.NakWithDelay(q.lease)
	}
	if errors.Is(err, nats.ErrMaxPayload) { // whatever is tried, nothing can be added to it
		why := tooLarge(q, key)
		_, err = change(ctx, q.jobs, key, func(r *fleet.Record) error { return r.GiveUp(why, q.now()) })
		if err == nil {
			return msg.Ack()
		}
	}
	if errors.Is(err, errUnreadable) || errors.Is(err, jetstream.ErrInvalidKey) { // is of another program: what is the queue's own must not wait for it
		q.log.Warn("queue", "message", key, "error", err)
		return msg.NakWithDelay(q.lease)
	}
	return errors.Join(err, msg.NakWithDelay(time.Second))
}

// later gives a message back until a time, and a little more.
func (q *Queue) later(msg *nats.Msg, at time.Time) error {
	return msg.NakWithDelay(max(0, at.Sub(q.now())) + 50*time.Millisecond)
}

// reserve reports whether this process did not have the job already.
func (q *Queue) reserve(key string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, there := q.mine[key]; there {
		return false
	}
	q.mine[key] = nil
	return true
}

func (q *Queue) free(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.mine, key)
}

// Fence is the fence that the job is held under.
func (c *Claim) Fence() uint64 { return c.Record.Lease.Fence }

// Tell takes down how far the job is, and how many bytes this try has brought: answers to Workers have it at once, and
// the record when the lease is prolonged.
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

// beat prolongs the lease until the claim ends. When that has failed for as long as the lease lasts, another worker may have the job.
func (c *Claim) beat() {
	if err := c.q.keepLease(c.Context, c.Record.Lease.Until, c.prolong); err != nil {
		c.cancel(fmt.Errorf("the job is given up: %w", err))
	}
}

// prolong prolongs the lease, and returns until when.
func (c *Claim) prolong(ctx context.Context) (until time.Time, err error) {
	r, err := c.change(ctx, func(r *fleet.Record) error {
		return r.Prolong(c.q.name, c.Fence(), c.progressNow(), c.q.now(), c.q.lease)
	})
	c.msg.InProgress() // should it be lost, another worker finds the lease
	return r.Lease.Until, err
}

// change changes the record of the job.
func (c *Claim) change(ctx context.Context, f func(*fleet.Record) error) (fleet.Record, error) {
	c.mu.Lock()
	from := c.last
	c.mu.Unlock()
	now, err := changeFrom(ctx, c.q.jobs, c.Record.Job.Key(), &from, f)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if now.revision > c.last.revision {
			c.last = now
		}
	}
	return now.value, err
}

// Confirm makes sure that the job is this process's still; else the error is a *fleet.LostError. It is for the moment before what cannot be undone.
// While the queue does not answer it asks again, as long as ctx allows.
func (c *Claim) Confirm(ctx context.Context) error {
	c.confirmed.Store(true)
	return c.sure(ctx, c.confirm)
}

// sure asks the queue until it answers, or ctx ends.
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

// confirm asks whether the job is this process's, and prolongs the lease if it ends soon. One of several servers may not know of the last change
// when it is asked, but cannot store another one.
func (c *Claim) confirm(once context.Context) error {
	if !c.q.clustered() {
		r, _, err := read[fleet.Record](once, c.q.jobs, c.Record.Job.Key())
		if err == nil {
			err = r.Lease.Check(c.q.name, c.Fence())
		}
		if err != nil || r.Lease.Until.Sub(c.q.now()) > c.q.lease/2 {
			return err
		}
	}
	_, err := c.prolong(once)
	return err
}

// Opened stores the id of the upload that the file goes into, before a part of it is sent. The error is a *fleet.LostError if another worker has
// the job.
func (c *Claim) Opened(ctx context.Context, upload string) error {
	return c.sure(ctx, func(once context.Context) error {
		_, err := c.change(once, func(r *fleet.Record) error { return r.Opened(c.q.name, c.Fence(), upload) })
		return err
	})
}

// Abandon ends the claim of a job that is another process's, or was dropped: nothing is stored.
func (c *Claim) Abandon() {
	c.cancel(nil)
	c.beating.Wait()
	c.q.free(c.Record.Job.Key())
}

// Finish stores how the job ended, and returns its record. It tries until that is stored, or ctx ends. In both cases the claim is over. The error is
// a *fleet.LostError if another worker has the job.
func (c *Claim) Finish(ctx context.Context, e fleet.Ending) (fleet.Record, error) {
	c.q.pacer.over(c.host, e.Kind)
	gone := goneLackers(ctx, c, e.Kind)
	return c.end(ctx, func(r *fleet.Record) error {
		if r.Last != nil && r.Last.Worker == c.q.name && r.Last.Fence == c.Fence() { // the answer to an earlier try was lost
			return errSame
		}
		r.Lackers = slices.DeleteFunc(r.Lackers, func(name string) bool { return slices.Contains(gone, name) })
		return r.Finish(c.q.name, c.Fence(), e, c.q.now())
	})
}

// Release gives the job back, for this or another worker to take. It is no try, unless the claim was confirmed: then the file may be in place.
func (c *Claim) Release(ctx context.Context) error {
	_, err := c.end(ctx, func(r *fleet.Record) error {
		tries := r.Tries
		err := r.Release(c.q.name, c.Fence(), c.q.now())
		if c.confirmed.Load() {
			r.Tries = tries
		}
		return err
	})
	return err
}

func (c *Claim) end(ctx context.Context, f func(*fleet.Record) error) (fleet.Record, error) {
	defer c.q.free(c.Record.Job.Key())
	level, gaveUp := slog.LevelWarn, false
	c.cancel(nil) // else what prolongs the lease meanwhile finds that the job is over, and takes it for lost
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
		level = slog.LevelDebug // it is told once
		if errors.Is(err, nats.ErrMaxPayload) {
			if gaveUp {
				return r, err
			}
			why := tooLarge(c.q, c.Record.Job.Key())
			gaveUp, f = true, func(r *fleet.Record) error {
				if err := r.Lease.Check(c.q.name, c.Fence()); err != nil {
					return err
				}
				return r.GiveUp(why, c.q.now())
			}
			continue
		}
		if err := rest(ctx, 500*time.Millisecond); err != nil {
			return r, err
		}
	}
}

// settle does with the message what the record calls for.
func (c *Claim) settle(ctx context.Context, r *fleet.Record) error {
	switch r.State {
	case fleet.Done, fleet.Dead:
		return c.msg.Ack() // should it be lost, the record says that nothing is left to do
	case fleet.Waiting:
		return c.q.later(c.msg, r.Again())
	case fleet.Queued:
		if c.msg.Subject != nameFor(subject, ".", r.Job.Priority) { // what was reported meanwhile has another one
			if err := c.q.wake(ctx, r); err != nil {
				return errors.Join(err, c.msg.Nak())
			}
			return c.msg.Ack()
		}
	}
	return c.msg.Nak()
}
