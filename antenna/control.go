package antenna

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"braid/antenna/feed"
)

// RunNow makes a running Watch poll the named feed, or all feeds of the named watch, and retry the waiting updates of
// that watch immediately. The file of a watch without a glob, or the current release, is updated in any case, with the
// reason AskedFor, because the feeds may be down or the file may be missing. Releases that were given up, or that the
// handler declined, are treated as new. RunNow returns an error if no Watch is running; use Once then.
func (a *Antenna) RunNow(ctx context.Context, name string) error {
	return a.request(ctx, func(l *loop, now time.Time) error {
		if l.run.offline || l.ending {
			return errors.New("the antenna is not running")
		}
		return l.runNow(name, now)
	})
}

func (l *loop) runNow(name string, now time.Time) error {
	members, targets := l.named(name)
	if len(members)+len(targets) == 0 {
		return fmt.Errorf("no feed or watch %q", name)
	}
	for _, m := range members {
		if !m.asking {
			m.forced = true
			l.polls.due.put(m, now)
		}
	}
	for _, t := range targets {
		switch {
		case t.running:
		case t.saved.Pending != nil:
			l.updates.tries.put(t, now)
		case t.w.glob == nil && t.isSteady():
			l.targets.await(t, t.askedFor(now), now)
		}
	}
	for _, g := range l.follow.all {
		if g.w.Name == name {
			l.follow.anew(g, now)
		}
	}
	return nil
}

// askedFor returns an update that the user requested.
func (t *target) askedFor(now time.Time) *pending {
	b, _ := t.saved.baseline()
	return &pending{
		Action: feed.Recheck, Reason: AskedFor, Words: "the user asked for it", At: now,
		Record: feed.Record{LastModified: b.LastModified, Detected: b.Detected},
	}
}

// Forget deletes the state of the named feed or watch, in the running Watch or else in the Store. The reports about a
// watch are kept. After that, the watch is like a new watch whose file was never downloaded.
func (a *Antenna) Forget(ctx context.Context, name string) error {
	return a.request(ctx, func(l *loop, now time.Time) error {
		members, targets := l.named(name)
		isGone, err := newLoader(l).forgetGone(name, now)
		if err != nil {
			return err
		}
		if l.polls.byID[feedID(name)] == nil && len(targets) == 0 && !isGone &&
			!slices.ContainsFunc(l.targets.watches, func(w *watcher) bool { return w.Name == name }) {
			return fmt.Errorf("no feed or watch %q", name)
		}
		for _, m := range members {
			if m.id == feedID(name) || m.id == checkID(name) {
				l.polls.forget(m, now)
			}
		}
		for _, t := range targets {
			l.targets.forget(t, now)
		}
		l.buffer.save()
		return l.run.err
	})
}

// Status returns the state of all feeds and watches, from the running Watch or else from the Store.
func (a *Antenna) Status(ctx context.Context) (s Status, err error) {
	err = a.request(ctx, func(l *loop, now time.Time) error {
		s = l.status()
		return nil
	})
	return s, err
}

// An access is how other goroutines reach the state: through the running loop, or in the store if no loop runs. It
// belongs to a Store, or to an Antenna without a Store.
type access struct {
	mu       sync.Mutex
	requests chan<- message // to the running loop
	ended    <-chan struct{}
}

// access returns the access to a's state. Antennas with one Store, as before and after a reload, share an access.
func (a *Antenna) access() *access {
	if a.Store != nil {
		return &a.Store.access
	}
	return &a.own
}

// enter registers a running loop. It must be called before the loop reads the state. The loop must receive the
// requests. leave ends the registration.
func (c *access) enter() (requests <-chan message, leave func()) {
	r, ended := make(chan message), make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests, c.ended = r, ended
	return r, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests, c.ended = nil, nil
		close(ended)
	}
}

