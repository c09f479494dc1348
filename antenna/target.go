package antenna

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"braid/antenna/feed"
)

// A target is one URL of a watch, as the loop has it.
type target struct {
	queued // in the lane of its watch
	w      *watcher
	url    string
	saved  savedTarget
	// reports are the latest of each feed.
	reports map[*member][]feed.Record
	// day is the one on which the update that is being handled began.
	day int64
	// running: the handler is at it. Meanwhile came reports (again), or a request to forget it.
	running, again, forget bool
}

// The targets are the URLs of the watches, with what feeds report of them.
type targets struct {
	*loop
	watches []*watcher
	all     map[urlKey]*target
	globbed map[*watcher]int // how many of them are of a glob
}

// target returns the target of a spot, and makes one of a glob unless there are too many.
func (l *targets) target(s urlKey) *target {
	t := l.all[s]
	if t != nil {
		return t
	}
	if s.w.glob != nil {
		if l.globbed[s.w] >= maxGlobbed && !l.makeRoom(s.w) {
			return nil
		}
		l.globbed[s.w]++
	}
	t = &target{w: s.w, url: s.url, reports: map[*member][]feed.Record{}}
	t.saved.Watch, t.saved.Print = s.w.Name, s.w.Print
	if s.w.glob != nil {
		t.saved.URL = s.url
	}
	l.all[s] = t
	return t
}

// roomAtOnce is how many URLs of a glob make room at once: to find them all are looked at.
const roomAtOnce = maxGlobbed / 100

// makeRoom forgets URLs of a glob that no feed has any more, those first that were reported longest ago; ones that
// could not be handled so far are the last, and those that wait for their first try stay. It reports whether there were
// any.
func (l *targets) makeRoom(w *watcher) bool {
	var old []*target
	for _, t := range l.all {
		if p := t.saved.Pending; t.w == w && len(t.reports) == 0 && !t.running && (p == nil || p.fails()) {
			old = append(old, t)
		}
	}
	fails := func(t *target) int {
		if t.saved.Pending != nil {
			return 1
		}
		return 0
	}
	slices.SortFunc(old, func(a, b *target) int {
		return cmp.Or(fails(a)-fails(b), a.saved.Reported.Compare(b.saved.Reported))
	})
	for _, t := range old[:min(len(old), roomAtOnce)] {
		l.updates.tries.remove(t)
		delete(l.all, urlKey{w, t.url})
		delete(l.buffer.targets, t)
		l.buffer.gone(targetKey(t), time.Now())
		l.globbed[w]--
	}
	return len(old) > 0
}

// report takes what m says now of what is watched, in place of what it said before.
func (l *targets) report(m *member, k *result, now time.Time) {
	gone := l.dropped(m, k)
	var order []*target
	says := map[*target][]feed.Record{}
	full := k.tooMany
	noRoom := map[*watcher]bool{} // what this report brings frees nothing, so that one look at all targets of a glob is enough
	for _, h := range k.matches {
		s := urlKey{h.w, h.url}
		if noRoom[h.w] && l.all[s] == nil {
			continue
		}
		t := l.target(s)
		if t == nil {
			noRoom[h.w] = true
			if !slices.Contains(full, h.w.Name) {
				full = append(full, h.w.Name)
			}
			continue
		}
		if says[t] == nil {
			order = append(order, t)
		}
		says[t] = append(says[t], h.record)
		t.reports[m], m.targets[t] = says[t], true // at once: what is reported makes no room
	}
	for _, name := range full {
		l.emit(Skipped{Feed: m.feed.Name, Watch: name, Why: TooMany})
	}
	for _, t := range order {
		t.saved.Reported = now
		l.decide(t, now)
	}
	for _, t := range gone {
		if l.all[urlKey{t.w, t.url}] == t { // it has not made room
			l.decide(t, now)
		}
	}
}

// dropped are the targets that m told of and does not any more. It is done before new ones are made, which may need their room.
func (l *targets) dropped(m *member, k *result) (gone []*target) {
	if k.partial {
		return nil
	}
	still := make(map[urlKey]bool, len(k.matches))
	for _, h := range k.matches {
		still[urlKey{h.w, h.url}] = true
	}
	for t := range m.targets {
		if !still[urlKey{t.w, t.url}] {
			delete(t.reports, m)
			delete(m.targets, t)
			delete(m.revisit, t)
			gone = append(gone, t)
		}
	}
	return gone
}

// revisit decides again where m has a report that was from the future.
func (l *targets) revisit(m *member, now time.Time) {
	for _, t := range slices.Collect(maps.Keys(m.revisit)) {
		l.decide(t, now)
	}
}

// decide asks what the latest reports of all feeds mean for t (specified in feed.Decide), and has an update wait if
// they call for one.
func (l *targets) decide(t *target, now time.Time) {
	if t.running {
		t.again = true
		return
	}
	var records []feed.Record
	var from []*member
	for _, m := range l.reporters(t) {
		for _, r := range t.reports[m] {
			records, from = append(records, r), append(from, m)
		}
	}
	v := feed.Decide(t.saved.State, records, feed.At(now))
	for m := range t.reports {
		delete(m.revisit, t)
		if slices.ContainsFunc(t.reports[m], func(r feed.Record) bool { return useOf(&r, feed.At(now)) == useLater || t.lastOfDay(&r) }) {
			m.revisit[t] = true
		}
	}
	if v.Action == feed.None {
		v = t.fetchToSee(v, records, from, now)
	}
	if v.Action == feed.None {
		v = t.askAfterDay(v, records, now)
	}
	if v.Action == feed.None {
		l.noAction(t, v, now)
		if v.Chosen >= 0 {
			l.useless(t, from[v.Chosen], v)
		}
		return
	}
	t.saved.Reason, t.saved.Words = v.Reason, v.Words
	l.await(t, &pending{
		Action: v.Action, Reason: v.Reason, Words: v.Words, Record: records[v.Chosen], Feed: from[v.Chosen].id, Next: v.Next, At: now,
	}, now)
}

