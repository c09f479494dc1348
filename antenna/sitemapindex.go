package antenna

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"braid/address"
	"braid/antenna/feed"
	"braid/internal/web"
)

// maxSitemaps limits the sitemaps of an index that are read. Sitemaps with the latest lastmod are read.
const maxSitemaps = 50

// A sitemapIndex is an index of sitemaps (sitemaps.org) that is being read. Its sitemaps are requested one after the
// other, like redirects, and form one feed. Sitemaps on other servers than the index are ignored, because a feed must
// not lead to another host (rule 53).
type sitemapIndex struct {
	c     *collector
	todo  []*url.URL
	asked int
	bytes int64
	// etag, modified and of are the validators of the index and the hash of its URL. They are empty if a sitemap may
	// change without a change of the index, so that the index is read each time.
	etag, modified, of string
	failed             int
	err                error // of the first sitemap that failed
}

// A child is a sitemap in an index.
type child struct {
	url     string
	lastmod feed.Time
}

// child adds r if it is a sitemap in an index.
func (c *collector) child(r *feed.Record) {
	if r.Format == feed.Sitemap && len(r.Fields) > 0 && r.Fields[0].Name == "sitemap" {
		c.children = append(c.children, child{strings.Clone(r.URL), r.LastModified})
		if len(c.children) >= 4*maxSitemaps { // an index may list a hundred thousand
			c.newest()
		}
	}
}

// newest drops all but the children with the latest lastmod.
func (c *collector) newest() {
	c.undated = c.undated || slices.ContainsFunc(c.children, func(s child) bool { return s.lastmod == 0 })
	slices.SortStableFunc(c.children, func(a, b child) int { return cmp.Compare(b.lastmod, a.lastmod) })
	c.children = c.children[:min(len(c.children), maxSitemaps)]
}

// index returns the state for reading the sitemaps of an index. It returns nil if the feed is not an index or has no
// sitemap to read.
func (c *collector) index(t *task) *sitemapIndex {
	if t.URL == nil || len(c.children) == 0 {
		return nil
	}
	c.newest()
	x := &sitemapIndex{c: c}
	for _, s := range c.children {
		over, isDay := feed.Record{Format: feed.Sitemap, LastModified: s.lastmod}.DayOver()
		c.undated = c.undated || isDay && c.now < over
		u, err := url.Parse(s.url)
		if err == nil && u.Scheme == t.URL.Scheme && strings.EqualFold(address.HostPort(u),
			address.HostPort(t.URL)) && u.String() != t.URL.String() {
			x.todo = append(x.todo, web.Plain(u))
		}
	}
	if len(x.todo) == 0 {
		return nil
	}
	return x
}

// next returns the request for the next sitemap.
func (x *sitemapIndex) next(t *task) *task {
	again := *t
	again.index, again.plain, again.challenges = x, true, 0
	again.URL = x.todo[0]
	x.todo = x.todo[1:]
	x.asked++
	return &again
}

// followed handles the response for a sitemap of an index. After the last sitemap, it returns the answer of the feed.
// If the server asks for a pause or a sitemap is missing, the sitemaps that were read are used and the previous records
// are kept.
func (x *sitemapIndex) followed(ctx context.Context, t *task, a answer) answer {
	if a.again != nil || ctx.Err() != nil {
		return a
	}
	x.bytes += a.bytes
	if a.err != nil {
		x.failed++
		x.err = cmp.Or(x.err, a.err)
	}
	if len(x.todo) > 0 && a.busy == 0 {
		return answer{again: x.next(t)}
	}
	k, err := x.c.finish(nil)
	if missing := x.failed + len(x.todo); err == nil && missing > 0 {
		k.partial = true
		err = fmt.Errorf("%d of %d sitemaps of the index were not read: %w", missing, x.asked+len(x.todo), x.err)
	}
	x.c = nil
	return answer{status: a.status, bytes: x.bytes, busy: a.busy, result: &k, err: err, etag: x.etag,
		modified: x.modified, of: x.of}
}
