package jetstream

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A server whose store was lost comes back empty. What it had is lost with it, and nobody would know: all that are
// connected find nothing to do. They say so, and make a new queue for what is reported from then on.

const keyLost = "lost"

// A Loss says that the queue was made anew, as its server had lost the one before.
type Loss struct {
	At time.Time `json:"at"`
	By string    `json:"by"`
}

// lossTold is for how long a loss is told of.
const lossTold = 7 * 24 * time.Hour

// errMissing says that there is no queue.
var errMissing = errors.New("no queue is there")

// Missing reports whether an error of Open is that there is no queue, and none was to be made.
func Missing(err error) bool { return errors.Is(err, errMissing) }

// keepQueue looks on each new connection whether the queue is still there. Back is closed when there is the first one.
func keepQueue(ctx context.Context, q *Queue, back <-chan struct{}) {
	onEach(ctx, back, func() <-chan struct{} { return another(q) }, func() error { return look(ctx, q) })
}

// another returns what is closed when there is another connection.
func another(q *Queue) <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.back
}

// onEach does something when back is closed, and again when what another returns is, which it asks for before: what
// comes meanwhile is not missed. What fails is done again after a second.
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

// look finds out whether the queue is the one that this process has opened. Where there is none it makes one.
func look(ctx context.Context, q *Queue) error {
	ctx, stop := context.WithTimeout(ctx, openTime)
	defer stop()
	made, err := madeAt(ctx, q)
	missing := errors.Is(err, jetstream.ErrStreamNotFound)
	if err != nil && !missing {
		return err
	}
	q.mu.Lock()
	same := err == nil && made.Equal(q.made)
	told := q.toldLost
	q.toldLost = !same
	q.mu.Unlock()
	if same {
		return nil
	}
	if !told {
		q.log.Warn("queue", "state", "lost for good",
			"error", "its server has come back without what it had stored: jobs that were not done are lost, and what is done is not known any more",
			"hint", "give the server its folder back; or have the files reported again: braid watch forget NAME CONFIG, braid get --queue")
	}
	if missing {
		if err = q.prepare(ctx); err == nil {
			made, err = madeAt(ctx, q)
		}
	}
	if err != nil {
		return err
	}
	if _, err := change(ctx, q.leases, keyLost, func(l *Loss) error {
		if l.At.After(made.Add(-time.Second)) {
			return errSame
		}
		*l = Loss{made, q.name}
		return nil
	}); err != nil && err != errSame {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.made, q.toldLost = made, false
	q.lives++
	close(q.back) // what follows values begins anew
	q.back = make(chan struct{})
	return nil
}

// madeAt is when the records were begun.
func madeAt(ctx context.Context, q *Queue) (time.Time, error) {
	s, err := q.js.Stream(ctx, "KV_braid_jobs")
	if err != nil {
		return time.Time{}, err
	}
	return s.CachedInfo().Created, nil
}