// lastOfDay reports whether r has the date of a day, and the origin was not asked since that was over. A further change
// of that day does not show in r.
func (t *target) lastOfDay(r *feed.Record) bool {
	over, ok := r.DayOver()
	last := t.saved.Last.At
	return ok && t.saved.State.HaveCopy && !last.IsZero() && r.LastModified <= feed.At(last) && feed.At(last) < over
}

// askAfterDay makes another verdict of v, by which nothing is to be done, if a day is over of which a record says no
// more than its date.
func (t *target) askAfterDay(v feed.Verdict, records []feed.Record, now time.Time) feed.Verdict {
	for i := range records {
		if over, _ := records[i].DayOver(); t.lastOfDay(&records[i]) && feed.At(now) >= over {
			v.Action, v.Reason, v.Chosen, v.Words = feed.Recheck, feed.Modified, i, "modified on a day that is over now: it may have been more than once"
			return v
		}
	}
	return v
}

// fetchToSee makes another verdict of v, by which nothing is to be done, if the URL itself was asked and said nothing
// to compare, and the file was not fetched since: only that shows whether it has changed. What a site lists without a
// date is fetched once. Where another record says something of use, that counts.
func (t *target) fetchToSee(v feed.Verdict, records []feed.Record, from []*member, now time.Time) feed.Verdict {
	look, last := -1, t.saved.Last.At
	for i := range records {
		switch why, ok := records[i].Usable(feed.At(now)); {
		case ok:
			return v
		case why != feed.NoInformation:
		case from[i].feed.Kind == Page && (last.After(now) || feed.At(last) < records[i].Detected):
			look = i
		case !t.saved.State.HaveCopy && (records[i].Format == feed.News || records[i].Format == feed.Sitemap):
			look = i
		}
	}
	switch {
	case look < 0:
	case t.saved.State.HaveCopy:
		v.Action, v.Reason, v.Chosen = feed.Recheck, feed.NoInformation, look
		v.Words = "the server says neither a date, a tag nor a length: only fetching it shows whether it has changed"
	default:
		v.Action, v.Reason, v.Chosen, v.Words = feed.Download, feed.FirstSight, look, "nothing was downloaded yet"
	}
	return v
}

// useless tells, once, that what m says of a file that was never downloaded is of no use.
func (l *targets) useless(t *target, m *member, v feed.Verdict) {
	if t.saved.State.HaveCopy || t.saved.Pending != nil || t.w.useless == v.Reason { // of a glob the first says it for all
		return
	}
	t.w.useless = v.Reason
	l.emit(Skipped{Feed: m.feed.Name, Watch: t.w.Name, Why: Why(v.Reason)})
}

// reporters are the members with a report of t, in the order of the configuration: of reports that are alike the first counts.
func (l *targets) reporters(t *target) []*member {
	list := make([]*member, 0, len(t.reports))
	for m := range t.reports {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *member) int { return a.order - b.order })
	return list
}

// noAction takes a verdict that calls for nothing. While an update waits, what it will leave behind counts.
func (l *targets) noAction(t *target, v feed.Verdict, now time.Time) {
	same := t.saved.Reason == v.Reason
	t.saved.Reason, t.saved.Words = v.Reason, v.Words
	if p := t.saved.Pending; p == nil || p.isAside() {
		same = same && slices.Equal(t.saved.State.Baselines, v.Next.Baselines)
		t.saved.State = v.Next
	}
	if !same {
		l.buffer.target(t, now)
	}
}

// await has an update wait for its turn. Where it is one that waits already, it keeps its place.
func (l *targets) await(t *target, p *pending, now time.Time) {
	if old := t.saved.Pending; old != nil && !old.isAside() && old.same(p) {
		p.Tries, p.Failures, p.At, p.Err, p.Code = old.Tries, old.Failures, old.At, old.Err, old.Code
		p.Failed, p.Limited = old.Failed, old.Limited
	} else {
		p.Failed = old != nil && old.fails()
		l.emit(Updated{l.update(t, p, nil)})
	}
	t.saved.Pending = p
	l.buffer.target(t, now)
	l.queue(t, now)
}

// queue has the update of t wait until its time. A round takes only what is due when it begins, or comes up in it.
func (l *targets) queue(t *target, now time.Time) {
	t.saved.Pending.inReach(now)
	if at := t.saved.Pending.At; l.round == nil || !at.After(now) {
		l.updates.tries.put(t, at)
	}
}

// update is what the handler gets.
func (l *targets) update(t *target, p *pending, most *atomic.Int64) Update {
	u := Update{
		Watch: t.w.Name, URL: t.url, Action: p.Action, Reason: p.Reason, Words: p.Words, Record: p.Record, Last: t.saved.Last,
		Try: p.Tries, Ahead: p.Ahead, Allowance: most,
	}
	if m := l.polls.byID[p.Feed]; m != nil {
		u.Feed = m.feed.Name
	}
	u.Record.URL = cmp.Or(u.Record.URL, t.url) // own observations are stored without
	return u
}

// ordered are the targets in the order of the configuration, those of a glob by their URLs.
func (l *targets) ordered() []*target {
	places := make(map[*watcher]int, len(l.watches))
	for i, w := range l.watches {
		places[w] = i
	}
	list := slices.Collect(maps.Values(l.all))
	slices.SortFunc(list, func(a, b *target) int {
		return cmp.Or(places[a.w]-places[b.w], strings.Compare(a.url, b.url))
	})
	return list
}
