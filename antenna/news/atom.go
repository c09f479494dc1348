package news

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"io"
	"iter"
	"strconv"
	"time"

	"braid/antenna/feed"
)

// An AtomHeader says what an Atom feed is about. ID and Title are required (RFC 4287, section 4.1.1).
type AtomHeader struct {
	// ID is the URI that names the feed for ever: the URL where it is published.
	ID, Title string
	// Author is the author of records that name none.
	Author string
	// Self is the URL of the feed, and Site that of a page about it; they may be empty.
	Self, Site string
	Updated    feed.Time
	Generator  string
}

// EncodeAtom writes an Atom feed (RFC 4287): for each record that is Writable, which is one with an http or https URL and
// a time, an entry that is known by its URL. An update of a site is an update of its entry. What has a size is an enclosure, too.
func EncodeAtom(w io.Writer, h AtomHeader, records iter.Seq[feed.Record]) error {
	a := atomWriter{bufio.NewWriter(w)}
	a.w.WriteString(xml.Header + `<feed xmlns="http://www.w3.org/2005/Atom">` + "\n")
	a.element(" ", "id", h.ID)
	a.element(" ", "title", h.Title)
	a.element(" ", "updated", h.Updated.UTC().Format(time.RFC3339))
	a.person(" ", h.Author)
	a.element(" ", "generator", h.Generator)
	a.link(" ", "self", h.Self, "application/atom+xml", 0)
	a.link(" ", "alternate", h.Site, "", 0)
	for r := range records {
		a.entry(&r)
	}
	a.w.WriteString("</feed>\n")
	return a.w.Flush()
}

// An atomWriter writes elements. The first error of w stays, and Flush returns it.
type atomWriter struct {
	w *bufio.Writer
}

// entry writes a record.
func (a *atomWriter) entry(r *feed.Record) {
	if !Writable(*r) {
		return
	}
	updated := updatedOf(r)
	a.w.WriteString(" <entry>\n")
	a.element("  ", "id", r.URL)
	a.element("  ", "title", cmp.Or(r.Title, r.URL))
	a.element("  ", "updated", updated.UTC().Format(time.RFC3339))
	a.person("  ", r.Author)
	a.link("  ", "alternate", r.URL, "", 0)
	if r.Size > 0 {
		a.link("  ", "enclosure", r.URL, r.ContentType, r.Size)
	}
	a.w.WriteString(" </entry>\n")
}

// Writable reports whether a record can be an entry.
func Writable(r feed.Record) bool {
	const year10000 = 253402300800 // which RFC 3339 cannot write
	t := updatedOf(&r)
	return t > 0 && t < year10000 && feed.IsWeb(r.URL)
}

// updatedOf is when a site was modified, or else when it was looked at.
func updatedOf(r *feed.Record) feed.Time {
	return cmp.Or(r.LastModified, r.Detected, r.Date, r.FeedDate, r.Received)
}

// element writes an element with a text, if there is one.
func (a *atomWriter) element(indent, name, text string) {
	if text == "" {
		return
	}
	a.w.WriteString(indent + "<" + name + ">")
	a.text(text)
	a.w.WriteString("</" + name + ">\n")
}

func (a *atomWriter) person(indent, name string) {
	if name != "" {
		a.w.WriteString(indent + "<author>\n")
		a.element(indent+" ", "name", name)
		a.w.WriteString(indent + "</author>\n")
	}
}

func (a *atomWriter) link(indent, rel, href, kind string, length int64) {
	if href == "" {
		return
	}
	a.w.WriteString(indent + `<link rel="` + rel + `" href="`)
	a.text(href)
	if kind != "" {
		a.w.WriteString(`" type="`)
		a.text(kind)
	}
	if length > 0 {
		a.w.WriteString(`" length="` + strconv.FormatInt(length, 10))
	}
	a.w.WriteString("\"/>\n")
}

// text writes text that XML can have; for what it cannot, a replacement.
func (a *atomWriter) text(s string) { _ = xml.EscapeText(a.w, []byte(s)) } // the writer keeps the error
