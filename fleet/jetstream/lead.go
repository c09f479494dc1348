package jetstream

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
)

// A Leader is the process that does a task for its whole group, for example polls the feeds of a configuration.
type Leader struct {
	fleet.Lease
	// Print is a fingerprint of the leader's configuration. Configurations of the same name may differ.
	Print string `json:"print,omitempty"`
	// Whole reports that the leader has resigned, after it stored all values that it kept.
	Whole bool `json:"whole,omitempty"`
}

// A Lead is this process's leadership of a group. It lasts until Resign, or until another process may lead.
type Lead struct {
	// Context is canceled with that of Queue.Lead, when another process may lead, and by Yield.
	Context context.Context
	// Whole reports that Kept returns all values that the previous leader kept. Otherwise, some values may be missing
	// or older than others.
	Whole bool

	q        *Queue
	key      string // of the lease
	group    string
	last     string // the bucket with values that are stored after all others
	fence    uint64
	end      context.CancelCauseFunc // cancels Context
	held     context.Context         // canceled when the lease is given back or lost
	cancel   context.CancelCauseFunc // cancels held
	ending   sync.WaitGroup
	mu       sync.Mutex
	pending  map[string]kept
	partial  bool // a value could not be stored
	adopted  bool // Adopted was called
	flushing sync.Mutex
}

// Lead blocks until this process leads the group. fingerprint identifies its configuration. While another process
// leads, Lead calls found once for each such leader. Values of the bucket last are stored after all others.
func (q *Queue) Lead(ctx context.Context, group, fingerprint, last string, found func(Leader)) (*Lead, error) {
	l := &Lead{q: q, group: hex.EncodeToString([]byte(group)), last: last, pending: map[string]kept{}}
	l.key = "watch." + l.group
	end, err := q.standsBy(l.group)
	if err != nil {
		return nil, err
	}
	defer end()
	for told := uint64(0); ; {
		leader, err := change(ctx, q.storage.leases, l.key, func(n *Leader) error {
			if n.Until.IsZero() && q.yields.since(l.group, q.clock.local()) < yieldTime {
				return errYielded
			}
			whole := n.Whole && n.Until.IsZero()
			if err := n.Take(q.name, q.clock.now(), q.lease); err != nil {
				return err
			}
			l.Whole, n.Whole, n.Print = whole, false, fingerprint
			return nil
		})
		if err == nil {
			l.begin(ctx, leader)
			return l, nil
		}
		held, ok := errors.AsType[*fleet.HeldError](err)
		newer, unknown := errors.AsType[*NewerError](err)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case unknown: // wait like a process that does not lead
			tellNewer(q, newer)
		case !ok:
			q.log.Debug("queue", "lead", err)
		case held.Lease.Fence != told:
			told = held.Lease.Fence
			found(leader)
		}
		if err := q.awaitKey(ctx, l.key, held); err != nil {
			return nil, err
		}
	}
}

// awaitKey waits until the lease with that key may be free: it has expired or was given back, perhaps before the call.
func (q *Queue) awaitKey(ctx context.Context, key string, held *fleet.HeldError) error {
	wait, options := time.Second, []jetstream.WatchOpt{jetstream.UpdatesOnly()}
	if held != nil {
		wait, options = min(max(held.Lease.Until.Sub(q.clock.now()), 10*time.Millisecond), q.lease), nil
	}
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	w, err := q.storage.leases.Watch(ctx, key, options...)
	if err != nil {
		return outer(rest(ctx, wait))
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return outer(ctx.Err())
		case e, ok := <-w.Updates():
			if !ok { // the connection is closed
				return outer(rest(ctx, wait))
			}
			var l Leader
			if e != nil && decode(e.Value(), &l) == nil && l.Until.IsZero() {
				return nil
			}
		}
	}
}

// outer returns err, or nil if err means that a wait is over.
func outer(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// begin starts the leadership that leader describes.
func (l *Lead) begin(ctx context.Context, leader Leader) {
	l.fence = leader.Fence
	l.held, l.cancel = context.WithCancelCause(l.q.open)
	l.Context, l.end = context.WithCancelCause(ctx)
	context.AfterFunc(l.held, func() { l.end(context.Cause(l.held)) })
	l.ending.Go(func() { l.beat(leader.Until) })
	l.ending.Go(l.write)
}

// beat renews the lease. It cancels Context when another process may lead. At the end it gives the lease back.
func (l *Lead) beat(until time.Time) {
	if err := l.q.keepLease(l.held, until, func(ctx context.Context) (time.Time, error) {
		leader, err := change(ctx, l.q.storage.leases, l.key,
			func(n *Leader) error { return n.Prolong(l.q.name, l.fence, l.q.clock.now(), l.q.lease) })
		return leader.Until, err
	}); err != nil {
		l.cancel(fmt.Errorf("another process may lead now: %w", err))
	}
	l.giveBack()
}

// keepLease calls prolong three times per duration of the lease, until ctx is done. It returns an error if another
// process may have the lease.
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
		case lost || !q.clock.now().Before(until):
			return err
		}
	}
}

func (l *Lead) giveBack() {
	ctx, stop := context.WithTimeout(context.Background(), oneCall)
	defer stop()
	l.mu.Lock()
	whole := (l.Whole || l.adopted) && !l.partial && len(l.pending) == 0
	l.mu.Unlock()
	change(ctx, l.q.storage.leases, l.key, func(n *Leader) error {
		n.Whole = whole
		return n.Release(l.q.name, l.fence)
	})
}

