package antenna

import (
	"errors"
	"maps"
	"slices"
	"time"

	"braid/antenna/feed"
	"braid/antenna/release"
)

// A followers decides which releases are updates, for all watches that follow releases. It belongs to the loop.
type followers struct {
	run     *run
	buffer  *buffer
	targets *targets
	updates *updates
	all     []*following
	asked   asked
}

// report replaces the releases that m reports by the releases in k.
func (f *followers) report(m *member, k *result, now time.Time) {
	if len(f.all) == 0 {
		return
	}
	heard := releasesIn(k.matches)
	for _, g := range f.all {
		if g.hear(m, heard[g], k.partial) {
			f.decide(g, now)
		}
	}
}

// releasesIn returns the releases among the matches of a feed.
func releasesIn(matches []match) map[*following][]reported {
	heard := map[*following][]reported{}
	for _, h := range matches {
		if h.w.follow == nil {
			continue
		}
		if r, ok := h.w.Releases.Template.Of(h.record); ok {
			heard[h.w.follow] = append(heard[h.w.follow], reported{r, h.record})
		}
	}
	return heard
}

// recall restores the releases that m reports.
func (f *followers) recall(m *member, matches []match) {
	for g, list := range releasesIn(matches) {
		g.hear(m, list, false)
	}
}

// review decides about the stored reports. In a round with names, it decides only for the named watches and for watches
// of the named feeds.
func (f *followers) review(now time.Time) {
	for _, g := range f.all {
		if r := f.run.round; r == nil || len(r.names) == 0 || slices.ContainsFunc(r.names, g.isMeant) {
			f.decide(g, now)
		}
	}
}

// decide determines which releases of a watch are updates. It adds at most one update at a time, that of the newest
// release that was not tried yet.
func (f *followers) decide(g *following, now time.Time) {
	defer f.tell(g)
	if t := g.running(); t != nil {
		t.again = true
		return
	}
	offers := g.offers()
	list, unordered := g.candidates(offers)
	if unordered && !g.unordered {
		g.unordered = true
		f.run.emit(Skipped{Watch: g.w.Name, Why: Unordered})
	}
	f.sweep(g, list, offers, now)
	f.promote(g, now)
	f.renew(g, offers, now)
	f.next(g, list, offers, now)
	if t := g.placed(); t != nil && offers[t.url] != nil {
		f.recheck(t, offers[t.url], now)
	}
}

// sweep drops the open releases that are not in list, and the given-up releases that are not newer than the current
// version. Of the other given-up releases, it keeps the maxGivenUp with the latest Since.
func (f *followers) sweep(g *following, list []release.Release, offers map[string]*offer, now time.Time) {
	still := map[string]bool{}
	for _, r := range list {
		still[r.URL] = true
	}
	version := g.version()
	for _, t := range slices.Collect(maps.Values(g.targets)) {
		r := t.saved.Release
		if r.isOpen() && !still[t.url] && (!r.Begun && g.isGone(t, offers) || g.excludes(t)) {
			f.run.emit(Withdrawn{Watch: g.w.Name, Release: t.release()})
		}
		if r.isOpen() && !still[t.url] || r.Stage == givenUp && version != "" && release.Compare(r.Version, version) <= 0 {
			f.drop(t, now)
		}
	}
	late := g.in(givenUp)
	slices.SortStableFunc(late, func(a, b *target) int { return b.saved.Release.Since.Compare(a.saved.Release.Since) })
	for _, t := range late[min(len(late), maxGivenUp):] {
		f.drop(t, now)
	}
}

// tell emits Followed if the newest version or the number of waiting releases has changed.
func (f *followers) tell(g *following) {
	is := Followed{Watch: g.w.Name, Newest: g.summary().Newest, Waiting: g.waits()}
	if is != g.told {
		g.told = is
		f.run.emit(is)
	}
}

