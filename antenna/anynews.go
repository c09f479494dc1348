package antenna

import (
	"fmt"

	"braid/antenna/feed"
)

// A summary summarizes a feed, for watches of a file that the feed need not list (Watch.AnyNews).
type summary struct {
	newest feed.Time // latest plausible time
	sum    uint64    // sum of the hashes of all URLs, whatever their order
}

func (n *summary) add(r *feed.Record, now feed.Time) {
	if r.LastModified <= now+feed.Skew {
		n.newest = max(n.newest, r.LastModified)
	}
	n.sum += sumOf(&feed.Record{URL: r.URL})
}

// tellNews adds a record, like that of a sitemap, for the file of each watch with AnyNews. The record has the
// modification time of the newest entry, and the sum of the URLs as a digest, because entries may have no times, and a new
// entry may have an earlier time than others. The file is then requested conditionally, so that nothing happens if the
// file has not changed.
func (c *collector) tellNews() {
	for i, w := range c.match.any {
		if c.records == 0 || w.feeds != nil && !w.feeds[c.feed.Name] {
			continue
		}
		r := feed.Record{URL: withoutUser(w.URL), Format: feed.Sitemap, Received: c.received, LastModified: c.whole.newest}
		if !c.partial { // the sum of a partial feed is not comparable
			r.MD5 = fmt.Sprintf("%032x", c.whole.sum)
		}
		c.report(urlKey{w, w.URL}, &found{record: r, place: c.records + 1 + i, use: useOf(&r, c.now)})
		c.sum += sumOf(&r)
	}
}
