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

// A member is a feed, or the own checks of a watch, as the loop has it.
type member struct {
	queued // in loop.due
	// id is its name in the store. Those of feeds and of checks differ.
	id    string
	order int
	feed  Feed
	page  *watcher // of own checks
	url   *url.URL // of what is not local

	saved savedFeed
	// task is what is asked or waits to be; asking says that there is one.
	task   task
	asking bool
	// forced: it is asked though a report is fresh.
	forced bool
	// anew: it is configured otherwise than before.
	anew  bool
	quota quota
	// targets have reports of it.
	targets map[*target]bool
	// revisit are those of them whose report is from the future: it may be of use later.
	revisit map[*target]bool
}

// The polls are the members, and when each is asked.
type polls struct {
	*loop
	members []*member // feeds, then own checks, in the order of the configuration
	byID    map[string]*member
	due     queue[*member]
	hosts   hosts
	running int
}

func feedID(name string) string { return "feed " + name }

func checkID(watch string) string { return "check " + watch }

// bounds of the interval between polls.
func (f *Feed) bounds() paceBounds {
	if f.Every > 0 && f.Min == 0 && f.Max == 0 {
		return paceBounds{First: f.Every, Min: f.Every, Max: f.Every}
	}
	b := paceBounds{Min: cmp.Or(f.Min, min(defaultMin, cmp.Or(f.Max, defaultMin)))}
	b.Max = max(cmp.Or(f.Max, defaultMax), b.Min)
	b.First = cmp.Or(f.Every, b.Min)
	return b
}

// alone is how long the host is to be left alone. A server that is asked too much says so for all of its feeds; one
// that is down may be so for one.
func (a *answer) alone() time.Duration {
	if a.status == http.StatusTooManyRequests {
		return min(a.busy, time.Hour)
	}
	return 0
}

// answered takes what became of a request of m.
func (l *polls) answered(m *member, a answer, now time.Time) {
	if a.again != nil {
		m.task = *a.again
		m.saved.Get = m.saved.Get || m.task.get
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
	l.emit(e)
}

// apply takes what m said. It reports whether that is another thing than before.
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

// longest is how far polls of a feed are apart that is down, if it is not asked more rarely anyway.
const longest = time.Hour

// pollFailed takes that m said nothing of use. What was known of it stays; of a feed that broke, what came before counts.
func (l *polls) pollFailed(m *member, a answer, now time.Time) {
	if a.result != nil {
		l.targets.report(m, a.result, now)
	}
	l.targets.revisit(m, now)
	m.saved.Failures++
	m.saved.Failed = m.feed.Kind == Page
	m.saved.Err = l.text(a.err)
	failed := &PollError{Feed: m.feed.Name, URL: maskURL(m.feed.URL), Status: a.status, Err: a.err}
	m.saved.Code, _ = l.judge(failed)
	base := cmp.Or(m.saved.Interval, m.feed.bounds().First)
	wait := backoff(base, max(longest, base), m.saved.Failures, chance())
	l.later(m, now.Add(max(wait, jitter(a.busy, chance()))))
	l.buffer.feed(m, false, now)
	l.emit(PollFailed{Feed: m.feed.Name, Took: a.took, Err: a.err, Failures: m.saved.Failures, Next: m.saved.Next})
	if l.round != nil {
		l.round.errs = append(l.round.errs, failed)
	}
}

// spared reports whether a feed has seen the URL of own checks lately, and until when that counts.
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
	return until.Add(time.Second), ok // it is good in that second, too
}

// mostSpared is for how many times as long as own checks are apart a URL is spared them: what feeds say of it need not be true.
const mostSpared = 24

// spare is spared, but not for ever.
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

// begin has m wait for its host, unless a feed has seen its URL lately.
func (l *polls) begin(m *member, now time.Time) {
	if until, fresh := l.spare(m, now); fresh && !m.forced {
		l.emit(Skipped{Watch: m.feed.Name, Why: FreshReport, Until: until})
		l.later(m, until)
		return
	}
	m.forced = false
	m.asking = true
	m.saved.Spared = time.Time{}
	m.task = task{
		feed: &m.feed, page: m.page, Trail: web.Trail{URL: m.url}, get: m.saved.Get,
		etag: m.saved.ETag, modified: m.saved.Modified, of: m.saved.Of, seen: m.saved.Seen,
	}
	l.hosts.want(m, now)
}

// poll starts a worker for m, whose turn it is at its host.
func (l *polls) poll(ctx context.Context, m *member) {
	l.running++
	t, host := m.task, taskHost(&m.task)
	l.wg.Go(func() {
		a := l.poller.poll(ctx, t)
		l.inbox <- func(l *loop, now time.Time) {
			l.polls.running--
			l.polls.hosts.done(host, a.alone(), now)
			if ctx.Err() == nil {
				l.polls.answered(m, a, now)
			}
		}
	})
}

// later makes m due, unless this is a round and it had its turn.
func (l *polls) later(m *member, at time.Time) {
	m.saved.Next = at
	m.asking = false
	if l.round == nil {
		l.due.put(m, at)
	}
}