// Resign stores the kept values and gives the lease back, so that another process can lead immediately.
func (l *Lead) Resign(ctx context.Context) error {
	err := l.flush(ctx)
	l.cancel(errors.New("resigned"))
	l.ending.Wait()
	return err
}

// A kept is a value stored for the next leader. If Value is empty, the stored value is removed.
type kept struct {
	Bucket string `json:"b"`
	Key    string `json:"k"`
	Value  []byte `json:"v"`
}

// Adopted records that this process has the state of its predecessor, and has kept what it changed because values may be
// missing. Without that call, the next leader finds Whole as this one did.
func (l *Lead) Adopted() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.adopted = true
}

// Keep stores value for the next leader, within about a second. An empty value removes the stored one. If this process
// is killed before that, the next leader must find the value out again.
func (l *Lead) Keep(bucket, key string, value []byte) {
	name := l.group + "." + fleet.KeyOf(bucket+"\x00"+key)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending[name] = kept{bucket, key, value}
}

// write stores the kept values, about once per second, until the process no longer leads.
func (l *Lead) write() {
	for rest(l.held, time.Second) == nil {
		if err := l.flush(l.held); err != nil && l.held.Err() == nil {
			l.q.log.Warn("queue", "not kept", err)
		}
	}
}

// flush stores all pending values. It stops when this process no longer leads.
func (l *Lead) flush(ctx context.Context) error {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.mu.Lock()
	values := l.pending
	l.pending = map[string]kept{}
	l.mu.Unlock()
	for _, name := range l.inOrder(values) {
		err := context.Cause(l.held)
		if err == nil {
			err = l.store(ctx, name, values[name])
		}
		if err != nil {
			l.mu.Lock()
			maps.Copy(values, l.pending) // values kept since then replace older ones
			l.pending = values
			l.mu.Unlock()
			return err
		}
		delete(values, name)
	}
	return nil
}

// inOrder returns the names in values. Names of values for the bucket l.last are at the end.
func (l *Lead) inOrder(values map[string]kept) []string {
	return slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		lastA, lastB := values[a].Bucket == l.last, values[b].Bucket == l.last
		switch {
		case lastA == lastB:
			return strings.Compare(a, b)
		case lastA:
			return 1
		}
		return -1
	})
}

// store stores k under name. A value that exceeds the server's limit is not stored; the earlier value then stays.
func (l *Lead) store(ctx context.Context, name string, k kept) error {
	if len(k.Value) == 0 {
		return l.q.storage.feeds.Delete(ctx, name)
	}
	data, err := encode(k)
	if err == nil {
		_, err = l.q.storage.feeds.Put(ctx, name, data)
	}
	if errors.Is(err, nats.ErrMaxPayload) {
		l.q.log.Warn("queue", "not kept", err, "bytes", len(data), "key", k.Key)
		l.mu.Lock()
		l.partial = true
		l.mu.Unlock()
		return nil
	}
	return err
}

// Kept calls f for each value that leaders of the group have stored. The error is a *NewerError if a newer version of
// braid has stored one of them: then this version cannot know the whole state of the feeds.
func (l *Lead) Kept(ctx context.Context, f func(bucket, key string, value []byte)) error {
	return each(ctx, l.q.storage.feeds, l.group+".>", func(k kept) { f(k.Bucket, k.Key, k.Value) })
}

const (
	// subjectStandby, followed by the group, is the subject where processes reply that are waiting to lead.
	subjectStandby = "braid.standby."
	// yieldTime is how long a process does not try to lead after it has yielded. yieldAgain is how long it does not
	// offer to lead: otherwise, two processes that both cannot lead would yield to each other again and again.
	yieldTime  = 2 * time.Second
	yieldAgain = 30 * time.Minute
)

var errYielded = errors.New("another process should lead")

// standsBy makes this process reply that it is waiting to lead the group, until end is called.
func (q *Queue) standsBy(group string) (end func(), err error) {
	s, err := q.storage.conn.Subscribe(subjectStandby+group, func(msg *nats.Msg) {
		if q.yields.since(group, q.clock.local()) > yieldAgain {
			msg.Respond([]byte(q.name))
		}
	})
	if err != nil {
		return nil, err
	}
	return func() { s.Unsubscribe() }, nil
}

// yields records when this process last yielded the lead, by group.
type yields struct {
	mu sync.Mutex
	at map[string]time.Time
}

// yield records that this process yields the lead of group at the time now.
func (y *yields) yield(group string, now time.Time) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.at[group] = now
}

// since returns the time since this process last yielded the lead of group.
func (y *yields) since(group string, now time.Time) time.Duration {
	y.mu.Lock()
	defer y.mu.Unlock()
	if at, ok := y.at[group]; ok {
		return now.Sub(at)
	}
	return 1 << 62
}

// Yield cancels Context if another process is waiting to lead, and reports whether it did. That one leads after Resign.
func (l *Lead) Yield(ctx context.Context) bool {
	ctx, stop := context.WithTimeout(ctx, answerTime)
	defer stop()
	if _, err := l.q.storage.conn.RequestWithContext(ctx, subjectStandby+l.group, nil); err != nil {
		return false
	}
	l.q.yields.yield(l.group, l.q.clock.local())
	l.end(errYielded)
	return true
}
