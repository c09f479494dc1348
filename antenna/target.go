package antenna

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"braid/address"
	"braid/antenna/feed"
)

// A target is one URL of a watch, with its state.
type target struct {
	queued // in the lane of its watch
	w      *watcher
	url    string
	saved  savedTarget
	// reports has the latest records of each feed about url.
	reports map[*member][]feed.Record
	// day is the day on which the running update began.
	day int64
	// running reports that the handler runs. again reports that new reports arrived meanwhile. forget reports that a
	// request to forget the target arrived.
	running, again, forget bool
	// held reports that the update was due in a round, and waits for polls.
	held bool
	// last reports that the release is given up if the running update finds it not ready. renounce reports that a
	// request to renounce the release arrived meanwhile.
	last, renounce bool
	// sent is how many requests the last attempt for a release sent to each host.
	sent map[string]int
}

// A targets holds the URLs of the watches with their reports.
type targets struct {
	run     *run
	buffer  *buffer
	polls   *polls
	updates *updates
	follow  *followers
	watches []*watcher
	all     map[urlKey]*target
	globbed map[*watcher]int // number of targets by glob
}

// target returns the target of a URL. For a glob, it creates the target, unless the glob has too many. m is the member
// that reports the URL, or nil.
func (l *targets) target(s urlKey, m *member) *target {
	t := l.all[s]
	if t != nil {
		return t
	}
	if s.w.glob != nil {
		if l.globbed[s.w] >= maxGlobbed && !l.makeRoom(s.w, m) {
			return nil
		}
		l.globbed[s.w]++
	}
	t = &target{w: s.w, url: s.url, reports: map[*member][]feed.Record{}}
	t.saved.Watch, t.saved.Print = s.w.Name, s.w.Print
	if s.w.isMany() {
		t.saved.URL = s.url
	}
	if s.w.follow != nil {
		s.w.follow.targets[s.url] = t
	}
	l.all[s] = t
	return t
}

// report replaces the reports of m by the reports in k.
func (l *targets) report(m *member, k *result, now time.Time) {
	gone := l.dropped(m, k)
	var order []*target
	says := map[*target][]feed.Record{}
	full := k.tooMany
	noRoom := map[*watcher]bool{} // full globs; a full glob stays full during this loop
	for _, h := range k.matches {
		s := urlKey{h.w, h.url}
		if h.w.follow != nil || noRoom[h.w] && l.all[s] == nil {
			continue
		}
		t := l.target(s, m)
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
		t.reports[m], m.targets[t] = says[t], true // set immediately, so that makeRoom keeps t
	}
	for _, name := range full {
		l.run.emit(Skipped{Feed: m.feed.Name, Watch: name, Why: TooMany})
	}
	for _, t := range order {
		t.saved.Reported = now
		l.decide(t, now)
	}
	for _, t := range gone {
		if l.all[urlKey{t.w, t.url}] == t { // not dropped by makeRoom
			l.decide(t, now)
		}
	}
	l.follow.report(m, k, now)
}

// dropped removes the reports of m about URLs that m no longer lists, and returns their targets. It must be called
// before new targets are created, so that makeRoom may drop the targets without reports.
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

// revisit decides again about the targets in m.revisit.
func (l *targets) revisit(m *member, now time.Time) {
	for _, t := range slices.Collect(maps.Keys(m.revisit)) {
		l.decide(t, now)
	}
}

// decide evaluates the latest reports of all feeds about t (see feed.Decide), and adds an update if the reports require
// one. It handles changes of a file. followers handles new versions.
func (l *targets) decide(t *target, now time.Time) {
	if t.running {
		t.again = true
		return
	}
	v, records, from := l.verdict(t, now)
	for m := range t.reports {
		delete(m.revisit, t)
		if slices.ContainsFunc(t.reports[m],
			func(r feed.Record) bool { return useOf(&r, feed.At(now)) == useLater || t.lastOfDay(&r) }) {
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
		Action: v.Action, Reason: v.Reason, Words: v.Words, Record: records[v.Chosen], Feed: from[v.Chosen].id,
		Next: v.Next, At: now,
	}, now)
}

// verdict evaluates the latest reports of all feeds about t. If the feed of the decisive report has reached its daily
// limit, but the reports of other feeds require an action, too, their verdict counts.
func (l *targets) verdict(t *target, now time.Time) (v feed.Verdict, records []feed.Record, from []*member) {
	for spent := map[*member]bool{}; ; spent[from[v.Chosen]] = true {
		var list []feed.Record
		var of []*member
		for _, m := range l.reporters(t) {
			if !spent[m] {
				list, of = append(list, t.reports[m]...), append(of, slices.Repeat([]*member{m}, len(t.reports[m]))...)
			}
		}
		next := feed.Decide(t.saved.State, list, feed.At(now))
		if len(spent) > 0 && next.Action == feed.None {
			return v, records, from
		}
		v, records, from = next, list, of
		if v.Action == feed.None {
			return v, records, from
		}
		if _, ok := from[v.Chosen].left(t.saved.Pending, now); ok {
			return v, records, from
		}
	}
}

// lastOfDay reports whether r states only the day of the modification, and the origin was last asked before that day
// was over. A later change on that day does not show in r.
func (t *target) lastOfDay(r *feed.Record) bool {
	over, ok := r.DayOver()
	last := t.saved.Last.At
	return ok && t.saved.State.HaveCopy && !last.IsZero() && r.LastModified <= feed.At(last) && feed.At(last) < over
}

