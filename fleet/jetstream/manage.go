package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
)

// All returns all records that this version of braid can read. If the queue has others, the error is a *NewerError.
func (q *Queue) All(ctx context.Context) (all []fleet.Record, err error) {
	err = each(ctx, q.storage.jobs, jetstream.AllKeys, func(r fleet.Record) { all = append(all, r) })
	return all, err
}

// Board returns a summary of the queue: the running records, and the states of all others. The error is a *NewerError
// if some records are of a newer version of braid. The board is then complete except for these.
func (q *Queue) Board(ctx context.Context) (*fleet.Board, error) {
	b, revision, err := readBoard(ctx, q)
	if err != nil {
		return nil, err
	}
	if b.read >= boardAfter {
		storeBoard(ctx, q, &b, revision)
	}
	all := fleet.Board{Done: b.done}
	newer := 0
	for key, x := range b.Open {
		r, full := b.full[key]
		if x.State == fleet.Running && !full {
			var there uint64
			if r, there, err = read[fleet.Record](ctx, q.storage.jobs, key); err != nil {
				return nil, err
			}
			if there == 0 || r.State == fleet.Done { // finished since the board was read
				continue
			}
		} else if !full {
			r = fleet.Record{State: x.State, Since: x.Since, Job: fleet.Job{Priority: x.Priority}}
		}
		if x.State == fleet.Newer {
			newer++
		}
		all.Put(key, &r)
	}
	if newer > 0 {
		return &all, &NewerError{b.Highest, newer}
	}
	return &all, nil
}

// Running returns the running records, sorted by name. Its errors are those of Board.
func (q *Queue) Running(ctx context.Context) ([]fleet.Record, error) {
	b, err := q.Board(ctx)
	if b == nil {
		return nil, err
	}
	return b.In(fleet.Running, math.MaxInt), err
}

// Records returns the existing records with the given keys.
func (q *Queue) Records(ctx context.Context, keys []string) (all []fleet.Record, err error) {
	ctx, stop := context.WithTimeout(ctx, oneCall)
	defer stop()
	for _, key := range keys {
		r, revision, err := read[fleet.Record](ctx, q.storage.jobs, key)
		if err != nil {
			return all, err
		}
		if revision > 0 {
			all = append(all, r)
		}
	}
	return all, nil
}

// Name returns the name of this process in the queue.
func (q *Queue) Name() string { return q.name }

// ID identifies the queue among all queues: it is the time of its creation. A queue that was created again has another ID.
func (q *Queue) ID() string {
	q.life.mu.Lock()
	defer q.life.mu.Unlock()
	return strconv.FormatInt(q.life.made.UnixNano(), 36)
}

// Follow calls f with each record and its key, and again after each change, until the queue is closed. Calls do not
// overlap. The record is nil if it was dropped or if the queue was lost. A call with an empty key means that f has been
// called with all existing records.
func (q *Queue) Follow(f func(key string, r *fleet.Record)) {
	known := map[string]bool{}
	lost := func() {
		for key := range known {
			f(key, nil)
		}
		clear(known)
	}
	q.running.Go(func() {
		q.life.watchingAll(q.storage.jobs, jetstream.AllKeys, lost, func(e jetstream.KeyValueEntry) {
			switch {
			case e == nil:
				f("", nil)
			case e.Operation() != jetstream.KeyValuePut:
				delete(known, e.Key())
				f(e.Key(), nil)
			default:
				if r, ok := entryOf(q, e); ok {
					known[e.Key()] = true
					f(e.Key(), &r)
				}
			}
		})
	})
}

const (
	// answerTime is how long Workers waits for the first answer of a worker, and lastAnswer for each further answer.
	// allAnswers limits the total wait.
	answerTime = 500 * time.Millisecond
	lastAnswer = 100 * time.Millisecond
	allAnswers = 2 * time.Second
)

// Workers asks all workers for their state. Workers that do not answer in time are omitted.
func (q *Queue) Workers(ctx context.Context) (all []fleet.Worker, err error) {
	inbox := q.storage.conn.NewInbox()
	answers, err := q.storage.conn.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer answers.Unsubscribe()
	if err := q.storage.conn.PublishRequest(subjectAsk, inbox, nil); err != nil {
		return nil, err
	}
	began := time.Now()
	for wait := answerTime; wait > 0; wait = min(lastAnswer, allAnswers-time.Since(began)) {
		msg, err := answers.NextMsg(wait)
		if err != nil || msg.Header.Get("Status") != "" { // no worker exists
			break
		}
		var w fleet.Worker
		if json.Unmarshal(msg.Data, &w) == nil {
			all = append(all, w)
		}
	}
	return all, ctx.Err()
}

// answer answers with the state of this worker.
func (q *Queue) answer(msg *nats.Msg) {
	w := fleet.Worker{Name: q.name}
	if d := q.destination.Load(); d != nil {
		w.Place, w.Endpoint = d.ID, d.Endpoint
	}
	for _, c := range q.mine.all() {
		w.Doing = append(w.Doing, fleet.Doing{Key: c.Record.Job.Key(), Fence: c.Fence(), Progress: c.progressNow()})
	}
	if data, err := json.Marshal(w); err == nil {
		msg.Respond(data)
	}
}

