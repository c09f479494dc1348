package news

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// records adds the records of an item to the queue: one for its link, one for each enclosure, and one for each other
// URL of a file. A violation of the item applies to all these records.
func (d *Decoder) records(base feed.Record, kind string, item *gofeed.Item) {
	d.describe(&base, kind, item)
	link := d.link(item)
	base.URL, _ = unmark(strings.TrimSpace(link)) // for the reports of violations
	fatal := d.reading.Failed()
	d.reading.Dropped = !d.judge(&base)
	defer func() { d.reading.Dropped = false }()
	if fatal {
		return
	}
	seen, all := map[string]bool{}, copiesOf(item)
	for _, e := range item.Enclosures {
		r := base
		r.URL, r.Size = d.reader.link(e.URL), d.length(e.Length)
		if kind := d.text(e.Type); strings.Contains(kind, "/") {
			r.ContentType = kind
		}
		d.emit(d.proven(r, all), "enclosure", e.URL, seen)
	}
	for _, c := range all {
		for _, u := range c.urls {
			r := base
			if r.URL = d.place(u); r.URL != "" {
				d.emit(d.proven(r, all), "source", u, seen)
			}
		}
	}
	if link != "" || len(item.Enclosures) == 0 {
		r := base
		r.URL = d.reader.link(link)
		d.emit(r, "link", link, seen)
	}
}

// proven returns r with the digest and the other URLs that elements of all state for the file of r.
func (d *Decoder) proven(r feed.Record, all []copies) feed.Record {
	if key, ok := feed.Key(r.URL); ok {
		r.Fields = append(slices.Clip(r.Fields), d.proof(all, key)...)
	}
	return r
}

// emit adds r to the queue, if r is valid and is the first record of its URL in the item.
func (d *Decoder) emit(r feed.Record, what, spelled string, seen map[string]bool) {
	key, watchable := feed.Key(r.URL)
	if r.URL != "" && !watchable {
		d.find(codeNotWatchable, "", "")
		key = r.URL
	}
	if r.URL != "" && seen[key] {
		d.reading.Forget()
		return
	}
	seen[key] = true
	r.Fields = append([]feed.Field{{Name: what, Value: d.text(spelled)}}, r.Fields...)
	r.Warnings = slices.Clone(r.Warnings)
	if d.judge(&r) {
		d.queue = append(d.queue, r)
	}
}

// describe sets the fields that all records of an item share.
func (d *Decoder) describe(r *feed.Record, kind string, item *gofeed.Item) {
	r.Title = d.line(item.Title)
	var authors []string
	for _, a := range item.Authors {
		if name := d.line(a.Name); name != "" {
			authors = append(authors, name)
		}
	}
	r.Author = strings.Join(authors, ", ")
	updated := d.date("updated", kind, item.Updated, item.UpdatedParsed, &r.Fields)
	published := updated
	if item.Published != item.Updated {
		published = d.date("published", kind, item.Published, item.PublishedParsed, &r.Fields)
	}
	if r.LastModified = updated; updated == 0 {
		r.LastModified = published
	}
	if item.Updated+item.Published == "" {
		d.find(codeUndated, "", "")
	}
	if guid := d.text(item.GUID); guid != "" {
		r.Fields = append(r.Fields, feed.Field{Name: "id", Value: guid})
	}
}

// noPermalink marks an item with a guid that is not a permalink.
const noPermalink = "guid isPermaLink"

// link returns the link of an item. Without a link, it returns the guid if the guid is a URL and not marked with
// noPermalink (RSS 2.0).
func (d *Decoder) link(item *gofeed.Item) string {
	guid := strings.TrimSpace(item.GUID)
	if item.Link != "" || item.Custom[noPermalink] != "" || !strings.HasPrefix(guid, "http://") &&
		!strings.HasPrefix(guid, "https://") {
		return item.Link
	}
	d.find(codeGUID, "", "")
	return guid
}

// date parses a time of an item. parsed is the result of gofeed, or nil.
func (d *Decoder) date(field, kind, text string, parsed *time.Time, fields *[]feed.Field) feed.Time {
	if text = d.text(text); text == "" {
		return 0
	}
	*fields = append(*fields, feed.Field{Name: field, Value: text})
	t, code, ok := readDate(kind, text, parsed)
	switch {
	case !ok:
		d.find(codeBadDate, field, text)
	case code != nil:
		d.find(code, field, text)
	}
	return t
}

// length parses the length of an enclosure. Feeds write 0 for an unknown length.
func (d *Decoder) length(text string) int64 {
	if text = d.text(text); text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		d.find(codeBadNumber, "length", text)
	}
	return int64(n)
}

// link parses a URL that may be relative to the URL of the feed.
func (d *reader) link(spelled string) string {
	text := d.text(spelled)
	ref, err := url.Parse(text)
	if d.base == nil || text == "" || err != nil || ref.IsAbs() || strings.ContainsAny(text, " \t\r\n") {
		return d.url(spelled)
	}
	return d.url(d.base.ResolveReference(ref).String())
}

// url parses a URL. A non-ASCII host is converted (RFC 5891). In the other parts, characters that are not allowed are
// percent-encoded (RFC 3987, section 3.1).
func (d *reader) url(spelled string) string {
	text := d.text(spelled)
	if text == "" {
		d.find(codeNoURL, "", "")
		return ""
	}
	uri, foreign, sloppy := feedtext.URI(text)
	if !feed.IsURI(uri) || len(uri) > feed.MaxURL {
		d.find(codeBadURL, "", text)
		return ""
	}
	if sloppy {
		d.find(codeEscaped, "", text)
	}
	if foreign {
		d.find(codeIRI, "", text)
	}
	return uri
}

// text returns a text of an entry without surrounding white space, and with invalid bytes as \xNN.
func (d *reader) text(s string) string {
	s, clean := unmark(strings.TrimSpace(s))
	if !clean {
		d.reading.FindOnce(codeUndecodable)
	}
	return s
}

// line is like text, with the text in one line.
func (d *reader) line(s string) string { return strings.Join(strings.Fields(d.text(s)), " ") }
