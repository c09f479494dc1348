package jetstream

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
)

// A Leader is what one process of several does for all: poll the feeds of a configuration, say.
type Leader struct {
	fleet.Lease
	// Print tells what the leader does from what one with another configuration of that name would.
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

// Lead waits until this process is the one of a group that leads, and is told of each other leader that it finds.
func (q *Queue) Lead(ctx context.Context, group, printed string, found func(Leader)) (*Lead, error) {
	key := "watch." + hex.EncodeToString([]byte(group))
	for told := uint64(0); ; {
		now, err := change(ctx, q.leases, key, func(l *Leader) error {
			if err := l.Take(q.name, q.now(), q.lease); err != nil {
				return err
			}
			l.Print = printed
			return nil
		})
		if err == nil {
			return q.leads(ctx, key, group, now), nil
		}
		held, ok := errors.AsType[*fleet.HeldError](err)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !ok:
			q.log.Debug("queue", "lead", err)
		case held.Lease.Fence != told:
			told = held.Lease.Fence
			found(now)
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

// outer is err, unless it is that of a wait that is over.
func outer(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

func (q *Queue) leads(ctx context.Context, key, group string, now Leader) *Lead {
	l := &Lead{q: q, group: hex.EncodeToString([]byte(group)), fence: now.Fence, pending: map[string]kept{}}
	l.Context, l.cancel = context.WithCancelCause(ctx)
	l.ending.Go(func() { l.beat(key, now.Until) })
	l.ending.Go(l.write)
	return l
}

// beat prolongs the lease, and ends what the leader does when another may lead.
func (l *Lead) beat(key string, until time.Time) {
	ticker := time.NewTicker(l.q.lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-l.Context.Done():
			l.giveBack(key)
			return
		case <-ticker.C:
		}
		once, stop := context.WithTimeout(l.Context, min(oneCall, l.q.lease/3))
		now, err := change(once, l.q.leases, key, func(n *Leader) error { return n.Prolong(l.q.name, l.fence, l.q.now(), l.q.lease) })
		stop()
		_, lost := errors.AsType[*fleet.LostError](err)
		switch {
		case err == nil:
			until = now.Until
		case lost || !l.q.now().Before(until):
			l.cancel(fmt.Errorf("another process may lead now: %w", err))
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

// A kept value is one of the leader, for the next one. Without a Value it is gone.
type kept struct {
	Bucket string `json:"b"`
	Key    string `json:"k"`
	Value  []byte `json:"v"`
}

// Keep has a value of the leader's stored for the next leader, soon. What comes too late is found out again by that one.
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
	now := l.pending
	l.pending = map[string]kept{}
	l.mu.Unlock()
	for name, k := range now {
		if l.Context.Err() != nil {
			return l.Context.Err()
		}
		if err := l.store(ctx, name, k); err != nil {
			l.mu.Lock()
			maps.Copy(now, l.pending) // what is newer counts
			l.pending = now
			l.mu.Unlock()
			return err
		}
		delete(now, name)
	}
	return nil
}

func (l *Lead) store(ctx context.Context, name string, k kept) error {
	if len(k.Value) == 0 {
		return l.q.feeds.Delete(ctx, name)
	}
	data, err := json.Marshal(k)
	if err == nil {
		_, err = l.q.feeds.Put(ctx, name, data)
	}
	return err
}

// Kept calls f with each value that leaders of the group have kept.
func (l *Lead) Kept(ctx context.Context, f func(bucket, key string, value []byte)) error {
	w, err := l.q.feeds.Watch(ctx, l.group+".>", jetstream.IgnoreDeletes())
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		select {
		case e := <-w.Updates():
			if e == nil {
				return nil
			}
			var k kept
			if err := json.Unmarshal(e.Value(), &k); err != nil || !strings.HasPrefix(e.Key(), l.group) {
				return fmt.Errorf("what a watcher has kept cannot be read: %w", err)
			}
			f(k.Bucket, k.Key, k.Value)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
