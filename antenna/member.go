package antenna

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"time"

	"braid/antenna/feed"
	"braid/internal/web"
)

// A member is a feed, or the regular check of a watch's URL (Watch.CheckEvery), with its state.
type member struct {
	queued // in polls.due
	// id is the key of m in the store. Feeds and checks have different prefixes.
	id    string
	order int
	feed  Feed
	page  *watcher // the watch whose URL is checked; nil for a feed
	url   *url.URL // nil for a local file

	saved savedFeed
	// task is the current request. asking reports that it waits or runs.
	task   task
	asking bool
	// forced reports that m is polled although a feed has a recent report.
	forced bool
	// anew reports that the configuration of m has changed.
	anew  bool
	quota quota
	// bare reports that the server refused the token of the feed.
	bare bool
	// targets has the targets with reports of this member.
	targets map[*target]bool
	// revisit has the targets with a report of m that may become usable later.
	revisit map[*target]bool
}

// A polls schedules the polls of all members.
type polls struct {
	run     *run
	buffer  *buffer
	poller  *poller
	targets *targets
	members []*member // feeds, then URL checks, in the order of the configuration
	byID    map[string]*member
	due     queue[*member]
	hosts   hosts
	running int
}

func feedID(name string) string { return "feed " + name }

func checkID(watch string) string { return "check " + watch }

// bounds returns the limits of the interval between polls.
func (f *Feed) bounds() paceBounds {
	if f.Every > 0 && f.Min == 0 && f.Max == 0 {
		return paceBounds{First: f.Every, Min: f.Every, Max: f.Every}
	}
	b := paceBounds{Min: cmp.Or(f.Min, min(defaultMin, cmp.Or(f.Max, defaultMin)))}
	b.Max = max(cmp.Or(f.Max, defaultMax), b.Min)
	b.First = cmp.Or(f.Every, b.Min)
	return b
}

// alone returns how long the host must not be asked. Only status 429 and a request limit apply to the whole host. Other
// errors may concern one feed. A round does not wait for a request limit.
func (a *answer) alone(isRound bool) (d time.Duration) {
	if a.status == http.StatusTooManyRequests {
		d = a.busy
	}
	if !isRound {
		d = max(d, a.pause)
	}
	return min(d, time.Hour)
}

// answered handles the result of a request of m.
func (l *polls) answered(m *member, a answer, now time.Time) {
	if a.again != nil {
		m.task = *a.again
		m.saved.Get = m.saved.Get || m.task.get
		if m.task.bare && !m.bare {
			m.bare = true
			l.run.emit(TokenRefused{Feed: m.feed.Name})
		}
		l.hosts.want(m, now)
		return
	}
	m.saved.Polled = now
	if a.err != nil {
		l.pollFailed(m, a, now)
		return
	}
	m.saved.trouble, m.saved.Failed = trouble{}, false
	changed := l.apply(m, a, now)
	interval := m.saved.Rhythm.interval(now, m.feed.bounds())
	m.saved.Interval = interval
	l.later(m, now.Add(jitter(interval, chance())))
	e := Polled{Feed: m.feed.Name, Took: a.took, Status: a.status, Unchanged: !changed, Bytes: a.bytes, Next: m.saved.Next}
	if k := a.result; k != nil {
		e.Records, e.Matched, e.Relayed, e.Skipped = k.records, k.matched, k.relayed, k.skipped
	}
	l.run.emit(e)
}

// apply stores the result of a poll of m. It reports whether the feed has changed.
func (l *polls) apply(m *member, a answer, now time.Time) (changed bool) {
	known := !m.saved.Rhythm.Changed.IsZero()
	if a.unchanged {
		l.targets.revisit(m, now)
	} else {
		changed = !known || a.result.sum != m.saved.Sum
		m.saved.Sum, m.saved.ETag, m.saved.Modified, m.saved.Of = a.result.sum, a.etag, a.modified, a.of
		if a.seen != nil {
			m.saved.Seen = *a.seen
		}
		l.buffer.records(m, a.result.stored)
		l.targets.report(m, a.result, now)
		m.saved.URLs, m.saved.Example = a.result.records-a.result.skipped, maskURL(a.result.example)
		m.saved.Examples, m.saved.Invalid = a.result.examples, a.result.invalid
		l.targets.tellUnfit(m)
	}
	if known {
		m.saved.Rhythm = m.saved.Rhythm.saw(changed, now)
	} else {
		modified, _ := http.ParseTime(a.modified)
		m.saved.Rhythm = firstRhythm(modified, now)
	}
	l.buffer.feed(m, changed, now)
	return changed
}

