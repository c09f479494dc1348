package antenna

import (
	"slices"

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
