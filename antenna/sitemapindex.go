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

// maxSitemaps is how many sitemaps of an index are read: those of the latest lastmod.
const maxSitemaps = 50

// A sitemapIndex is an index of sitemaps, as sitemaps.org has them, that is being followed: its sitemaps are asked for
// one after the other, as redirects are, and are one feed together. Only those of the server of the index are: no feed
// leads to another host (rule 53).
type sitemapIndex struct {
	c     *collector
	todo  []*url.URL
	asked int
	bytes int64
	// etag, modified and of are those of the index. Without them it is read each time: it does not say when its sitemaps change.
	etag, modified, of string
	failed             int
	err                error // of the first that could not be read
}

// A child is a sitemap that an index names.
type child struct {
	url     string
	lastmod feed.Time
}

// child keeps r if it is of an index of sitemaps.
func (c *collector) child(r *feed.Record) {
	if r.Format == feed.Sitemap && len(r.Fields) > 0 && r.Fields[0].Name == "sitemap" {
		c.children = append(c.children, child{strings.Clone(r.URL), r.LastModified})
		if len(c.children) >= 4*maxSitemaps { // of a hundred thousand
			c.newest()
		}
	}
}

// newest leaves the children of the latest lastmod.
func (c *collector) newest() {
	c.undated = c.undated || slices.ContainsFunc(c.children, func(s child) bool { return s.lastmod == 0 })
	slices.SortStableFunc(c.children, func(a, b child) int { return cmp.Compare(b.lastmod, a.lastmod) })
	c.children = c.children[:min(len(c.children), maxSitemaps)]
}

// index is what is asked next if c has read an index; nil if it has not, or nothing of it is to be asked.
func (c *collector) index(t *task) *sitemapIndex {
	if t.URL == nil || len(c.children) == 0 {
		return nil
	}
	c.newest()
	x := &sitemapIndex{c: c}
	for _, s := range c.children {
		u, err := url.Parse(s.url)
		if err == nil && u.Scheme == t.URL.Scheme && strings.EqualFold(address.HostPort(u), address.HostPort(t.URL)) && u.String() != t.URL.String() {
			x.todo = append(x.todo, web.Plain(u))
		}
	}
	if len(x.todo) == 0 {
		return nil
	}
	return x
}

// next is the request for the next sitemap.
func (x *sitemapIndex) next(t *task) *task {
	again := *t
	again.index, again.plain, again.challenges = x, true, 0
	again.URL = x.todo[0]
	x.todo = x.todo[1:]
	x.asked++
	return &again
}

// followed takes the answer for a sitemap of an index, which is that of the feed when it was the last one. Should the
// server want to be left alone, or one be missing, what the others have counts, and what was known before stays.
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
	return answer{status: a.status, bytes: x.bytes, busy: a.busy, result: &k, err: err, etag: x.etag, modified: x.modified, of: x.of}
}
