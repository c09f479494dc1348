package antenna

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"braid/internal/mask"
)

// A loop is one run of Watch or Once. Only the goroutine that calls work accesses it. Workers receive and return
// values. Each part of the loop owns one part of the state.
type loop struct {
	run    run
	poller *poller

	polls     polls
	targets   targets
	follow    followers
	updates   updates
	publisher publisher
	buffer    buffer
	// ending reports that the loop is about to end.
	ending bool
}

// A run is what all parts of a loop use: the configuration, the events and errors, and the workers.
type run struct {
	a *Antenna
	// inbox can hold a message of each worker, so that workers never block.
	inbox chan message
	wg    sync.WaitGroup

	// round is set in Once and nil in Watch.
	round *round
	// offline reports that the loop does not run and emits no events.
	offline bool
	err     error // an error of the antenna itself, for example of its store; it ends the run
}

// A round is one run of Once.
type round struct {
	// names lists the feeds and watches to handle. If empty, the feeds and watches that are due are handled.
	names []string
	errs  []error
}

// A message is sent to the loop by a worker or by a request from another goroutine.
type message func(l *loop, now time.Time)

// work runs the loop until ctx is done, the round is complete, or run.err is set.
func (l *loop) work(ctx context.Context, requests <-chan message) error {
	workers, cancel := context.WithCancel(ctx)
	defer l.run.wg.Wait()
	defer cancel()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil && l.run.err == nil {
		now := time.Now()
		l.step(workers, now)
		wake, ok := l.wake()
		if !ok && l.run.round != nil && l.idle() {
			break
		}
		if timer.Stop(); ok {
			timer.Reset(wake.Sub(now))
		}
		select {
		case m := <-l.run.inbox:
			m(l, time.Now())
			l.drain()
		case m := <-requests:
			m(l, time.Now())
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	cancel()
	l.finish(ctx, requests)
	return l.run.err
}

// drain handles the other messages in the inbox, so that updates acknowledged at the same time are stored together.
func (l *loop) drain() {
	for {
		select {
		case m := <-l.run.inbox:
			m(l, time.Now())
		default:
			l.buffer.settle()
			return
		}
	}
}

// finish waits for the workers and stores their results and all other changes.
func (l *loop) finish(ctx context.Context, requests <-chan message) {
	l.ending = true
	l.windDown(requests)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastPublish)
	defer cancel()
	l.closeRound(ctx)
	l.windDown(requests)
}

// windDown waits for the workers. Meanwhile it answers requests, because the wait may take half a minute, longer than a
// watchdog waits.
func (l *loop) windDown(requests <-chan message) {
	for !l.idle() {
		select {
		case m := <-l.run.inbox:
			m(l, time.Now())
			l.drain()
		case m := <-requests:
			m(l, time.Now())
		}
	}
	l.run.wg.Wait()
	l.drain()
}

// lastPublish limits the duration of the last Publish.
const lastPublish = 30 * time.Second

func (l *loop) idle() bool {
	return l.polls.running == 0 && l.updates.running == 0 && !l.publisher.running
}

// step starts the polls and updates that are due, and stores changes.
func (l *loop) step(ctx context.Context, now time.Time) {
	for {
		m, at, ok := l.polls.due.first()
		if !ok || at.After(now) {
			break
		}
		l.polls.due.remove(m)
		l.polls.begin(m, now)
	}
	for l.polls.running < l.run.a.polls() {
		m := l.polls.hosts.next(now)
		if m == nil {
			break
		}
		l.polls.poll(ctx, m)
	}
	l.updates.renewAll(now)
	for l.updates.running < l.run.a.handlers() {
		t := l.updates.tries.next(now)
		if t == nil {
			break
		}
		l.updates.try(ctx, t, now)
	}
	l.keep(ctx, now)
}

// wake returns when step must be called again, if no message comes before.
func (l *loop) wake() (at time.Time, ok bool) {
	sooner := func(t time.Time, due bool) {
		if due && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	_, t, due := l.polls.due.first()
	sooner(t, due)
	if l.polls.running < l.run.a.polls() {
		t, due := l.polls.hosts.wake()
		sooner(t, due)
	}
	if l.updates.running < l.run.a.handlers() {
		t, due := l.updates.tries.wake()
		sooner(t, due)
	}
	t, due = l.updates.renewal()
	sooner(t, due)
	if l.run.round == nil {
		t, due := l.buffer.wake(l.run.a.round())
		sooner(t, due)
	}
	return at, ok
}

func (r *run) emit(e Event) {
	if r.a.Observe != nil && !r.offline {
		r.a.Observe(e)
	}
}

// fail ends the run with an error.
func (r *run) fail(err error) { r.err = errors.Join(r.err, err) }

// text returns the text of an error for storing and display.
func (r *run) text(err error) string {
	if err == nil {
		return ""
	}
	s := err.Error()
	if r.a.Hide != nil {
		s = r.a.Hide(s)
	}
	return mask.Escape(s)
}

func (r *run) judge(err error) (code int, lasting bool) {
	if r.a.Judge == nil {
		return 0, false
	}
	return r.a.Judge(err)
}

// chance returns a random number from 0 to 1.
func chance() float64 { return rand.Float64() }
