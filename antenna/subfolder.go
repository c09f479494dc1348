package antenna

import (
	"strings"

	"braid/antenna/feed"
)

// The sub-folders of an index page are versions for a watch with a release template that has a field in the name of a
// folder. A sub-folder is no file, so other watches ignore it, and it is not published.

// wantsFolders reports whether a watch may take the sub-folders of a feed for versions. This includes a watch whose
// template has no such field: if an index page has only sub-folders, the status of the watch shows one.
func (m *matcher) wantsFolders(feedName string) bool {
	return len(m.releases[""])+len(m.releases[feedName]) > 0
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
