package jetstream

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A life records when the connection to a queue was replaced, and when the queue was created again because the server
// had lost it. Watchers of the queue's values then start over.
type life struct {
	open context.Context // canceled by Close

	mu   sync.Mutex
	back chan struct{} // closed on a new connection or a new queue
	// made is when the queue was created. lives is how often it was created again since Open. told reports whether its
	// loss was logged.
	made  time.Time
	lives int
	told  bool
}

// another returns a channel that is closed on a new connection or a new queue.
func (l *life) another() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.back
}

// renew records a new connection.
func (l *life) renew() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wake()
}

// wake makes watchers start over. l.mu must be held.
func (l *life) wake() {
	close(l.back)
	l.back = make(chan struct{})
}

// same reports whether the queue that was created at the time made is the one that this process uses. A zero time
// stands for a missing queue. told reports whether the previous call found the queue lost, too.
func (l *life) same(made time.Time) (same, told bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	same, told = !made.IsZero() && made.Equal(l.made), l.told
	l.told = !same
	return same, told
}

// again records that the queue was created again at the time made.
func (l *life) again(made time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.made, l.told = made, false
	l.lives++
	l.wake()
}

// watching calls f for each value of keys in bucket, now and after each change, until the queue is closed.
func (l *life) watching(bucket jetstream.KeyValue, keys string, f func(jetstream.KeyValueEntry)) {
	l.watchingAll(bucket, keys, func() {}, func(e jetstream.KeyValueEntry) {
		if e != nil {
			f(e)
		}
	})
}

// watchingAll is like watching but also calls f with nil after all existing values. It resumes on each new connection:
// the library notices a new server only after ten seconds or more. If the values were lost, it calls lost and restarts.
func (l *life) watchingAll(bucket jetstream.KeyValue, keys string, lost func(), f func(jetstream.KeyValueEntry)) {
	last, life := uint64(0), 0
	for l.open.Err() == nil {
		l.mu.Lock()
		back, lives := l.back, l.lives
		l.mu.Unlock()
		if lives != life {
			lost()
			last, life = 0, lives
		}
		var options []jetstream.WatchOpt
		if last > 0 {
			options = append(options, jetstream.ResumeFromRevision(last+1))
		}
		if w, err := bucket.Watch(l.open, keys, options...); err != nil || !l.watchingBy(w, back, &last, f) {
			rest(l.open, time.Second)
		}
	}
}

// watchingBy calls f with the updates of w and sets *last to their revision. It reports whether it ended because back
// was closed.
func (l *life) watchingBy(w jetstream.KeyWatcher, back <-chan struct{}, last *uint64, f func(jetstream.KeyValueEntry)) bool {
	defer w.Stop()
	for {
		select {
		case <-l.open.Done(): // w.Updates may not be closed then
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