// request calls do in the running loop. If no loop runs, or the loop ends before it receives the request, request calls
// do with a new loop that has read the store.
func (a *Antenna) request(ctx context.Context, do func(l *loop, now time.Time) error) error {
	c, done := a.access(), make(chan error, 1)
	for {
		c.mu.Lock()
		running, ended := c.requests, c.ended
		if running == nil {
			defer c.mu.Unlock() // no loop may begin meanwhile
			return a.offline(do)
		}
		c.mu.Unlock()
		select {
		case running <- func(l *loop, now time.Time) { done <- do(l, now) }:
			return <-done
		case <-ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// offline calls do with a loop that has the state of the store but does not run.
func (a *Antenna) offline(do func(l *loop, now time.Time) error) error {
	l, err := a.newLoop()
	if err != nil {
		return err
	}
	l.run.offline = true
	now := time.Now()
	if err := newLoader(l).start(now); err != nil {
		return err
	}
	return do(l, now)
}

// named returns the feed with a name. For a watch with that name, it returns the targets, the check of the watch's URL,
// and the feeds that may report the watch's file.
func (l *loop) named(name string) (members []*member, targets []*target) {
	if m := l.polls.byID[feedID(name)]; m != nil {
		members = append(members, m)
	}
	for _, w := range l.targets.watches {
		if w.Name != name {
			continue
		}
		for _, m := range l.polls.members {
			if m.id == checkID(name) || strings.HasPrefix(m.id, feedID("")) && (w.feeds == nil || w.feeds[m.feed.Name]) {
				members = append(members, m)
			}
		}
	}
	for _, t := range l.targets.ordered() {
		if t.w.Name == name {
			targets = append(targets, t)
		}
	}
	return members, targets
}

// forget deletes the state of m, so that m is polled unconditionally. The count of today's cost is kept.
func (l *polls) forget(m *member, now time.Time) {
	m.saved = savedFeed{Print: m.saved.Print, Day: m.saved.Day}
	l.buffer.feed(m, true, now)
	if !m.asking {
		l.due.put(m, now)
	}
}

// forget deletes the state of t except its reports. If an update of t is running, the state is deleted after the
// update.
func (l *targets) forget(t *target, now time.Time) {
	if t.running {
		t.forget = true
		return
	}
	if t.w.follow != nil {
		l.follow.drop(t, now)
		l.follow.decide(t.w.follow, now)
		return
	}
	l.updates.tries.remove(t)
	t.saved = savedTarget{Watch: t.saved.Watch, URL: t.saved.URL, Print: t.saved.Print, Reported: t.saved.Reported}
	l.buffer.target(t, now)
	l.decide(t, now)
}

func (l *loop) status() Status {
	var s Status
	for _, m := range l.polls.members {
		url := m.feed.URL
		if !m.feed.Local {
			url = maskURL(url)
		}
		s.Feeds = append(s.Feeds, FeedStatus{
			Name: m.feed.Name, URL: url, Kind: m.feed.Kind,
			Polled: m.saved.Polled, Changed: m.saved.Rhythm.Changed, Next: m.saved.Next, Interval: m.saved.Interval,
			Err: m.saved.Err, Failures: m.saved.Failures, Code: m.saved.Code, Updates: m.saved.Day.Updates,
			Bytes: m.saved.Day.Bytes,
		})
	}
	for _, t := range l.targets.ordered() {
		w := WatchStatus{
			Name: t.w.Name, URL: maskURL(t.url), Reason: t.saved.Reason, Words: t.saved.Words,
			HaveCopy: t.saved.State.HaveCopy, Last: t.saved.Last, Tried: t.saved.Tried, Running: t.running,
		}
		if p := t.saved.Pending; p != nil {
			w.Pending, w.Try, w.Next, w.Err = true, p.Tries, p.At, p.Err
			w.Code, w.Limited, w.Ahead = p.Code, p.Limited, p.Ahead
		}
		if w.Release = t.releaseStatus(); w.Release != nil && t.saved.Release.Stage == inPlace {
			if reason, words := l.targets.heard(t.w); reason == Unfit {
				w.Release.Unreported = words
			}
		}
		s.Watches = append(s.Watches, w)
	}
	for _, g := range l.follow.all {
		f := g.summary()
		f.Waiting = g.waits()
		f.Reason, f.Words = l.targets.heard(g.w)
		f.Invalid, f.InvalidTag = l.targets.invalid(g.w)
		s.Follows = append(s.Follows, f)
	}
	for _, w := range l.targets.watches {
		if unfit, ok := l.targets.unfitStatus(w); ok {
			s.Watches = append(s.Watches, unfit)
		}
	}
	return s
}
