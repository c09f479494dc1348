package antenna

import (
	"context"
	"time"

	"braid/antenna/feed"
	"braid/antenna/pace"
)

const (
	// An update that was not acknowledged comes again after a minute, twice as late each time, after six hours at most.
	retryBase = 30 * time.Second
	retryMost = 6 * time.Hour
	// One of which the origin knows nothing yet comes again after ten minutes, so many times: mirrors lag by hours, and a feed that is
	// wrong is wrong for ever.
	aheadBase = 5 * time.Minute
	aheadMost = 8
)

// try hands on the update of t, unless its feed has had enough for today (rule 56).
func (l *loop) try(ctx context.Context, t *target, now time.Time) {
	p := t.saved.Pending
	allowance, ok := l.afford(p, now)
	if !ok {
		m := l.byID[p.Feed]
		p.At = m.saved.Day.End().Add(pace.Jitter(time.Hour, chance()) - time.Hour)
		if m.limited != m.saved.Day.Number { // else it is known, and a glob may have thousands that wait
			m.limited = m.saved.Day.Number
			l.tell(Skipped{Feed: m.feed.Name, Why: DailyLimit, Until: m.saved.Day.End()})
		}
		l.book.target(t, now)
		l.queue(t, now)
		return
	}
	p.Tries++
	t.running = true
	l.handling++
	u := l.update(t, p, allowance)
	l.wg.Go(func() {
		start := time.Now()
		o, err := l.handle(ctx, u)
		took := time.Since(start)
		l.inbox <- func(l *loop, now time.Time) {
			l.handling--
			t.running = false
			l.handled(t, Handled{Update: u, Outcome: o, Err: err, Took: took}, ctx.Err() != nil, now)
		}
	})
}

// afford reports whether the feed of an update may have one more today, which then begins, and what that may bring.
func (l *loop) afford(p *pending, now time.Time) (a *Allowance, ok bool) {
	m := l.byID[p.Feed]
	if m == nil { // no longer configured
		return nil, true
	}
	m.saved.Day = m.saved.Day.At(now)
	if a, ok = m.mayHave(); ok {
		m.saved.Day.Updates++
		m.handling++
		l.book.feed(m, false, now)
	}
	return a, ok
}

// handled takes what became of an update.
func (l *loop) handled(t *target, h Handled, stopping bool, now time.Time) {
	p := t.saved.Pending
	if m := l.byID[p.Feed]; m != nil {
		m.saved.Day = m.saved.Day.At(now)
		m.saved.Day.Bytes += max(h.Outcome.Bytes, 0)
		m.handling--
		l.book.feed(m, false, now)
	}
	switch {
	case h.Err == nil:
		l.acknowledge(t, &h, now)
	case stopping: // not the update's fault
		p.At = now
	default:
		p.Failures++
		p.Err = l.text(h.Err)
		p.At = now.Add(pace.Backoff(retryBase, retryMost, p.Failures, chance()))
		h.Next = p.At
		l.book.past(t, p, h, p.Err, now)
		if l.round != nil {
			l.round.errs = append(l.round.errs, &HandleError{Watch: t.w.Name, URL: maskURL(t.url), Err: h.Err})
		}
	}
	l.book.target(t, now)
	if t.saved.Pending != nil {
		l.queue(t, now)
	}
	l.book.told(h)
	again := t.again
	t.again = false
	switch {
	case t.forget:
		t.forget = false
		l.forgetTarget(t, now)
	case again:
		l.decide(t, now)
	}
}

// acknowledge remembers an update as done.
func (l *loop) acknowledge(t *target, h *Handled, now time.Time) {
	p := t.saved.Pending
	if !p.isAside() {
		t.saved.State = p.Next
	}
	if p.Reason != AskedFor { // else the first report would only be a baseline, though it may be of a later version
		t.saved.State.HaveCopy = true
	}
	if h.Outcome.At.IsZero() {
		h.Outcome.At = now
	}
	t.saved.Last = h.Outcome
	l.book.past(t, p, *h, "", now)
	l.book.acknowledged = true
	t.saved.Pending = nil
	if isAhead(p, h.Outcome) && p.Aheads < aheadMost {
		again := *p
		again.Ahead, again.Failures, again.Err = true, 0, ""
		again.Aheads++
		again.At = now.Add(pace.Backoff(aheadBase, retryMost, again.Aheads, chance()))
		t.saved.Pending = &again
		h.Ahead, h.Next = true, again.At
	}
}

// isAhead reports whether a feed knows of something that the origin does not have yet: nothing was new there, and what is there is not
// what was reported.
func isAhead(p *pending, o Outcome) bool {
	if o.Changed || p.Action != feed.Download {
		return false
	}
	r := &p.Record
	switch p.Reason {
	case feed.Modified, feed.FirstSight:
		return r.LastModified != 0 && feed.At(o.LastModified) < r.LastModified && !(p.Reason == feed.FirstSight && o.LastModified.IsZero())
	case feed.SizeChanged:
		return o.Size != r.Size
	}
	return p.Reason == feed.MD5Changed
}