// askAfterDay changes a verdict without action to a recheck, if the day of a record with only a date is over.
func (t *target) askAfterDay(v feed.Verdict, records []feed.Record, now time.Time) feed.Verdict {
	for i := range records {
		if over, _ := records[i].DayOver(); t.lastOfDay(&records[i]) && feed.At(now) >= over {
			v.Action, v.Reason, v.Chosen, v.Words = feed.Recheck, feed.Modified, i,
				"modified on a past day, possibly more than once"
			return v
		}
	}
	return v
}

// fetchToSee changes a verdict without action to a fetch if only a fetch shows whether the file has changed: a response
// to a check had nothing to compare, and the file was not fetched since. A file that a feed lists without a date is
// fetched once. If any record is usable, fetchToSee returns v unchanged.
func (t *target) fetchToSee(v feed.Verdict, records []feed.Record, from []*member, now time.Time) feed.Verdict {
	look, last := -1, t.saved.Last.At
	for i := range records {
		switch why, ok := records[i].Usable(feed.At(now)); {
		case ok:
			return v
		case why != feed.NoInformation:
		case from[i].feed.Kind == Page && (last.After(now) || feed.At(last) < records[i].Detected):
			look = i
		case !t.saved.State.HaveCopy && records[i].IsNews():
			look = i
		}
	}
	switch {
	case look < 0:
	case t.saved.State.HaveCopy:
		v.Action, v.Reason, v.Chosen = feed.Recheck, feed.NoInformation, look
		v.Words = "the server sends no Last-Modified, ETag or length: only a download shows whether the file has changed"
	default:
		v.Action, v.Reason, v.Chosen, v.Words = feed.Download, feed.FirstSight, look, "nothing was downloaded yet"
	}
	return v
}

// useless emits an event if the file of t was never downloaded and the records of m about it are unusable.
func (l *targets) useless(t *target, m *member, v feed.Verdict) {
	if t.saved.State.HaveCopy || t.saved.Pending != nil || t.w.useless == v.Reason { // reported once for a watch, even for a glob
		return
	}
	t.w.useless = v.Reason
	l.run.emit(Skipped{Feed: m.feed.Name, Watch: t.w.Name, Why: Why(v.Reason)})
}

// reporters returns the members with reports about t in the order of the configuration: of equal reports, the first is
// used.
func (l *targets) reporters(t *target) []*member {
	list := make([]*member, 0, len(t.reports))
	for m := range t.reports {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *member) int { return a.order - b.order })
	return list
}

// noAction records v, which has no action. While the update of a report waits, the State of t does not change.
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

// await makes p the waiting update of t. If the previous update is for the same version, p takes over the time and the
// attempts of that update, but not the wait because of the limits of another feed.
func (l *targets) await(t *target, p *pending, now time.Time) {
	if old := t.saved.Pending; old != nil && !old.isAside() && old.same(p) {
		p.Tries, p.Failures, p.Err, p.Code = old.Tries, old.Failures, old.Err, old.Code
		p.Failed, p.Lasting = old.Failed, old.Lasting
		if !old.Limited || old.Feed == p.Feed {
			p.At, p.Limited = old.At, old.Limited
		}
	} else {
		p.Failed = old != nil && old.fails()
		l.run.emit(Updated{l.update(t, p, nil)})
	}
	t.saved.Pending = p
	l.buffer.target(t, now)
	l.queue(t, now)
}

// queue schedules the update of t, unless t is a release that rests. A round schedules only an update that is due now.
func (l *targets) queue(t *target, now time.Time) {
	if r := t.saved.Release; r != nil && r.Stage == resting {
		return
	}
	t.saved.Pending.inReach(now)
	if at := t.saved.Pending.At; l.run.round == nil || !at.After(now) {
		l.updates.tries.put(t, at)
	}
}

// update returns the Update for the handler. most is its Allowance.
func (l *targets) update(t *target, p *pending, most *atomic.Int64) Update {
	u := Update{
		Watch: t.w.Name, URL: t.url, Action: p.Action, Reason: p.Reason, Words: p.Words, Record: p.Record, Last: t.saved.Last,
		Try: p.Tries, Ahead: p.Ahead, Allowance: most,
	}
	if m := l.polls.byID[p.Feed]; m != nil {
		u.Feed, u.SameServer = m.feed.Name, !m.feed.Local && address.SameOrigin(m.feed.URL, t.url)
	}
	u.Record.URL = cmp.Or(u.Record.URL, t.url) // the antenna's own observations are stored without a URL
	t.describe(&u)
	return u
}

// ordered returns the targets in the order of the configuration. Targets of a glob are ordered by URL, and releases by
// version, the newest first.
func (l *targets) ordered() []*target {
	places := make(map[*watcher]int, len(l.watches))
	for i, w := range l.watches {
		places[w] = i
	}
	list := slices.Collect(maps.Values(l.all))
	slices.SortFunc(list, func(a, b *target) int {
		if a.w == b.w && a.w.follow != nil {
			return newerFirst(a, b)
		}
		return cmp.Or(places[a.w]-places[b.w], strings.Compare(a.url, b.url))
	})
	return list
}
