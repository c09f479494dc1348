package antenna

import (
	"slices"

	"braid/antenna/release"
)

// room reports whether a record of a URL can be added.
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

// dropOldest makes room for releases of a watch: it keeps the newest half of those that are wanted. A feed may list more
// than are kept, and the newest last.
func (c *collector) dropOldest(w *watcher) {
	var all []release.Release
	for _, s := range c.urlKeys {
		if r, ok := w.Releases.Template.Of(c.reports[s][0].record); ok && s.w == w {
			all = append(all, r)
		}
	}
	newest, _ := w.Releases.Choice.Newer(all, "")
	kept := map[string]bool{}
	for _, r := range newest[:min(len(newest), maxGlobbed/2)] {
		kept[r.URL] = true
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
