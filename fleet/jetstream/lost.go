package jetstream

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A server that has lost its data comes back empty. Processes that are connected would then wait for jobs forever.
// Therefore they log the loss and create a new queue for later jobs.

const keyLost = "lost"

// A Loss records when the queue was created again after its server had lost it, and the process that did so.
type Loss struct {
	At time.Time `json:"at"`
	By string    `json:"by"`
}

// lossTold is how long a status shows a loss.
const lossTold = 7 * 24 * time.Hour

// errMissing reports that the queue does not exist.
var errMissing = errors.New("the queue does not exist")

// Missing reports whether err, an error of Open, means that the queue does not exist and must not be created.
func Missing(err error) bool { return errors.Is(err, errMissing) }

// keepQueue checks on each new connection whether the queue still exists. back is closed at the first new connection.
func keepQueue(ctx context.Context, q *Queue, back <-chan struct{}) {
	onEach(ctx, back, q.life.another, func() error { return look(ctx, q) })
}

// onEach calls do when back is closed, and again whenever the channel that another returned is closed. It calls another
// before do, so that it misses no event. If do fails, onEach calls it again after a second.
func onEach(ctx context.Context, back <-chan struct{}, another func() <-chan struct{}, do func() error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-back:
		}
		back = another()
		for do() != nil && rest(ctx, time.Second) == nil {
		}
	}
}

// look checks whether the queue is the one that this process has opened. If it is missing, look creates one.
func look(ctx context.Context, q *Queue) error {
	ctx, stop := context.WithTimeout(ctx, openTime)
	defer stop()
	made, err := q.storage.madeAt(ctx)
	missing := errors.Is(err, jetstream.ErrStreamNotFound)
	if err != nil && !missing {
		return err
	}
	same, told := q.life.same(made)
	if same {
		return nil
	}
	if !told {
		q.log.Warn("queue", "state", "lost permanently",
			"error", "the queue's server has lost its data: unfinished jobs are lost, and finished ones are forgotten",
			"hint", "restore the server's folder, or have the files reported again: "+
				"braid watch forget NAME CONFIG, braid get --queue")
	}
	if missing {
		if err = q.storage.prepare(ctx, &q.clock); err == nil {
			made, err = q.storage.madeAt(ctx)
		}
	}
	if err != nil {
		return err
	}
	if _, err := change(ctx, q.storage.leases, keyLost, func(l *Loss) error {
		if l.At.After(made.Add(-time.Second)) {
			return errSame
		}
		*l = Loss{made, q.name}
		return nil
	}); err != nil && err != errSame {
		return err
	}
	q.life.again(made)
	return nil
}
