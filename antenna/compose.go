package antenna

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"iter"
	"net/url"
	"slices"

	"braid/antenna/feed"
	"braid/antenna/formats"
)

type document struct {
	name string
	data []byte
}

// A composer makes the documents of one snapshot.
type composer struct {
	snapshot feed.Snapshot
	options  FolderOptions
	now      feed.Time
	relay    feed.Relay
	// own has the agent's own observations. read has the records of other agents that may be passed on.
	own  []feed.Known
	read []feed.Record

	report    FolderReport
	documents []document
	// empty has the names of the files that would have no record.
	empty []string
}

const defaultAgent = "braid"

// compose makes all documents in memory. empty has the names of the files without a record. Such files must not be
// written (hina-di, section 4).
func compose(s feed.Snapshot, o FolderOptions) (documents []document, empty []string, report FolderReport, err error) {
	if s.Agent == "" {
		s.Agent = defaultAgent
	}
	c := &composer{snapshot: s, options: o, now: feed.At(s.Now)}
	c.report = FolderReport{Records: map[string]int{}, Refused: map[feed.Refusal]int{}}
	c.relay = feed.Relay{Self: s.AgentURL}
	for _, k := range s.Records {
		switch {
		case k.Own && hasUser(k.URL):
			c.report.Unwritable++
		case k.Own:
			c.own = append(c.own, k)
		case k.Trusted:
			c.read = append(c.read, k.Record)
		default:
			c.report.Refused[feed.Untrusted]++
		}
	}
	for _, f := range formats.All() {
		if err := c.feed(f); err != nil {
			return nil, nil, c.report, err
		}
	}
	c.page()
	return c.documents, c.empty, c.report, nil
}

func hasUser(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.User != nil
}

// observed returns the agent's own observations in the form that a format needs. URLs have their canonical spelling
// (hina-di, section 5.3). A record without an expiry gets the expiry that other agents would assume.
func (c *composer) observed(format feed.FormatID) []feed.Record {
	list := make([]feed.Record, 0, len(c.own))
	for _, k := range c.own {
		r := k.Record
		r.Format = feed.Own
		r.URL, r.Virtual = canonical(r.URL), canonical(r.Virtual)
		if r.Agent == "" {
			r.Agent = c.snapshot.Agent
		}
		if r.AgentURL == "" {
			r.AgentURL = c.snapshot.AgentURL
		}
		r.AgentURL = canonical(r.AgentURL)
		if r.Expires == 0 && r.Detected != 0 {
			r.Expires = r.Detected + feed.Validity
		}
		switch format {
		case feed.HinaDI:
			r.Date = c.now // when the block is written (section 5.7), and not when the agent asked
		case feed.LIRS:
			r.Detected = k.TimeDetected
		}
		list = append(list, r)
	}
	return list
}

// canonical returns the canonical spelling of url, or url itself if it has no feed.Key.
func canonical(url string) string {
	if key, ok := feed.Key(url); ok {
		return key
	}
	return url
}

// published returns the records for a feed in a format: one for each URL. It omits records that the format cannot
// represent.
func (c *composer) published(format feed.FormatID, write func(feed.Record) error) []feed.Record {
	list := c.relay.Publish(format, c.observed(format), c.read, c.now, func(_ feed.Record, why feed.Refusal) {
		if why != feed.OtherFormat {
			c.report.Refused[why]++
		}
	})
	return slices.DeleteFunc(list, func(r feed.Record) bool {
		if err := write(r); err == nil || err == feed.ErrNoPlace { // ErrNoPlace: Encode leaves r out
			return false
		}
		c.report.Unwritable++
		return true
	})
}

// add makes a document of records.
func (c *composer) add(name string, records []feed.Record, encode func(io.Writer, iter.Seq[feed.Record]) error) error {
	c.report.Records[name] = len(records)
	if len(records) == 0 {
		c.empty = append(c.empty, name)
		return nil
	}
	var b bytes.Buffer
	if err := encode(&b, slices.Values(records)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	c.documents = append(c.documents, document{name, b.Bytes()})
	return nil
}

// feed makes the documents of a format.
func (c *composer) feed(f *feed.Format) error {
	w := f.Writing
	if w == nil {
		return nil
	}
	h := feed.Heading{ID: c.snapshot.AgentURL, Title: c.title(), Agent: c.snapshot.Agent, Generator: defaultAgent, Date: c.now}
	var list []feed.Record
	if w.OwnOnly {
		list = c.latest()
		if len(list) > 0 {
			h.Updated = max(0, list[0].LastModified)
		}
	} else {
		list = c.published(f.ID, w.Check)
	}
	if h.Updated == 0 {
		h.Updated = c.now
	}
	if u, err := url.Parse(c.snapshot.AgentURL); err == nil && u.Host != "" {
		h.Self, h.Site = u.ResolveReference(&url.URL{Path: w.File}).String(), c.snapshot.AgentURL
	}
	if h.ID == "" {
		h.ID = "urn:x-antenna:" + url.PathEscape(c.snapshot.Agent)
	}
	encode := func(to io.Writer, records iter.Seq[feed.Record]) error { return w.Encode(to, h, records) }
	if err := c.add(w.File, list, encode); err != nil || !w.Gzip {
		return err
	}
	return c.add(w.File+gzipEnding, list, func(to io.Writer, records iter.Seq[feed.Record]) error {
		z := gzip.NewWriter(to) // without a time or a name, so that the same records make the same file
		if err := encode(z, records); err != nil {
			return err
		}
		return z.Close()
	})
}

// latest returns the agent's own observations that succeeded, the most recently modified first.
func (c *composer) latest() (list []feed.Record) {
	for _, r := range c.observed(feed.Own) {
		if !r.Failed {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b feed.Record) int { return int(min(max(b.LastModified-a.LastModified, -1), 1)) })
	return list
}

func (c *composer) title() string {
	if c.options.Title != "" {
		return c.options.Title
	}
	return "Antenna"
}
