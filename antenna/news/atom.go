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

// An AtomHeader describes an Atom feed. ID and Title are required (RFC 4287, section 4.1.1).
type AtomHeader struct {
	// ID is the permanent URI of the feed: the URL where it is published.
	ID, Title string
	// Author is the author of records that have no author.
	Author string
	// Self is the URL of the feed, and Site the URL of a page about it. Both may be empty.
	Self, Site string
	Updated    feed.Time
	Generator  string
}

// EncodeAtom writes an Atom feed (RFC 4287) with an entry for each Writable record. The URL of a record is the id of
// its entry, so an update of a site updates its entry. A record with a size also has an enclosure.
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

// An atomWriter writes elements. Flush returns the first error of w.
type atomWriter struct {
	w *bufio.Writer
}

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

// Writable reports whether a record can be an entry: it must have an http or https URL and a time.
func Writable(r feed.Record) bool {
	const year10000 = 253402300800 // RFC 3339 has no later years
	t := updatedOf(&r)
	return t > 0 && t < year10000 && feed.IsWeb(r.URL)
}

// updatedOf returns the modification time of a site, else the time of its detection.
func updatedOf(r *feed.Record) feed.Time {
	return cmp.Or(r.LastModified, r.Detected, r.Date, r.FeedDate, r.Received)
}

// element writes an element with a text, unless the text is empty.
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

// text writes text and replaces characters that XML does not allow.
func (a *atomWriter) text(s string) { _ = xml.EscapeText(a.w, []byte(s)) } // the writer keeps the error
