package antenna

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"braid/address"
	"braid/antenna/feed"
	"braid/internal/fsys"
)

// An observation is what a URL itself said.
type observation struct {
	// Record is what was obtained, and nothing else (hina-di, section 9). It has no URL, as it is stored: that of a
	// watch may be secret.
	Record feed.Record
	// ETag is that of the answer, and Since when it was first seen: it stands in for the time of modification where a
	// server has none.
	ETag  string
	Since feed.Time
	// Tags are those seen since date and size were what they are, the last ones of many, and Retagged when a new one
	// came though neither changed: a file may be replaced by one of the same date, as reproducible builds and rsync do.
	// A tag that comes again, as of servers that take turns, is none.
	Tags     []string
	Retagged feed.Time
	// TimeDetected is when a time of modification was last obtained (LIRS, Last-Detected).
	TimeDetected feed.Time
}

// untilNext is how long an observation is good for feed.Decide: until the next one, and that may be far away.
const untilNext = 100 * 365 * 24 * 60 * 60

// report is what feed.Decide gets.
func (o observation) report() feed.Record {
	r := o.Record
	if r.LastModified == 0 || o.early() {
		r.LastModified = o.Since
	}
	r.LastModified = max(r.LastModified, o.Retagged)
	r.Expires = r.Detected + untilNext
	return r
}

// early reports whether the time of modification had not come when it was obtained: the clock of the server is wrong.
func (o *observation) early() bool { return o.Record.LastModified > o.Record.Detected+feed.Skew }

// tag tells versions apart: the ETag, or else a time of modification that cannot be believed.
func (o *observation) tag() string {
	if o.ETag == "" && o.early() {
		return o.Record.LastModified.String()
	}
	return o.ETag
}

// observe takes the metadata of a page from an answer to HEAD, or to GET, whose body is left alone.
func (p *poller) observe(t *task, resp *http.Response) answer {
	now := feed.At(time.Now())
	before, o := t.seen, observation{}
	if resp.StatusCode == http.StatusNotModified {
		o.Record = before.Record
		o.ETag = before.ETag
	} else {
		o.Record = feed.Record{
			ContentType: resp.Header.Get("Content-Type"), Server: resp.Header.Get("Server"), Size: max(0, resp.ContentLength),
		}
		if !isIdentity(resp.Header.Get("Content-Encoding")) {
			o.Record.Size = 0 // of something else
		}
		if modified, err := http.ParseTime(resp.Header.Get("Last-Modified")); err == nil {
			o.Record.LastModified = feed.At(modified)
		}
		o.ETag = resp.Header.Get("ETag")
	}
	r := &o.Record
	r.Format, r.Agent, r.AgentURL = feed.Own, p.agent, p.agentURL
	if t.page != nil {
		r.Title, r.Author, r.Zone = t.page.Title, t.page.Author, t.page.Zone
	}
	r.Method, r.Result = []string{http.MethodHead}, strconv.Itoa(resp.StatusCode)
	if t.get {
		r.Method = []string{http.MethodGet}
	}
	r.Date, r.Detected = now, now
	o.TimeDetected = before.TimeDetected
	if r.LastModified != 0 {
		o.TimeDetected = now
	}
	if o.Since = before.Since; o.tag() != "" && (o.tag() != before.tag() || o.Since == 0 || o.Since > now+feed.Skew) {
		o.Since = now
	}
	o.retag(&before, now)
	return p.observed(t, resp, o)
}

// mostTags is how many tags of one date and size are remembered.
const mostTags = 16

// retag notes whether the tag is a new one though date and size are as before.
func (o *observation) retag(before *observation, now feed.Time) {
	tag := strings.TrimPrefix(o.ETag, "W/")
	if o.Record.LastModified != before.Record.LastModified || o.Record.Size != before.Record.Size {
		o.Tags = []string{tag}
		return
	}
	o.Retagged = before.Retagged
	o.Tags = before.Tags
	if len(o.Tags) == 0 { // an older program has stored it
		o.Tags = []string{strings.TrimPrefix(before.ETag, "W/")}
	}
	if tag == "" || slices.Contains(o.Tags, tag) {
		return
	}
	if slices.ContainsFunc(o.Tags, func(t string) bool { return t != "" }) {
		o.Retagged = now
	}
	o.Tags = append(slices.Clone(o.Tags[max(0, len(o.Tags)-mostTags+1):]), tag)
}

func isIdentity(encoding string) bool { return encoding == "" || encoding == "identity" }

// observed makes an answer of an observation: a feed of one record.
func (p *poller) observed(t *task, resp *http.Response, o observation) answer {
	r := o.report()
	k := result{records: 1, matched: 1, sum: sumOf(&r), matches: p.matchesOf(t.feed, t.page, r)}
	return answer{result: &k, seen: &o, etag: o.ETag, modified: resp.Header.Get("Last-Modified")}
}

// matchesOf are the watches of a page: own checks belong to one watch, other pages to all that have that URL.
func (p *poller) matchesOf(f *Feed, page *watcher, r feed.Record) (matches []match) {
	if page != nil {
		return []match{{page, page.URL, r}}
	}
	p.match.find(f.Name, feed.Record{URL: f.URL}, func(w *watcher, url string) { matches = append(matches, match{w, url, r}) })
	return matches
}

// readFile polls a local file.
func (p *poller) readFile(ctx context.Context, t *task) answer {
	f, err := fsys.OS.Open(t.feed.URL)
	if err != nil {
		return answer{err: err}
	}
	defer f.Close()
	info, err := f.Info()
	if err != nil {
		return answer{err: err}
	}
	if !info.Mode.IsRegular() {
		return answer{err: fmt.Errorf("%s: not a regular file", t.feed.URL)}
	}
	etag := fileTag(info)
	if t.conditional() && etag == t.etag {
		return answer{unchanged: true}
	}
	k, err := p.read(ctx, t, fsys.Reader(f), feed.At(info.ModTime), address.Public|address.Loopback) // as a document on disk
	a := answer{err: err, bytes: info.Size, etag: etag}
	if err == nil || k.partial {
		a.result = &k
	}
	return a
}

// fileTag names one state of a file.
func fileTag(info fsys.Info) string {
	return fmt.Sprintf("file %d %d %d", info.ID.Ino, info.Size, info.ModTime.UnixNano())
}
