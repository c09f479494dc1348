package antenna

import (
	"cmp"
	"slices"
	"time"

	"braid/antenna/release"
)

// room reports whether a record of the URL of s can be added.
func (c *collector) room(s urlKey) bool {
	if !s.w.isMany() || c.reports[s] != nil {
		return true
	}
	if c.globbed[s.w] >= maxGlobbed && s.w.follow != nil {
		c.dropOldest(s.w)
	}
	if c.globbed[s.w] >= maxGlobbed {
		if !slices.Contains(c.tooMany, s.w.Name) {
			c.tooMany = append(c.tooMany, s.w.Name)
		}
		return false
	}
	c.globbed[s.w]++
	return true
}

// anySemantic sorts before all semantic versions, and anyName before all other versions.
const anySemantic, anyName = "0", "~"

// dropOldest drops releases of a watch, so that others can be added. It keeps the newest releases that are wanted: a
// feed may list too many, and the newest last. The current version is not known here and may be of another kind
// (semantic or not) than most versions, so the newest of each kind are kept, too.
func (c *collector) dropOldest(w *watcher) {
	var all []release.Release
	for _, s := range c.urlKeys {
		if r, ok := w.Releases.Template.Of(c.reports[s][0].record); ok && s.w == w {
			all = append(all, r)
		}
	}
	kept := map[string]bool{}
	for place, most := range map[string]int{"": maxGlobbed / 2, anySemantic: maxGlobbed / 8, anyName: maxGlobbed / 8} {
		newest, _ := w.Releases.Choice.Newer(all, place)
		for _, r := range newest[:min(len(newest), most)] {
			kept[r.URL] = true
		}
	}
	c.urlKeys = slices.DeleteFunc(c.urlKeys, func(s urlKey) bool {
		if s.w != w || kept[s.url] {
			return false
		}
		for _, f := range c.reports[s] {
			f.holders--
		}
		delete(c.reports, s)
		c.globbed[w]--
		return true
	})
}

// roomAtOnce is how many URLs of a glob are dropped at once, because all URLs must be examined to find them.
const roomAtOnce = maxGlobbed / 100

// makeRoom drops URLs of a glob that no feed lists any more, the URLs listed longest ago first. URLs whose update
// failed are dropped last. URLs that wait for their first attempt are kept. If there is none to drop, makeRoom drops
// URLs that crowd out m. It reports whether it dropped any.
func (l *targets) makeRoom(w *watcher, m *member) bool {
	var old []*target
	for _, t := range l.all {
		if p := t.saved.Pending; t.w == w && len(t.reports) == 0 && !t.running && (p == nil || p.fails()) {
			old = append(old, t)
		}
	}
	if len(old) == 0 {
		old = l.crowd(w, m)
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
		for m := range t.reports {
			delete(m.targets, t)
			delete(m.revisit, t)
		}
		delete(l.all, urlKey{w, t.url})
		delete(l.buffer.targets, t)
		l.buffer.gone(targetKey(t), time.Now())
		l.globbed[w]--
	}
	return len(old) > 0
}

// crowd returns the URLs of a glob that were never downloaded and that one feed alone has reported, if these take more
// than half of the room and the feed is not m. Otherwise a feed could keep out the URLs of all others.
func (l *targets) crowd(w *watcher, m *member) (most []*target) {
	by := map[string][]*target{}
	for _, t := range l.all {
		if t.w != w || t.running || t.saved.State.HaveCopy || len(t.reports) > 1 {
			continue
		}
		id := ""
		if p := t.saved.Pending; p != nil {
			id = p.Feed
		}
		for m := range t.reports {
			id = m.id
		}
		if by[id] = append(by[id], t); len(by[id]) > maxGlobbed/2 {
			most = by[id]
		}
	}
	if m == nil || len(by[m.id]) == len(most) {
		return nil
	}
	return most
}
