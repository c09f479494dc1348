package antenna

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"slices"
	"strings"

	"braid/antenna/codec"
	"braid/antenna/feed"
	"braid/antenna/hinadi"
	"braid/antenna/soif"
	"braid/reach"
)

const (
	// maxReports is how many records of one URL a feed may have that are looked at, maxGlobbed how many URLs of a glob.
	maxReports = 8
	maxGlobbed = 10_000
	// maxRelayed bounds the octets of the records of a feed that are kept to be published again.
	maxRelayed = 16 << 20
)

// A hit is a record that is watched, and under which URL.
type hit struct {
	w      *watcher
	url    string
	record feed.Record
}

// A kept is what is kept of a feed: what is watched, and what may be published again.
type kept struct {
	hits []hit
	// stored are all records that are kept, encoded for the store; sum says what of them has changed, in any order.
	stored []byte
	sum    uint64

	records, matched, relayed, skipped int
	// partial: the feed broke behind what there is (rule 55). What it had before and has not here is not gone.
	partial bool
	// open: nothing says that the feed is whole, so that what the server calls it must not stand for it.
	open bool
	// tooMany are watches of which there are more URLs than are looked at.
	tooMany []string
}

// A collector reads one feed and keeps what is to be kept, in memory that grows with that only.
type collector struct {
	feed   *Feed
	format feed.Format
	match  *matcher
	hosts  reach.Hosts
	// near is to where URLs of the feed may lead (rule 63).
	near reach.Scope
	// received stands in for the times that records do not have.
	received feed.Time

	kept
	list    []feed.Record
	octets  int // of what is relayed
	reports map[spot]int
	globbed map[*watcher]int
}

// A spot is one URL of a watch.
type spot struct {
	w   *watcher
	url string
}

// collect reads all records. Where a feed is rejected (rule 52) or its way breaks, nothing of it counts; where a SOIF stream is
// wrong, what came before does (rule 55).
func (c *collector) collect(records iter.Seq2[feed.Record, error]) (kept, error) {
	c.reports, c.globbed = map[spot]int{}, map[*watcher]int{}
	for r, err := range records {
		if err != nil {
			if c.partial = c.records > 0 && c.format == feed.SOIF && isLocal(err); !c.partial {
				return kept{}, err
			}
			return c.finish(err)
		}
		c.add(r)
	}
	return c.finish(nil)
}

// isLocal reports whether an error is about one object of a SOIF stream, and not about what the feed costs as a whole.
func isLocal(err error) bool {
	var reject *feed.RejectError
	if !errors.As(err, &reject) {
		return false
	}
	switch reject.Code {
	case soif.CodeTruncated, soif.CodeNegativeSize:
		return true
	}
	return reject.Code == soif.CodeTooLarge && reject.Line > 0
}

func (c *collector) finish(err error) (kept, error) {
	if len(c.list) > 0 {
		var b bytes.Buffer
		if failed := gob.NewEncoder(&b).Encode(c.list); failed != nil {
			return kept{}, fmt.Errorf("records cannot be stored: %w", failed)
		}
		c.stored = b.Bytes()
	}
	return c.kept, err
}

// add looks at one record.
func (c *collector) add(r feed.Record) {
	c.records++
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
	slim := feed.Record{}
	watched := false
	c.match.find(c.feed.Name, r, func(w *watcher, url string) {
		if !c.room(spot{w, url}) {
			return
		}
		if !watched {
			watched, slim = true, slimOf(r)
		}
		c.hits = append(c.hits, hit{w, url, slim})
	})
	if watched {
		c.matched++
	}
	switch relays := c.relays(r); {
	case relays:
		c.relayed++
		c.keep(r)
	case watched:
		slim.Extract = c.feed.Relay // there was no room for all of it
		c.keep(slim)
	}
}

func (c *collector) keep(r feed.Record) {
	c.list = append(c.list, r)
	c.sum += sumOf(&r)
}

// room reports whether there is room for a further report of a URL.
func (c *collector) room(s spot) bool {
	if s.w.glob != nil && c.reports[s] == 0 {
		if c.globbed[s.w] >= maxGlobbed {
			if !slices.Contains(c.tooMany, s.w.Name) {
				c.tooMany = append(c.tooMany, s.w.Name)
			}
			return false
		}
		c.globbed[s.w]++
	}
	c.reports[s]++
	return c.reports[s] <= maxReports
}

// relays reports whether r is kept to be published again. What the user watches is on hosts that the user named; anything else must
// not be internal (rule 53).
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

// isWeb reports whether a record's URL can be of use: http or https, not too long (rule 53).
func isWeb(s string) bool {
	if len(s) > feed.MaxURL {
		return false
	}
	scheme, _, ok := strings.Cut(s, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// slimOf returns r without what only matters when it is passed on, and in memory of its own: parts of a long text would keep all of it.
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

// read decodes a feed. Near is to where its URLs may lead.
func (p *poller) read(t *task, body io.Reader, received feed.Time, near reach.Scope) (kept, error) {
	limits := t.feed.Limits.Limits
	in, format, err := codec.Open(body, limits)
	if configured, ok := formats[t.feed.Kind]; ok && (err == nil || isUnknown(err)) {
		format, err = configured, nil
	}
	if err != nil {
		return kept{}, err
	}
	c := &collector{feed: t.feed, format: format, match: p.match, hosts: p.hosts, near: near, received: received}
	o := feed.Options{Limits: limits}
	if b, ok := body.(interface{ stopped() error }); ok {
		o.Stop = b.stopped
	}
	d := codec.NewDecoder(format, in, o)
	k, err := c.collect(d.Records())
	if err != nil {
		return k, err
	}
	switch d.Input().End {
	case feed.Cut: // what came before the cut counts (rule 55)
		k.partial = true
		err = &feed.RejectError{Code: "truncated", Why: "the feed ends within an entry: it was cut off"}
	case feed.Open:
		k.open = true
	}
	return k, err
}

// formats are those of the kinds that say one.
var formats = map[Kind]feed.Format{HinaDI: feed.HinaDI, LIRS: feed.LIRS, SOIF: feed.SOIF, News: feed.News, Sitemap: feed.Sitemap}

func isUnknown(err error) bool {
	var reject *feed.RejectError
	return errors.As(err, &reject) && reject.Code == codec.CodeUnknown
}
