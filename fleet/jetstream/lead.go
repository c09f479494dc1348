package jetstream

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
)

// A Leader is what one process of several does for all: poll the feeds of a configuration, say.
type Leader struct {
	fleet.Lease
	// Print tells configurations of one name apart.
	Print string `json:"print,omitempty"`
}

// A Lead is held until Resign, or until Context ends.
type Lead struct {
	Context context.Context

	q        *Queue
	group    string
	fence    uint64
	cancel   context.CancelCauseFunc
	ending   sync.WaitGroup
	mu       sync.Mutex
	pending  map[string]kept
	flushing sync.Mutex
}

// Lead waits until this process is the one of a group that leads, under a fingerprint of its configuration. It calls found with each other leader
// that it finds meanwhile.
func (q *Queue) Lead(ctx context.Context, group, fingerprint string, found func(Leader)) (*Lead, error) {
	key := "watch." + hex.EncodeToString([]byte(group))
	for told := uint64(0); ; {
		leader, err := change(ctx, q.leases, key, func(l *Leader) error {
			if err := l.Take(q.name, q.now(), q.lease); err != nil {
				return err
			}
			l.Print = fingerprint
			return nil
		})
		if err == nil {
			return q.leads(ctx, key, group, leader), nil
		}
		held, ok := errors.AsType[*fleet.HeldError](err)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !ok:
			q.log.Debug("queue", "lead", err)
		case held.Lease.Fence != told:
			told = held.Lease.Fence
			found(leader)
		}
		if err := q.awaitKey(ctx, key, held); err != nil {
			return nil, err
		}
	}
}

// awaitKey waits until a lease may be free: it ran out, or was given back.
func (q *Queue) awaitKey(ctx context.Context, key string, held *fleet.HeldError) error {
	wait := time.Second
	if held != nil {
		wait = min(max(held.Lease.Until.Sub(q.now()), 10*time.Millisecond), q.lease)
	}
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	w, err := q.leases.Watch(ctx, key, jetstream.UpdatesOnly())
	if err != nil {
		return outer(rest(ctx, wait))
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return outer(ctx.Err())
		case e := <-w.Updates():
			var l Leader
			if e != nil && json.Unmarshal(e.Value(), &l) == nil && l.Until.IsZero() {
				return nil
			}
		}
	}
}

// outer returns err, but nil for the end of a wait.
func outer(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

func (q *Queue) leads(ctx context.Context, key, group string, leader Leader) *Lead {
	l := &Lead{q: q, group: hex.EncodeToString([]byte(group)), fence: leader.Fence, pending: map[string]kept{}}
	l.Context, l.cancel = context.WithCancelCause(ctx)
	l.ending.Go(func() { l.beat(key, leader.Until) })
	l.ending.Go(l.write)
	return l
}

// beat prolongs the lease, and ends what the leader does when another may lead. In the end it gives the lease back.
func (l *Lead) beat(key string, until time.Time) {
	if err := l.q.keepLease(l.Context, until, func(ctx context.Context) (time.Time, error) {
		leader, err := change(ctx, l.q.leases, key, func(n *Leader) error { return n.Prolong(l.q.name, l.fence, l.q.now(), l.q.lease) })
		return leader.Until, err
	}); err != nil {
		l.cancel(fmt.Errorf("another process may lead now: %w", err))
	}
	l.giveBack(key)
}

// keepLease prolongs a lease that lasts until a time, three times in its length, until ctx ends. An error says that another process may have it.
func (q *Queue) keepLease(ctx context.Context, until time.Time, prolong func(context.Context) (time.Time, error)) error {
	ticker := time.NewTicker(q.lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		once, stop := context.WithTimeout(ctx, min(oneCall, q.lease/3))
		longer, err := prolong(once)
		stop()
		_, lost := errors.AsType[*fleet.LostError](err)
		switch {
		case err == nil:
			until = longer
		case lost || !q.now().Before(until):
			return err
		}
	}
}

func (l *Lead) giveBack(key string) {
	ctx, stop := context.WithTimeout(context.Background(), oneCall)
	defer stop()
	change(ctx, l.q.leases, key, func(n *Leader) error { return n.Release(l.q.name, l.fence) })
}

// Resign stores what is kept, and lets another process lead at once.
func (l *Lead) Resign(ctx context.Context) error {
	err := l.flush(ctx)
	l.cancel(errors.New("resigned"))
	l.ending.Wait()
	return err
}

// A kept value is one of the leader, for the next one. Without a Value it was removed.
type kept struct {
	Bucket string `json:"b"`
	Key    string `json:"k"`
	Value  []byte `json:"v"`
}

// Keep stores a value of this leader for the next one, within a second or so; an empty one is removed. What was not stored when this process dies
// is for the next leader to find out again.
func (l *Lead) Keep(bucket, key string, value []byte) {
	name := l.group + "." + fleet.KeyOf(bucket+"\x00"+key)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending[name] = kept{bucket, key, value}
}

// write stores what is kept, until the process leads no more.
func (l *Lead) write() {
	for rest(l.Context, time.Second) == nil {
		if err := l.flush(l.Context); err != nil && l.Context.Err() == nil {
			l.q.log.Warn("queue", "not kept", err)
		}
	}
}

// flush stores what waits for it, as long as this process leads.
func (l *Lead) flush(ctx context.Context) error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.mu.Lock()
	values := l.pending
	l.pending = map[string]kept{}
	l.mu.Unlock()
	for name, k := range values {
		if l.Context.Err() != nil {
			return l.Context.Err()
		}
		if err := l.store(ctx, name, k); err != nil {
			l.mu.Lock()
			maps.Copy(values, l.pending) // what is newer counts
			l.pending = values
			l.mu.Unlock()
			return err
		}
		delete(values, name)
	}
	return nil
}

// store stores a value. One that is larger than the server takes stays what it was before.
func (l *Lead) store(ctx context.Context, name string, k kept) error {
	if len(k.Value) == 0 {
		return l.q.feeds.Delete(ctx, name)
	}
	data, err := json.Marshal(k)
	if err == nil {
		_, err = l.q.feeds.Put(ctx, name, data)
	}
	if errors.Is(err, nats.ErrMaxPayload) {
		l.q.log.Warn("queue", "not kept", err, "bytes", len(data), "key", k.Key)
		return nil
	}
	return err
}

// Kept calls f with each value that leaders of the group have stored.
func (l *Lead) Kept(ctx context.Context, f func(bucket, key string, value []byte)) error {
	return each(ctx, l.q.feeds, l.group+".>", func(k kept) { f(k.Bucket, k.Key, k.Value) })
}
