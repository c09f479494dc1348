package antenna

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"

	"braid/address"
	"braid/antenna/feed"
	"braid/antenna/hinadi"
)

const (
	// maxReports is how many records of one URL are kept of each use, those that feed.Choose prefers; maxGlobbed is how
	// many URLs of a glob are looked at.
	maxReports = 8
	maxGlobbed = 10_000
	// maxRelayed bounds the octets of the records of a feed that are kept to be published again.
	maxRelayed = 16 << 20
)

// A match is a record that is watched, and under which URL.
type match struct {
	w      *watcher
	url    string
	record feed.Record
}

// A found is a record that is watched, slim, while its feed is read. Each URL of a watch that has it is a holder.
type found struct {
	record  feed.Record
	place   int // in the feed
	use     use
	holders int
}

// A use is what feed.Decide could do with a record.
type use int

const (
	useNow   use = iota
	useLater     // it is from the future, and can be used when that has come
	useNever
)

func useOf(r *feed.Record, now feed.Time) use {
	switch why, ok := r.Usable(now); {
	case ok:
		return useNow
	case why == feed.DetectedInFuture || why == feed.ModifiedInFuture:
		return useLater
	}
	return useNever
}

// A placed is a record that is stored, and its place in the feed.
type placed struct {
	record feed.Record
	place  int
}

// A result is what is kept of a feed: what is watched, and what may be published again.
type result struct {
	matches []match
	// stored are all records that are kept, encoded for the store; sum says what of them has changed, in any order.
	stored []byte
	sum    uint64

	records, matched, relayed, skipped int
	// partial: the feed broke behind what there is. What it had before and has not here is not gone.
	partial bool
	// open: nothing says that the feed is whole, so that what the server calls it must not stand for it.
	open bool
	// index is that of sitemaps which are asked for before anything counts; else nil.
	index *sitemapIndex
	// example is a URL of the feed that no watch has.
	example string
	// tooMany are watches of which there are more URLs than are looked at.
	tooMany []string
}

// A collector reads one feed and keeps what is to be kept, in memory that grows with that only.
type collector struct {
	feed  *Feed
	match *matcher
	hosts address.Hosts
	// near is to where URLs of the feed may lead.
	near address.Scope
	// received stands in for the times that records do not have.
	received feed.Time
	now      feed.Time

	result
	list    []placed // what is relayed; what is only watched is added at the end
	octets  int      // of what is relayed
	reports map[urlKey][]*found
	urlKeys []urlKey // in the order in which the feed has them
	globbed map[*watcher]int
	whole   summary
	// children are the sitemaps that an index names; undated: one has no lastmod.
	children []child
	undated  bool
}

// newCollector makes a collector of a feed whose records are judged at that time.
func newCollector(f *Feed, match *matcher, now feed.Time) *collector {
	return &collector{feed: f, match: match, now: now, reports: map[urlKey][]*found{}, globbed: map[*watcher]int{}}
}

// A urlKey is one URL of a watch.
type urlKey struct {
	w   *watcher
	url string
}

// collect reads all records. Where a feed is rejected or its way breaks, nothing of it counts; where a SOIF stream is
// wrong, what came before does.
func (c *collector) collect(records iter.Seq2[feed.Record, error]) (result, error) {
	broke, err := c.take(records)
	if err != nil && !broke {
		return result{}, err
	}
	return c.finish(err)
}

// take looks at all records. Broke: there was an error, and what came before it counts.
func (c *collector) take(records iter.Seq2[feed.Record, error]) (broke bool, err error) {
	for r, err := range records {
		if err != nil {
			reject, ok := errors.AsType[*feed.RejectError](err)
			c.partial = c.records > 0 && ok && reject.Partial
			return c.partial, err
		}
		c.add(r)
	}
	return false, nil
}

func (c *collector) finish(err error) (result, error) {
	c.settle()
	if len(c.list) > 0 {
		slices.SortStableFunc(c.list, func(a, b placed) int { return a.place - b.place })
		list := make([]feed.Record, len(c.list))
		for i := range c.list {
			list[i] = c.list[i].record
		}
		var b bytes.Buffer
		if failed := gob.NewEncoder(&b).Encode(list); failed != nil {
			return result{}, fmt.Errorf("records cannot be stored: %w", failed)
		}
		c.stored = b.Bytes()
	}
	return c.result, err
}

// settle makes hits of what was found, in the order of the feed, and has stored what is not relayed.
func (c *collector) settle() {
	c.tellNews()
	relayed := map[int]bool{}
	for i := range c.list {
		relayed[c.list[i].place] = true
	}
	for _, s := range c.urlKeys {
		list := c.reports[s]
		slices.SortFunc(list, func(a, b *found) int { return a.place - b.place })
		for _, f := range list {
			c.matches = append(c.matches, match{s.w, s.url, f.record})
			if !relayed[f.place] {
				relayed[f.place] = true
				c.keep(f)
			}
		}
	}
}

