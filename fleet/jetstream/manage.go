package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
)

// All returns all records. The error is a *NewerError if some are of a newer braid, and the others are returned with it.
func (q *Queue) All(ctx context.Context) (all []fleet.Record, err error) {
	err = each(ctx, q.jobs, jetstream.AllKeys, func(r fleet.Record) { all = append(all, r) })
	return all, err
}

// Board returns how the queue stands. It has the records of what runs, and of all others their states. The error is a
// *NewerError if some are of a newer braid, and the board is right but for them.
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
			if r, there, err = read[fleet.Record](ctx, q.jobs, key); err != nil {
				return nil, err
			}
			if there == 0 || r.State == fleet.Done { // since then
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

// Running returns the records of what workers have, by name. The error is as that of Board.
func (q *Queue) Running(ctx context.Context) ([]fleet.Record, error) {
	b, err := q.Board(ctx)
	if b == nil {
		return nil, err
	}
	return b.In(fleet.Running, math.MaxInt), err
}

// Records returns the records of some keys that there are.
func (q *Queue) Records(ctx context.Context, keys []string) (all []fleet.Record, err error) {
	ctx, stop := context.WithTimeout(ctx, oneCall)
	defer stop()
	for _, key := range keys {
		r, revision, err := read[fleet.Record](ctx, q.jobs, key)
		if err != nil {
			return all, err
		}
		if revision > 0 {
			all = append(all, r)
		}
	}
	return all, nil
}

// Name returns the name of this process.
func (q *Queue) Name() string { return q.name }

// Follow calls f, from one goroutine, with each record and its key, and with each that changes, until the queue is
// closed. A record that was dropped is nil, and so are all of a queue that was lost. An empty key says that all records
// have come that there were.
func (q *Queue) Follow(f func(key string, r *fleet.Record)) {
	known := map[string]bool{}
	lost := func() {
		for key := range known {
			f(key, nil)
		}
		clear(known)
	}
	q.running.Go(func() {
		q.watchingAll(q.jobs, jetstream.AllKeys, lost, func(e jetstream.KeyValueEntry) {
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
	// answerTime is how long workers may take to answer, lastAnswer how long after one answer another may come, and
	// allAnswers how long all may take.
	answerTime = 500 * time.Millisecond
	lastAnswer = 100 * time.Millisecond
	allAnswers = 2 * time.Second
)

// Workers asks all workers what they do. Those that do not answer at once are not among them.
func (q *Queue) Workers(ctx context.Context) (all []fleet.Worker, err error) {
	inbox := q.conn.NewInbox()
	answers, err := q.conn.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer answers.Unsubscribe()
	if err := q.conn.PublishRequest(subjectAsk, inbox, nil); err != nil {
		return nil, err
	}
	began := time.Now()
	for wait := answerTime; wait > 0; wait = min(lastAnswer, allAnswers-time.Since(began)) {
		msg, err := answers.NextMsg(wait)
		if err != nil || msg.Header.Get("Status") != "" { // none listens
			break
		}
		var w fleet.Worker
		if json.Unmarshal(msg.Data, &w) == nil {
			all = append(all, w)
		}
	}
	return all, ctx.Err()
}

// answer says what this worker does.
func (q *Queue) answer(msg *nats.Msg) {
	w := fleet.Worker{Name: q.name}
	q.mu.Lock()
	for key, c := range q.mine {
		if c != nil {
			w.Doing = append(w.Doing, fleet.Doing{Key: key, Fence: c.Fence(), Progress: c.progressNow()})
		}
	}
	q.mu.Unlock()
	if data, err := json.Marshal(w); err == nil {
		msg.Respond(data)
	}
}

// Unfinished asks the server how many jobs are neither done nor dead.
func (q *Queue) Unfinished(ctx context.Context) (uint64, error) {
	ctx, stop := context.WithTimeout(ctx, oneCall)
	defer stop()
	s, err := q.js.Stream(ctx, streamName)
	if err != nil {
		return 0, err
	}
	return s.CachedInfo().State.Msgs, nil
}

// Retry queues a job again that is dead or waits, and reports whether it was one. A queued one may lack its message: it
// is sent again.
func (q *Queue) Retry(ctx context.Context, key string) (bool, error) {
	r, err := change(ctx, q.jobs, key, func(r *fleet.Record) error {
		if !r.Retry(q.now()) {
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

// Drop forgets a job that no worker has. Its evidence goes with it. It reports whether there was one.
func (q *Queue) Drop(ctx context.Context, key string) (bool, error) {
	return q.remove(ctx, key, func(r *fleet.Record) bool { return r.State != fleet.Running })
}

// DropAs is Drop of a job that is in the state in which it was read: one that was reported again since stays.
func (q *Queue) DropAs(ctx context.Context, was *fleet.Record) (bool, error) {
	return q.remove(ctx, was.Job.Key(), func(r *fleet.Record) bool {
		return r.State == was.State && r.State != fleet.Running && r.Since.Equal(was.Since)
	})
}

// Withdraw forgets the job that a watch has asked for, unless it is done. A worker that has it finds out when it
// prolongs its lease, and ends nothing.
func (q *Queue) Withdraw(ctx context.Context, key, watch string) error {
	_, err := q.remove(ctx, key, func(r *fleet.Record) bool { return r.Job.Watch == watch && r.State != fleet.Done })
	return err
}

// remove removes a record if it may be removed, and reports whether it did.
func (q *Queue) remove(ctx context.Context, key string, may func(*fleet.Record) bool) (bool, error) {
	for {
		r, revision, err := read[fleet.Record](ctx, q.jobs, key)
		if err != nil || revision == 0 || !may(&r) {
			return false, err
		}
		err = q.jobs.Delete(ctx, key, jetstream.LastRevision(revision))
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return err == nil, err
		}
	}
}

// Lost returns when the server came back empty in the last days, or the zero time.
func (q *Queue) Lost(ctx context.Context) (time.Time, error) {
	ctx, stop := context.WithTimeout(ctx, oneCall)
	defer stop()
	l, _, err := read[Loss](ctx, q.leases, keyLost)
	if q.now().Sub(l.At) > lossTold {
		l.At = time.Time{}
	}
	return l.At, err
}

// Pause has workers take no more jobs, or take them again.
func (q *Queue) Pause(ctx context.Context, paused bool) error {
	if !paused {
		return q.leases.Delete(ctx, keyPaused)
	}
	_, err := q.leases.Put(ctx, keyPaused, []byte(q.name))
	return err
}

// readPaused finds out whether workers take no jobs, before this process takes one.
func (q *Queue) readPaused(ctx context.Context) error {
	_, err := q.leases.Get(ctx, keyPaused)
	q.paused.Store(err == nil)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		err = nil
	}
	return err
}

// keepPaused follows whether workers take no jobs. A queue that was made anew has them take some.
func keepPaused(q *Queue) {
	q.watchingAll(q.leases, keyPaused, func() { q.paused.Store(false) }, func(e jetstream.KeyValueEntry) {
		if e != nil {
			q.paused.Store(e.Operation() == jetstream.KeyValuePut)
		}
	})
}

// Paused reports whether workers take no more jobs.
func (q *Queue) Paused() bool { return q.paused.Load() }

// watching calls f for each value of keys, now and when it changes, until the queue is closed.
func (q *Queue) watching(bucket jetstream.KeyValue, keys string, f func(jetstream.KeyValueEntry)) {
	q.watchingAll(bucket, keys, func() {}, func(e jetstream.KeyValueEntry) {
		if e != nil {
			f(e)
		}
	})
}

// watchingAll is watching, with nil when all values have come that there were. On another connection it begins again
// where it was: the library finds out after ten seconds and more that a server is another one. When the values were
// lost it calls lost, and begins anew.
func (q *Queue) watchingAll(bucket jetstream.KeyValue, keys string, lost func(), f func(jetstream.KeyValueEntry)) {
	last, life := uint64(0), 0
	for q.open.Err() == nil {
		q.mu.Lock()
		back, lives := q.back, q.lives
		q.mu.Unlock()
		if lives != life {
			lost()
			last, life = 0, lives
		}
		var options []jetstream.WatchOpt
		if last > 0 {
			options = append(options, jetstream.ResumeFromRevision(last+1))
		}
		if w, err := bucket.Watch(q.open, keys, options...); err != nil || !q.watchingBy(w, back, &last, f) {
			rest(q.open, time.Second)
		}
	}
}

// watchingBy calls f with what comes, and takes down the last revision. It reports whether it ended as there is another
// connection.
func (q *Queue) watchingBy(w jetstream.KeyWatcher, back <-chan struct{}, last *uint64, f func(jetstream.KeyValueEntry)) bool {
	defer w.Stop()
	for {
		select {
		case <-q.open.Done(): // which does not always end the updates
			return false
		case <-back:
			return true
		case e, more := <-w.Updates():
			if !more {
				return false
			}
			if e != nil {
				*last = e.Revision()
			}
			f(e)
		}
	}
}

// Offset is how far the clock of the queue is from that of this machine.
func (q *Queue) Offset() time.Duration { return time.Duration(q.offset.Load()) }
