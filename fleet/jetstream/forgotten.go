package jetstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
)

// A server that was killed may forget messages that it had delivered and that were not acknowledged: they stay in the
// stream but are never delivered again. A new consumer delivers all messages in the stream. If the job of such a
// message is running, the worker that gets the message finds the lease.

// seenForgotten is the number of consecutive checks that must find such messages, because the counts that one check
// compares are not read at the same time.
const seenForgotten = 3

// A keeper maintains a queue for all processes: it makes the server deliver forgotten messages again, and stores the board.
type keeper struct {
	q      *Queue
	seen   map[fleet.Priority]int // consecutive checks that found forgotten messages
	looked uint64                 // the stored board was complete up to this revision
}

// run checks for forgotten messages, and stores the board, about once per lease.
func (k *keeper) run(ctx context.Context) {
	for rest(ctx, k.q.lease/2+rand.N(k.q.lease)) == nil {
		once, stop := context.WithTimeout(ctx, oneCall)
		for _, p := range fleet.Priorities {
			k.look(once, p)
		}
		if err := k.board(once); err != nil {
			k.q.log.Debug("queue", "board", err)
		}
		stop()
	}
}

// look checks for forgotten messages of priority p.
func (k *keeper) look(ctx context.Context, p fleet.Priority) {
	n, err := k.forgotten(ctx, p)
	if err == nil && n > 0 {
		k.seen[p]++
	} else {
		k.seen[p] = 0
	}
	if k.seen[p] >= seenForgotten || errors.Is(err, jetstream.ErrConsumerNotFound) {
		k.seen[p] = 0
		k.q.log.Warn("queue", "forgotten", n, "priority", p.String(), "again", k.deliverAnew(ctx, p))
	}
}

// forgotten returns the number of messages of priority p that are in the stream, but that the server would neither
// deliver nor deliver again.
func (k *keeper) forgotten(ctx context.Context, p fleet.Priority) (int64, error) {
	stream, err := k.q.storage.js.Stream(ctx, streamName)
	if err != nil {
		return 0, err
	}
	about := nameFor(subject, ".", p)
	before, err := stream.Info(ctx, jetstream.WithSubjectFilter(about))
	if err != nil {
		return 0, err
	}
	c, err := stream.Consumer(ctx, nameFor(consumerName, "-", p))
	if err != nil {
		return 0, err
	}
	after, err := stream.Info(ctx, jetstream.WithSubjectFilter(about))
	if err != nil {
		return 0, err
	}
	there := min(before.State.Subjects[about], after.State.Subjects[about])
	return int64(there) - int64(c.CachedInfo().NumPending) - int64(c.CachedInfo().NumAckPending), nil
}

// deliverAnew creates the consumer of priority p again. A lease ensures that only one worker does this.
func (k *keeper) deliverAnew(ctx context.Context, p fleet.Priority) error {
	if _, err := change(ctx, k.q.storage.leases, "deliver",
		func(l *fleet.Lease) error { return l.Take(k.q.name, k.q.clock.now(), min(k.q.lease, 10*time.Second)) }); err != nil {
		return err
	}
	if err := k.q.storage.js.DeleteConsumer(ctx, streamName, nameFor(consumerName, "-", p)); err != nil && !errors.Is(err,
		jetstream.ErrConsumerNotFound) {
		return err
	}
	return k.q.storage.makeConsumers(ctx)
}

// board stores the board after many changes, so that a status reads few records. A lease lets one worker do it.
func (k *keeper) board(ctx context.Context) error {
	s, err := k.q.storage.js.Stream(ctx, "KV_"+k.q.storage.jobs.Bucket())
	if err != nil || s.CachedInfo().State.LastSeq < k.looked+lookAfter && s.CachedInfo().State.LastSeq >= k.looked {
		return err
	}
	if _, err := change(ctx, k.q.storage.leases, "look",
		func(l *fleet.Lease) error { return l.Take(k.q.name, k.q.clock.now(), min(k.q.lease, 2*oneCall)) }); err != nil {
		return err
	}
	b, revision, err := readBoard(ctx, k.q)
	if err != nil {
		return err
	}
	if k.looked = b.Upto; b.read >= boardAfter {
		storeBoard(ctx, k.q, &b, revision)
	}
	return nil
}