// keep has the record of f stored, of which nothing is passed on.
func (c *collector) keep(f *found) {
	r := f.record
	r.Extract = c.feed.Relay // there was no room for all of it
	c.list = append(c.list, placed{r, f.place})
}

// add looks at one record.
func (c *collector) add(r feed.Record) {
	c.records++
	c.child(&r)
	if !isWeb(r.URL) {
		c.skipped++
		return
	}
	if c.feed.HatenaTimes && r.LastModified == 0 {
		r.LastModified, _ = hinadi.HatenaModified(r)
	}
	if r.Received == 0 {
		r.Received = c.received
	}
	c.whole.add(&r, c.now)
	var f *found
	watched := false
	c.match.find(c.feed.Name, r, func(w *watcher, url string) {
		s := urlKey{w, url}
		if !c.room(s) {
			return
		}
		watched = true
		if f == nil {
			f = &found{record: r, place: c.records, use: useOf(&r, c.now)}
		}
		c.report(s, f)
	})
	if watched {
		c.matched++
	} else if c.example == "" {
		c.example = strings.Clone(r.URL)
	}
	relays := c.relays(r)
	if relays {
		c.relayed++
		c.list = append(c.list, placed{r, c.records})
	}
	if watched || relays {
		c.sum += sumOf(&r)
	}
	if watched && f.holders > 0 {
		f.record = slimOf(r)
	}
}

// report keeps f as one of a URL, unless there are as many of its use that feed.Choose prefers. Of those that are alike
// the first ones stay.
func (c *collector) report(s urlKey, f *found) {
	list := c.reports[s]
	if list == nil {
		c.urlKeys = append(c.urlKeys, s)
	}
	worst, n := -1, 0
	for i, other := range list {
		if other.use != f.use {
			continue
		}
		n++
		if worst < 0 || !other.record.Before(list[worst].record) {
			worst = i
		}
	}
	switch {
	case n < maxReports:
		list = append(list, f)
	case !f.record.Before(list[worst].record):
		return
	default:
		list[worst].holders--
		list = append(slices.Delete(list, worst, worst+1), f)
	}
	f.holders++
	c.reports[s] = list
}

// room reports whether there is room for what a feed says of a URL.
func (c *collector) room(s urlKey) bool {
	if s.w.glob == nil || c.reports[s] != nil {
		return true
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

// relays reports whether r is kept to be published again. What the user watches is on hosts that the user named;
// anything else must not be internal.
func (c *collector) relays(r feed.Record) bool {
	if !c.feed.Relay || c.relayed >= c.feed.Limits.Relayed {
		return false
	}
	octets := len(r.URL) + len(r.Title) + len(r.Author)
	for _, f := range r.Fields {
		octets += len(f.Name) + len(f.Value)
	}
	if c.octets+octets > maxRelayed {
		return false
	}
	u, err := url.Parse(r.URL)
	if err != nil || c.hosts.Policy(u.Hostname(), c.near).CheckProxied(u.Hostname()) != nil {
		c.skipped++
		return false
	}
	c.octets += octets
	return true
}

// isWeb reports whether a record's URL can be of use: http or https, not too long.
func isWeb(s string) bool {
	if len(s) > feed.MaxURL {
		return false
	}
	scheme, _, ok := strings.Cut(s, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// slimOf returns r without what only matters when it is passed on, and in memory of its own: parts of a long text would
// keep all of it.
func slimOf(r feed.Record) feed.Record {
	r.Fields, r.Keywords, r.Warnings = nil, nil, nil
	for _, s := range []*string{
		&r.URL, &r.Virtual, &r.Title, &r.Author, &r.ContentType, &r.Server, &r.MD5, &r.Agent, &r.AgentURL, &r.Result,
	} {
		*s = strings.Clone(*s)
	}
	r.Method = slices.Clone(r.Method)
	for i, word := range r.Method {
		r.Method[i] = strings.Clone(word)
	}
	return r
}

// sumOf is a hash (FNV-1a) of what r says of its URL, without when it was looked at: that alone is no change.
func sumOf(r *feed.Record) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	octet := func(b byte) { h = (h ^ uint64(b)) * prime }
	for _, s := range [...]string{r.URL, r.Virtual, r.MD5} {
		for i := range len(s) {
			octet(s[i])
		}
		octet(0)
	}
	for _, n := range [...]int64{int64(r.LastModified), r.Size} {
		for ; n != 0; n = int64(uint64(n) >> 8) {
			octet(byte(n))
		}
		octet(0)
	}
	return h
}

// restored decodes what collect has encoded.
func restored(stored []byte) ([]feed.Record, error) {
	if len(stored) == 0 {
		return nil, nil
	}
	var list []feed.Record
	err := gob.NewDecoder(bytes.NewReader(stored)).Decode(&list)
	return list, err
}