// Unfinished returns the number of jobs that are neither done nor dead, as the server counts them.
func (q *Queue) Unfinished(ctx context.Context) (uint64, error) {
	ctx, stop := context.WithTimeout(ctx, oneCall)
	defer stop()
	s, err := q.storage.js.Stream(ctx, streamName)
	if err != nil {
		return 0, err
	}
	return s.CachedInfo().State.Msgs, nil
}

// Retry queues a dead or waiting job again, and reports whether it did. For a job that is queued already, it only sends
// the message again, which may be missing.
func (q *Queue) Retry(ctx context.Context, key string) (bool, error) {
	r, err := change(ctx, q.storage.jobs, key, func(r *fleet.Record) error {
		if !r.Retry(q.clock.now()) {
			return errSame
		}
		return nil
	})
	same := err == errSame
	if same && r.State != fleet.Queued {
		return false, nil
	}
	if err == nil || same {
		err = q.wake(ctx, &r)
	}
	return err == nil && !same, err
}

// Drop removes a job and its evidence, unless a worker has the job. It reports whether it removed the job.
func (q *Queue) Drop(ctx context.Context, key string) (bool, error) {
	return q.remove(ctx, key, func(r *fleet.Record) bool { return r.State != fleet.Running })
}

// DropAs drops the job of the record was, if it is in the same state. A job that was reported again since then is kept.
func (q *Queue) DropAs(ctx context.Context, was *fleet.Record) (bool, error) {
	return q.remove(ctx, was.Job.Key(), func(r *fleet.Record) bool {
		return r.State == was.State && r.State != fleet.Running && r.Since.Equal(was.Since)
	})
}

// Withdraw removes a job that watch has reported, unless it is done. A worker that has the job notices this when it
// renews the lease, and stores no ending.
func (q *Queue) Withdraw(ctx context.Context, key, watch string) error {
	_, err := q.remove(ctx, key, func(r *fleet.Record) bool { return r.Job.Watch == watch && r.State != fleet.Done })
	return err
}

// remove removes a record if may allows it, and reports whether it did.
func (q *Queue) remove(ctx context.Context, key string, may func(*fleet.Record) bool) (bool, error) {
	for {
		r, revision, err := read[fleet.Record](ctx, q.storage.jobs, key)
		if err != nil || revision == 0 || !may(&r) {
			return false, err
		}
		err = q.storage.jobs.Delete(ctx, key, jetstream.LastRevision(revision))
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return err == nil, err
		}
	}
}

// Lost returns when the server last came back empty, or the zero time if that was more than lossTold ago or never.
func (q *Queue) Lost(ctx context.Context) (time.Time, error) {
	ctx, stop := context.WithTimeout(ctx, oneCall)
	defer stop()
	l, _, err := read[Loss](ctx, q.storage.leases, keyLost)
	if q.clock.now().Sub(l.At) > lossTold {
		l.At = time.Time{}
	}
	return l.At, err
}

// Pause makes all workers take no more jobs or, if paused is false, take jobs again.
func (q *Queue) Pause(ctx context.Context, paused bool) error {
	if !paused {
		return q.storage.leases.Delete(ctx, keyPaused)
	}
	_, err := q.storage.leases.Put(ctx, keyPaused, []byte(q.name))
	return err
}

// readPaused reads whether the queue is paused. It is called before this process takes a job.
func (q *Queue) readPaused(ctx context.Context) error {
	_, err := q.storage.leases.Get(ctx, keyPaused)
	q.paused.Store(err == nil)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		err = nil
	}
	return err
}

// keepPaused follows whether the queue is paused. A queue that was created again is not paused.
func keepPaused(q *Queue) {
	q.life.watchingAll(q.storage.leases, keyPaused, func() { q.paused.Store(false) }, func(e jetstream.KeyValueEntry) {
		if e != nil {
			q.paused.Store(e.Operation() == jetstream.KeyValuePut)
		}
	})
}

// Paused reports whether the queue is paused, as last known.
func (q *Queue) Paused() bool { return q.paused.Load() }

// Offset returns how far the clock of the queue is ahead of the clock of this machine.
func (q *Queue) Offset() time.Duration { return q.clock.ahead() }

// awaitMost limits the time between two checks of an awaited job.
const awaitMost = 5 * time.Second

// ErrAbsent is the error of Await if the job was dropped, or if its record now has another job.
var ErrAbsent = errors.New("the job is no longer in the queue")

// Await blocks until j, a reported job, is done or dead, and returns its record. It stops a waiting job with Record.Stop.
func (q *Queue) Await(ctx context.Context, j *fleet.Job) (r fleet.Record, err error) {
	id := j.ID()
	for began := time.Now(); ; {
		r, err = change(ctx, q.storage.jobs, j.Key(), func(r *fleet.Record) error {
			own := r.State != "" && r.Job.ID() == id
			switch {
			case !own && (r.Newer == nil || r.Newer.ID() != id):
				return ErrAbsent
			case own && r.Stop(q.clock.now()):
				return nil
			}
			return errSame
		})
		if err != nil && err != errSame || r.Job.ID() == id && (r.State == fleet.Done || r.State == fleet.Dead) {
			break
		}
		if err := rest(ctx, min(max(time.Since(began)/8, 50*time.Millisecond), awaitMost)); err != nil {
			return r, err
		}
	}
	if err == errSame {
		err = nil
	}
	return r, err
}
