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
	// maxReports limits the records that are kept for one URL with the same use. The records that feed.Choose prefers
	// are kept. maxGlobbed limits the URLs of a watch that has a glob or follows releases.
	maxReports = 8
	maxGlobbed = 10_000
	// maxRelayed limits the total size of the records of a feed that are kept for publication, in bytes.
	maxRelayed = 16 << 20
)

// A match is a record about url, which w watches.
type match struct {
	w      *watcher
	url    string
	record feed.Record
}

// A found is a record about a watched URL, while its feed is read. holders counts the lists in collector.reports that
// contain the found.
type found struct {
	record  feed.Record
	key     string // feed.Key of the record's URL
	place   int    // position in the feed
	use     use
	holders int
}

// A use states whether feed.Decide can use a record.
type use int

const (
	useNow   use = iota
	useLater     // the times of the record are in the future
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

// A placed is a record to store, with its position in the feed.
type placed struct {
	record feed.Record
	place  int
}

// A result has the kept parts of a feed: the matches, and the records to relay.
type result struct {
	matches []match
	// stored has all kept records, encoded for the store. sum is a hash of the records that does not depend on their
	// order.
	stored []byte
	sum    uint64

	records, matched, relayed, skipped int
	// partial reports that the feed broke off, so that a missing record was not necessarily removed.
	partial bool
	// open reports that the end of the feed could not be recognized, so that its validators must not be stored.
	open bool
	// index is set for an index of sitemaps. Its sitemaps must be read before any record is used.
	index *sitemapIndex
	// example is a URL of the feed that no watch matches. examples are those of savedFeed.
	example  string
	examples map[string]string
	// invalid is that of savedFeed.
	invalid map[string]invalidTags
	// tooMany lists the watches with more than maxGlobbed URLs.
	tooMany []string
}

// A collector reads one feed. Its memory grows only with the records that are kept.
type collector struct {
	feed  *Feed
	match *matcher
	hosts address.Hosts
	// near has the kinds of addresses to which URLs of the feed may lead.
	near address.Scope
	// elsewhere reports that a server other than that of the configured URL answered. Proof in the feed's records is
	// then not used.
	elsewhere bool
	// received is the time of receipt for records that state none.
	received feed.Time
	now      feed.Time

	result
	list    []placed // records to relay; settle adds the records of watches
	octets  int      // size of the relayed records
	reports map[urlKey][]*found
	urlKeys []urlKey // in the order of the feed
	globbed map[*watcher]int
	nearest map[*watcher]nearest
	whole   summary
	// children are the sitemaps of an index. undated reports that a lastmod is missing, or is a day that is not over.
	children []child
	undated  bool
}

// newCollector returns a collector for a feed. now is the time at which its records are judged.
func newCollector(f *Feed, match *matcher, now feed.Time) *collector {
	return &collector{
		feed: f, match: match, now: now, reports: map[urlKey][]*found{}, globbed: map[*watcher]int{},
		nearest: map[*watcher]nearest{}, result: result{invalid: map[string]invalidTags{}},
	}
}

type urlKey struct {
	w   *watcher
	url string
}

// take reads all records. broke reports that an error occurred and the records before it are valid.
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
	c.setExamples()
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

// settle sets the matches, in the order of the feed. It adds the records of matches to c.list, unless c.list has them
// already.
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

// keep adds the record of f to the records to store. The record is not relayed.
func (c *collector) keep(f *found) {
	r := f.record
	r.Extract = c.feed.Relay // not the complete record
	c.list = append(c.list, placed{r, f.place})
}

func (c *collector) add(r feed.Record) {
	c.records++
	if c.elsewhere {
		r = unproven(r)
	}
	c.child(&r)
	if isFolder(&r) {
		c.addFolder(r)
		return
	}
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
	c.compare(&r)
	var f *found
	watched, follows := false, false
	c.match.find(c.feed.Name, r, func(w *watcher, url string) {
		s := urlKey{w, url}
		if !c.room(s) {
			return
		}
		watched, follows = true, follows || w.follow != nil
		if f == nil {
			key, _ := feed.Key(r.URL)
			f = &found{record: r, key: strings.Clone(key), place: c.records, use: useOf(&r, c.now)}
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
		f.record.Fields = c.fieldsOf(r, follows)
	}
}

// fieldsOf returns the fields of r that matter for watches: the fields that state proof and, if a watch that follows
// releases matches r, the field id, which may contain the tag.
func (c *collector) fieldsOf(r feed.Record, follows bool) (list []feed.Field) {
	keep := func(name, value string) {
		list = append(list, feed.Field{Name: name, Value: strings.Clone(value)})
	}
	if id, ok := r.Get("id"); ok && follows {
		keep("id", id)
	}
	digests, mirrors := r.Proof()
	for _, digest := range digests {
		keep(feed.DigestField, digest)
	}
	for _, mirror := range mirrors {
		keep(feed.MirrorField, mirror)
	}
	return list
}

// unproven returns r without the fields that state proof. They must be removed before r is stored, because stored
// records do not state which server answered.
func unproven(r feed.Record) feed.Record {
	if digests, mirrors := r.Proof(); len(digests)+len(mirrors) > 0 {
		r.Fields = slices.DeleteFunc(slices.Clone(r.Fields), func(f feed.Field) bool {
			return f.Name == feed.DigestField || f.Name == feed.MirrorField
		})
	}
	return r
}

// prefers reports whether a is kept rather than b. For a release, the record with the URL of the release's file is
// preferred: a release API reports all files of a release, and only the record of the file itself has the digest and
// date of the file.
func (s urlKey) prefers(a, b *found) bool {
	if s.w.follow != nil && (a.key == s.url) != (b.key == s.url) {
		return a.key == s.url
	}
	return a.record.Before(b.record)
}

// report adds f to the records of s. For each use, only the maxReports records that urlKey.prefers ranks first are
// kept. Of equal records, the first are kept.
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
		if worst < 0 || !s.prefers(other, list[worst]) {
			worst = i
		}
	}
	switch {
	case n < maxReports:
		list = append(list, f)
	case !s.prefers(f, list[worst]):
		return
	default:
		list[worst].holders--
		list = append(slices.Delete(list, worst, worst+1), f)
	}
	f.holders++
	c.reports[s] = list
}

// relays reports whether r is kept for publication. The host of r.URL must not be internal, unless the user named it.
func (c *collector) relays(r feed.Record) bool {
	if !c.feed.Relay || c.relayed >= c.feed.Limits.Relayed {
		return false
	}
	octets := len(r.URL) + len(r.Title) + len(r.Author) + len(r.Tag)
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

// isWeb reports whether a URL is usable: http or https, and not too long.
func isWeb(s string) bool {
	if len(s) > feed.MaxURL {
		return false
	}
	scheme, _, ok := strings.Cut(s, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// slimOf returns r without the fields that matter only for publication. Its strings are copied, because substrings
// would keep the whole text of the feed in memory.
func slimOf(r feed.Record) feed.Record {
	r.Fields, r.Keywords, r.Warnings = nil, nil, nil
	for _, s := range []*string{
		&r.URL, &r.Virtual, &r.Tag, &r.Title, &r.Author, &r.ContentType, &r.Server, &r.MD5, &r.Agent, &r.AgentURL, &r.Result,
	} {
		*s = strings.Clone(*s)
	}
	r.Method = slices.Clone(r.Method)
	for i, word := range r.Method {
		r.Method[i] = strings.Clone(word)
	}
	return r
}

// sumOf returns a hash (FNV-1a) of r without its times of detection, because a new time of detection is not a change.
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
	if r.Tag != "" { // without a tag, the sum is the same as in older versions of braid
		for i := range len(r.Tag) {
			octet(r.Tag[i])
		}
		octet(0)
	}
	if r.PreRelease {
		octet(1)
	}
	return h
}

// restored decodes records encoded by finish.
func restored(stored []byte) ([]feed.Record, error) {
	if len(stored) == 0 {
		return nil, nil
	}
	var list []feed.Record
	err := gob.NewDecoder(bytes.NewReader(stored)).Decode(&list)
	return list, err
}
