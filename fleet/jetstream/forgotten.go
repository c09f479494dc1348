package jetstream

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"braid/fleet"
)

// A killed server may forget messages that it has delivered and that were not acknowledged: they stay in the stream but
// are never delivered again. A new consumer delivers all messages in the stream. If the job of a message is running,
// the worker that gets the message finds the lease.

// seenForgotten is the number of looks in a row that must find such messages, as the counts of one look are not atomic.
const seenForgotten = 3

// keepDelivered looks for forgotten messages about once per lease.
func (q *Queue) keepDelivered(ctx context.Context) {
	seen := map[fleet.Priority]int{}
	for rest(ctx, q.lease/2+rand.N(q.lease)) == nil {
		once, stop := context.WithTimeout(ctx, oneCall)
		for _, p := range fleet.Priorities {
			n, err := q.forgotten(once, p)
			if err == nil && n > 0 {
				seen[p]++
			} else {
				seen[p] = 0
			}
			if seen[p] >= seenForgotten || errors.Is(err, jetstream.ErrConsumerNotFound) {
				seen[p] = 0
				q.log.Warn("queue", "forgotten", n, "priority", p.String(), "again", q.deliverAnew(once, p))
			}
		}
		if err := keepBoard(once, q); err != nil {
			q.log.Debug("queue", "board", err)
		}
		stop()
	}
}

// forgotten returns the number of messages of a priority in the stream that are neither undelivered nor unacknowledged.
func (q *Queue) forgotten(ctx context.Context, p fleet.Priority) (int64, error) {
	stream, err := q.js.Stream(ctx, streamName)
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

// deliverAnew recreates the consumer of a priority. A lease ensures that only one worker does it.
func (q *Queue) deliverAnew(ctx context.Context, p fleet.Priority) error {
	if _, err := change(ctx, q.leases, "deliver",
		func(l *fleet.Lease) error { return l.Take(q.name, q.now(), min(q.lease, 10*time.Second)) }); err != nil {
		return err
	}
	if err := q.js.DeleteConsumer(ctx, streamName, nameFor(consumerName, "-", p)); err != nil && !errors.Is(err,
		jetstream.ErrConsumerNotFound) {
		return err
	}
	return q.makeConsumers(ctx)
}