func (f *followers) drop(t *target, now time.Time) {
	f.unhear(t)
	f.updates.tries.remove(t)
	delete(f.targets.all, urlKey{t.w, t.url})
	delete(t.w.follow.targets, t.url)
	delete(f.buffer.targets, t)
	f.buffer.gone(targetKey(t), now)
}

// fewFailures is how often the update to a release must fail before an older release is tried. After fewer failures,
// the server may be unreachable only for a moment. After a lasting error, the older release is tried immediately.
const fewFailures = 3

// next adds an update for the first release of list that was not tried yet. It adds none if an earlier release of list
// is about to be tried, has failed only a few times, or may have put its file in place.
func (f *followers) next(g *following, list []release.Release, offers map[string]*offer, now time.Time) {
	for _, r := range list {
		t := g.targets[r.URL]
		if t == nil {
			f.add(g, offers[r.URL], now)
			return
		}
		p, of := t.saved.Pending, t.saved.Release
		if of.Stage == offered && (p == nil || of.Begun || !p.Lasting && p.Failures < fewFailures) {
			return
		}
	}
}

// add adds the update to the release of o.
func (f *followers) add(g *following, o *offer, now time.Time) {
	t := f.targets.target(urlKey{g.w, o.URL}, nil)
	t.saved.Release = &savedRelease{Tag: o.Tag, Version: o.Version, Date: o.Date, Pre: o.Pre}
	words := "version " + o.Version
	if version := g.version(); version != "" {
		words += " is newer than " + version
	}
	t.saved.Reason, t.saved.Words, t.saved.Reported = Released, words, now
	f.targets.await(t, o.pending(words, now), now)
}

// pending returns the update to the release of o.
func (o *offer) pending(words string, now time.Time) *pending {
	records, from := o.about()
	v := feed.Decide(feed.State{}, records, feed.At(now))
	i := max(v.Chosen, 0)
	return &pending{
		Action: feed.Download, Reason: Released, Words: words, Record: records[i], Feed: from[i].id, Next: v.Next,
		At: now,
	}
}

// renew gives the waiting updates the records that the feeds report now. After the file of a tag was replaced, the
// digest that was first reported for the tag never matches.
func (f *followers) renew(g *following, offers map[string]*offer, now time.Time) {
	for url, o := range offers {
		t := g.targets[url]
		if t == nil || t.saved.Pending == nil || t.saved.Pending.Reason != Released {
			continue
		}
		p, renewed := t.saved.Pending, o.pending("", now)
		if !p.reportsAs(renewed) {
			p.Record, p.Feed, p.Next = renewed.Record, renewed.Feed, renewed.Next
			f.buffer.target(t, now)
		}
	}
}

// recheck decides whether the file of the current version has changed. It uses only reports about that file, not about
// other files of the release.
func (f *followers) recheck(t *target, o *offer, now time.Time) {
	f.unhear(t)
	for i, r := range o.records {
		if key, _ := feed.Key(r.URL); r.Tag == "" || key == t.url {
			m := o.from[i]
			t.reports[m] = append(t.reports[m], r)
			m.targets[t] = true
		}
	}
	if len(t.reports) > 0 {
		f.targets.decide(t, now)
	}
}

// unhear removes the reports about the file of t.
func (f *followers) unhear(t *target) {
	for m := range t.reports {
		delete(m.targets, t)
		delete(m.revisit, t)
	}
	clear(t.reports)
}

// ended decides again after the update of t has ended.
func (f *followers) ended(t *target, now time.Time) {
	if t.renounce {
		t.renounce = false
		f.renounce(t, now)
	}
	f.decide(t.w.follow, now)
}

