package antenna

import (
	"slices"
	"strings"

	"braid/antenna/feed"
)

// The sub-folders of an index page are versions for a watch with a release template that has a field in the name of a
// folder. A sub-folder is no file, so other watches ignore it, and it is not published.

// wantsFolders reports whether a watch takes the sub-folders of a feed for versions.
func (m *matcher) wantsFolders(feedName string) bool {
	takes := func(w *watcher) bool { return w.Releases.Template.HasFolders() }
	return slices.ContainsFunc(m.releases[""], takes) || slices.ContainsFunc(m.releases[feedName], takes)
}

// isFolder reports whether r is the record of a sub-folder of an index page.
func isFolder(r *feed.Record) bool {
	return r.Format == feed.IndexPage && strings.HasSuffix(r.URL, "/")
}

// addFolder adds the record of a sub-folder, without date and size, because these do not describe a file.
func (c *collector) addFolder(r feed.Record) {
	r.LastModified, r.Size, r.Received = 0, 0, c.received
	f := &found{record: slimOf(r), place: c.records, use: useOf(&r, c.now)}
	c.match.find(c.feed.Name, r, func(w *watcher, url string) {
		if s := (urlKey{w, url}); w.follow != nil && c.room(s) {
			c.report(s, f)
		}
	})
	switch {
	case f.holders > 0:
		c.matched++
		c.sum += sumOf(&r)
	case c.example == "":
		c.example = strings.Clone(r.URL)
	}
}