// longest limits the interval between polls of a feed that fails, unless its normal interval is longer.
const longest = time.Hour

// pollFailed handles a failed poll of m. The previous records are kept. If the feed broke off, the records before the
// break are used.
func (l *polls) pollFailed(m *member, a answer, now time.Time) {
	if a.result != nil {
		l.targets.report(m, a.result, now)
	}
	l.targets.revisit(m, now)
	m.saved.Failures++
	m.saved.Failed = m.feed.Kind == Page
	m.saved.Err = l.run.text(a.err)
	failed := &PollError{Feed: m.feed.Name, URL: maskURL(m.feed.URL), Status: a.status, Err: a.err}
	m.saved.Code, _ = l.run.judge(failed)
	base := cmp.Or(m.saved.Interval, m.feed.bounds().First)
	wait := backoff(base, max(longest, base), m.saved.Failures, chance())
	if a.spent {
		wait = 0
	}
	l.later(m, now.Add(max(wait, jitter(a.busy, chance()))))
	l.buffer.feed(m, false, now)
	l.run.emit(PollFailed{Feed: m.feed.Name, Took: a.took, Err: a.err, Failures: m.saved.Failures, Next: m.saved.Next})
	if l.run.round != nil {
		l.run.round.errs = append(l.run.round.errs, failed)
	}
}

// spared reports whether m is a URL check and a feed has a recent report about that URL, and until when the report is
// fresh.
func (l *polls) spared(m *member, now time.Time) (until time.Time, ok bool) {
	if m.page == nil {
		return until, false
	}
	t := l.targets.all[urlKey{m.page, m.page.URL}]
	for other, reports := range t.reports {
		if other.feed.Kind == Page {
			continue
		}
		for _, r := range reports {
			if seen, fresh := r.SeenUntil(feed.At(now)); fresh && seen.UTC().After(until) {
				until, ok = seen.UTC(), true
			}
		}
	}
	return until.Add(time.Second), ok // the report is still fresh in that second
}

// mostSpared limits how long URL checks are skipped, in units of CheckEvery, because feeds may be wrong.
const mostSpared = 24

// spare is like spared, but mostSpared limits the time.
func (l *polls) spare(m *member, now time.Time) (until time.Time, ok bool) {
	if until, ok = l.spared(m, now); !ok {
		return until, false
	}
	if m.saved.Spared.IsZero() || m.saved.Spared.After(now) {
		m.saved.Spared = now
		l.buffer.feed(m, false, now)
	}
	if end := m.saved.Spared.Add(mostSpared * m.feed.Every); end.Before(until) {
		until = end
	}
	return until, until.After(now)
}

// begin makes m wait for its host, unless m is a URL check and a feed has a recent report.
func (l *polls) begin(m *member, now time.Time) {
	if until, fresh := l.spare(m, now); fresh && !m.forced {
		l.run.emit(Skipped{Watch: m.feed.Name, Why: FreshReport, Until: until})
		l.later(m, until)
		return
	}
	m.forced = false
	m.asking = true
	m.saved.Spared = time.Time{}
	m.task = task{
		feed: &m.feed, page: m.page, Trail: web.Trail{URL: m.url}, get: m.saved.Get, bare: m.bare,
		etag: m.saved.ETag, modified: m.saved.Modified, of: m.saved.Of, seen: m.saved.Seen,
	}
	l.hosts.want(m, now)
}

// poll starts a worker for m.
func (l *polls) poll(ctx context.Context, m *member) {
	l.running++
	t, host := m.task, taskHost(&m.task)
	l.run.wg.Go(func() {
		a := l.poller.poll(ctx, t)
		l.run.inbox <- func(l *loop, now time.Time) {
			l.polls.running--
			l.polls.hosts.done(host, a.alone(l.run.round != nil), now)
			if ctx.Err() == nil {
				l.polls.answered(m, a, now)
				l.follow.polled(m, now)
			}
		}
	})
}

// later schedules the next poll of m, except in a round.
func (l *polls) later(m *member, at time.Time) {
	m.saved.Next = at
	m.asking = false
	if l.run.round == nil {
		l.due.put(m, at)
	}
}