// wait schedules another try of the release of t, which is not ready.
func (f *followers) wait(t *target, e *NotYet, now time.Time) {
	r, p := t.saved.Release, t.saved.Pending
	if r.Since.IsZero() {
		r.Since = now
	}
	r.Asked++
	r.Why, r.Begun = f.run.text(e.Err)+t.w.follow.otherFiles(t), false
	p.Failures, p.Err, p.Code = 0, "", 0
	d, _ := release.Delay(r.Asked, now.Sub(r.Since))
	p.At = now.Add(max(d, min(e.After, maxRetryAfter)))
	if r.Stage != inPlace { // the current version stays although its origin has no file for now
		r.Stage = waiting
		f.arrange(t.w.follow, t, d, now)
	}
}

// arrange is called after t was not ready. If more than maxWaiting releases wait, the release that was tried most often
// rests. Otherwise, if the delay d of t is at least restingAfter, t rests and a resting release waits instead, so that
// no release holds up the others.
func (f *followers) arrange(g *following, t *target, d time.Duration, now time.Time) {
	list := g.in(waiting)
	if len(list) > maxWaiting {
		f.rest(slices.MaxFunc(list, func(a, b *target) int {
			if n := a.saved.Release.Asked - b.saved.Release.Asked; n != 0 {
				return n
			}
			return newerFirst(a, b)
		}), now)
		return
	}
	if d < restingAfter || len(g.in(resting)) == 0 {
		return
	}
	f.rest(t, now)
	f.promote(g, now)
}

// rest makes a waiting release rest.
func (f *followers) rest(t *target, now time.Time) {
	t.saved.Release.Stage = resting
	f.updates.tries.remove(t)
	f.buffer.target(t, now)
}

// promote makes resting releases wait until maxWaiting releases wait. Releases that were tried least often come first.
func (f *followers) promote(g *following, now time.Time) {
	list := g.in(resting)
	slices.SortStableFunc(list, func(a, b *target) int { return a.saved.Release.Asked - b.saved.Release.Asked })
	for _, t := range list[:min(len(list), max(0, maxWaiting-len(g.in(waiting))))] {
		t.saved.Release.Stage = waiting
		f.buffer.target(t, now)
		f.targets.queue(t, now)
	}
}

// acknowledged records that the update of t is done.
func (f *followers) acknowledged(t *target, o *Outcome, now time.Time) {
	r := t.saved.Release
	if o.Declined && r.Stage != inPlace {
		r.Begun = false
		f.renounce(t, now)
		t.saved.Release.Declined = true
		return
	}
	r.Stage, r.Since, r.Asked, r.Why, r.Begun = inPlace, time.Time{}, 0, "", false
	f.replaced(t.w.follow, now)
	for _, other := range t.w.follow.in(inPlace) {
		if other != t {
			f.drop(other, now)
		}
	}
}

// giveUp records that the release of t was not ready for too long. The current version stays.
func (f *followers) giveUp(t *target, h *Handled, now time.Time) {
	r, p := t.saved.Release, t.saved.Pending
	if r.Stage == inPlace {
		if !p.isAside() {
			t.saved.State = p.Next
		}
		r.Since, r.Asked, r.Why = time.Time{}, 0, ""
	} else {
		r.Stage, r.Why, r.Begun = givenUp, p.Err, false
	}
	t.saved.Pending, h.Next = nil, time.Time{}
	f.buffer.target(t, now)
}

// isLast reports whether the release of t is given up if its running update finds it not ready.
func (f *followers) isLast(t *target, now time.Time) bool {
	r := t.saved.Release
	if r == nil || r.Since.IsZero() {
		return false
	}
	_, over := release.Delay(r.Asked+1, now.Sub(r.Since))
	return over
}

// settle keeps only the newest version in place of each watch. Only a restored store has several.
func (f *followers) settle(now time.Time) {
	for _, g := range f.all {
		for _, t := range g.in(inPlace)[min(1, len(g.in(inPlace))):] {
			f.drop(t, now)
		}
	}
}

// isLate reports whether err says that the release of t is not ready, and returns the NotYet in err.
func isLate(t *target, err error) (*NotYet, bool) {
	e, ok := errors.AsType[*NotYet](err)
	return e, ok && t.w.follow != nil
}
