package antenna

import (
	"fmt"

	"braid/antenna/feed"
)

// A summary is what a feed says as a whole, for watches of a file that it need not list (Watch.AnyNews).
type summary struct {
	newest feed.Time // that can be believed
	sum    uint64    // of all URLs, in any order, for feeds without times
}

// add looks at one record.
func (n *summary) add(r *feed.Record, now feed.Time) {
	if r.LastModified <= now+feed.Skew {
		n.newest = max(n.newest, r.LastModified)
	}
	n.sum += sumOf(&feed.Record{URL: r.URL})
}

// tellNews reports the file of each such watch, as a sitemap would: modified when the newest entry was, or with another
// sum if entries are without times. So the origin is asked whether the file is another one, and nothing comes of it if
// it is not.
func (c *collector) tellNews() {
	for i, w := range c.match.any {
		if c.records == 0 || w.feeds != nil && !w.feeds[c.feed.Name] {
			continue
		}
		r := feed.Record{URL: withoutUser(w.URL), Format: feed.Sitemap, Received: c.received, LastModified: c.whole.newest}
		if r.LastModified == 0 && !c.partial { // what a part of a feed lists is no news
			r.MD5 = fmt.Sprintf("%032x", c.whole.sum)
		}
		c.report(urlKey{w, w.URL}, &found{record: r, place: c.records + 1 + i, use: useOf(&r, c.now)})
		c.sum += sumOf(&r)
	}
}
