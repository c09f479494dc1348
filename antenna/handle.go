package antenna

import (
	"context"
	"time"

	"braid/antenna/feed"
	"braid/internal/web"
)

const (
	// A failed update is repeated after a minute, then after twice the time, up to six hours.
	retryBase = 30 * time.Second
	retryMost = 6 * time.Hour
	// An update with a lasting error is eventually repeated about once a day. backoff adds up to a quarter.
	lastingMost = 20 * time.Hour
	// If the origin does not have the reported version yet, the update is repeated after ten minutes, up to aheadMost
	// times. Mirrors lag by hours, but a feed may also be wrong.
	aheadBase = 5 * time.Minute
	aheadMost = 8
	// aheadMap replaces aheadMost for an index page and for a sitemap: many sitemaps give all URLs of a site the same
	// date.
	aheadMap = 4
)

// An updates runs the updates that are due.
type updates struct {
	run     *run
	handle  Handler
	buffer  *buffer
	polls   *polls
	targets *targets
	follow  *followers
	tries   turns
	running int
}

// try starts the update of t, unless the update must wait or its feed has reached its daily limit.
func (l *updates) try(ctx context.Context, t *target, now time.Time) {
	p := t.saved.Pending
	if t.held = l.follow.awaitsPoll(t, now); t.held {
		l.tries.done(t)
		return
	}
	if until, held := l.follow.hold(t, now); held {
		l.tries.done(t)
		p.At = until
		l.targets.queue(t, now)
		return
	}
	allowance, ok := l.afford(p, now)
	if !ok {
		l.tries.done(t)
		l.park(t, now)
		return
	}
	begun := l.follow.begin(t, now)
	p.Tries++
	p.Limited = false
	t.running, t.day, t.last = true, dayCount{}.at(now).Number, l.follow.isLast(t, now)
	l.running++
	u := l.targets.update(t, p, allowance)
	u.Begun = begun
	l.run.wg.Go(func() {
		start := time.Now()
		var sent web.Tally
		o, err := l.handle(sent.Context(ctx), u)
		took := time.Since(start)
		l.run.inbox <- func(l *loop, now time.Time) {
			l.updates.running--
			l.updates.tries.done(t)
			t.running = false
			l.follow.charge(t, sent.Sent(), err, now)
			l.updates.handled(t, Handled{Update: u, Outcome: o, Err: err, Took: took}, ctx.Err() != nil, now)
		}
	})
}

func (l *updates) handled(t *target, h Handled, stopping bool, now time.Time) {
	p := t.saved.Pending
	l.account(t, &h, stopping, now)
	var told Event
	late, isLate := isLate(t, h.Err)
	switch {
	case h.Err == nil:
		l.acknowledge(t, &h, now)
	case stopping: // interrupted, not failed
		p.At = now
		l.follow.failed(t, &h.Outcome)
	case isLate && !t.last:
		l.follow.wait(t, late, now)
		told = NotReady{Update: h.Update, Err: late, Took: h.Took, Next: p.At}
	default:
		l.postpone(t, &h, now)
		l.follow.failed(t, &h.Outcome)
		if isLate {
			l.follow.giveUp(t, &h, now)
		}
	}
	t.saved.Tried = now
	l.buffer.target(t, now)
	if t.saved.Pending != nil {
		l.targets.queue(t, now)
	}
	if told == nil {
		told = h
	}
	l.buffer.afterSave(told)
	again := t.again
	t.again = false
	switch {
	case t.forget:
		t.forget = false
		l.targets.forget(t, now)
	case t.w.follow != nil:
		l.follow.ended(t, now)
	case again:
		l.targets.decide(t, now)
	}
}

// postpone schedules the repetition of a failed update.
func (l *updates) postpone(t *target, h *Handled, now time.Time) {
	p, most, lasting := t.saved.Pending, retryMost, false
	p.Failures++
	p.Err = l.run.text(h.Err)
	if p.Code, lasting = l.run.judge(h.Err); lasting {
		most = lastingMost
	}
	p.Lasting = lasting
	p.At = now.Add(backoff(retryBase, most, p.Failures, chance()))
	h.Next = p.At
	if l.run.round != nil {
		l.run.round.errs = append(l.run.round.errs, &HandleError{Watch: t.w.Name, URL: maskURL(t.url), Err: h.Err})
	}
}

// acknowledge records an update as done.
func (l *updates) acknowledge(t *target, h *Handled, now time.Time) {
	p := t.saved.Pending
	if !p.isAside() {
		t.saved.State = p.Next
	}
	// An update that the user asked for has no report. If it set HaveCopy, the next report would only become the
	// baseline, even if the report announces a later version.
	if p.Reason != AskedFor {
		t.saved.State.HaveCopy = true
	}
	if h.Outcome.At.IsZero() {
		h.Outcome.At = now
	}
	t.saved.Last = h.Outcome
	l.buffer.acknowledged = true
	t.saved.Pending = nil
	if t.w.follow != nil {
		l.follow.acknowledged(t, &h.Outcome, now)
		return
	}
	if isAhead(p, h.Outcome) && p.Aheads < mostAhead(p) {
		again := *p
		again.Ahead, again.Failures, again.Err = true, 0, ""
		again.Aheads++
		again.At = now.Add(backoff(aheadBase, retryMost, again.Aheads, chance()))
		t.saved.Pending = &again
		h.Ahead, h.Next = true, again.At
	}
}

// isAhead reports whether the feed announced a version that the origin does not have yet: the file of the origin has
// not changed, and is not the announced version.
func isAhead(p *pending, o Outcome) bool {
	r := &p.Record
	if o.Changed || o.Declined || p.Action != feed.Download && (p.Reason != feed.Modified || o.LastModified.IsZero()) {
		return false
	}
	switch p.Reason {
	case feed.Modified, feed.FirstSight:
		return r.LastModified != 0 && r.SurelyAfter(feed.At(o.LastModified)) &&
			!(p.Reason == feed.FirstSight && o.LastModified.IsZero())
	case feed.SizeChanged:
		return o.Size != r.Size
	}
	return p.Reason == feed.MD5Changed
}

// mostAhead returns how often the origin is asked again for a version that it does not have yet.
func mostAhead(p *pending) int {
	if p.Record.Format == feed.Sitemap || p.Record.Format == feed.IndexPage {
		return aheadMap
	}
	return aheadMost
}
