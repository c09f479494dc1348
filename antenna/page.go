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

// An observation is the metadata in a response of a watched URL.
type observation struct {
	// Record has only values that were received (hina-di, section 9). It is stored without its URL, because the URL may
	// be secret.
	Record feed.Record
	// ETag is the ETag of the response. Since is when this ETag was first seen. Since replaces the modification time of
	// a server that sends none.
	ETag  string
	Since feed.Time
	// Tags are the latest tags seen with the same date and size. Retagged is when a new tag appeared although date and
	// size were the same. Reproducible builds and rsync replace a file by one with the same date. A tag that appears
	// again is ignored, because some servers alternate between tags.
	Tags     []string
	Retagged feed.Time
	// TimeDetected is when a modification time was last received (LIRS, Last-Detected).
	TimeDetected feed.Time
}

// untilNext is how long feed.Decide may use an observation: effectively until the next observation.
const untilNext = 100 * 365 * 24 * 60 * 60

// report returns the record for feed.Decide.
func (o observation) report() feed.Record {
	r := o.Record
	if r.LastModified == 0 || o.early() {
		r.LastModified = o.Since
	}
	r.LastModified = max(r.LastModified, o.Retagged)
	r.Expires = r.Detected + untilNext
	return r
}

// early reports whether the modification time was in the future when it was received. The server's clock is then wrong.
func (o *observation) early() bool { return o.Record.LastModified > o.Record.Detected+feed.Skew }

// tag returns a text that distinguishes versions: the ETag, or a modification time from a wrong clock.
func (o *observation) tag() string {
	if o.ETag == "" && o.early() {
		return o.Record.LastModified.String()
	}
	return o.ETag
}

// observe reads the metadata of a page from a response to HEAD or GET. It does not read the body.
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
			o.Record.Size = 0 // Content-Length is the size of the encoded body
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

// mostTags limits the stored tags for one date and size.
const mostTags = 16

// retag records whether the tag is new although date and size have not changed.
func (o *observation) retag(before *observation, now feed.Time) {
	tag := strings.TrimPrefix(o.ETag, "W/")
	if o.Record.LastModified != before.Record.LastModified || o.Record.Size != before.Record.Size {
		o.Tags = []string{tag}
		return
	}
	o.Retagged = before.Retagged
	o.Tags = before.Tags
	if len(o.Tags) == 0 { // stored by an older version
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

// observed returns an observation as the answer of a feed with one record.
func (p *poller) observed(t *task, resp *http.Response, o observation) answer {
	r := o.report()
	k := result{records: 1, matched: 1, sum: sumOf(&r), matches: p.matchesOf(t.feed, t.page, r)}
	a := answer{result: &k, seen: &o, etag: o.ETag, modified: resp.Header.Get("Last-Modified")}
	if isShared(resp, time.Now()) {
		a.etag, a.modified = "", ""
	}
	return a
}

// matchesOf returns the matches of r. If page is set, only that watch matches. Otherwise all watches of f.URL match.
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
	k, err := p.read(ctx, t, fsys.Reader(f), feed.At(info.ModTime), address.Public|address.Loopback) // as for a document on disk
	a := answer{err: err, bytes: info.Size, etag: etag}
	if err == nil || k.partial {
		a.result = &k
	}
	return a
}

// fileTag returns a tag for the current state of a file.
func fileTag(info fsys.Info) string {
	return fmt.Sprintf("file %d %d %d", info.ID.Ino, info.Size, info.ModTime.UnixNano())
}
