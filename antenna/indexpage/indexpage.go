// Package indexpage reads the index of a folder on a web server as a feed: HTML pages of nginx, Apache, lighttpd, Caddy,
// h5ai, Python, Go and others, and JSON of nginx and Caddy.
//
//	for r, err := range indexpage.NewDecoder(body, feed.Options{Base: "https://example.org/pub/"}).Records() { ... }
//
// Each link to a file below the page's own folder is a record. Other links are ignored: to sub-folders (unless
// Options.Folders is set), to the folder above, to other servers, with a query or a fragment. The package uses the
// targets of links, because their texts may be truncated. A size is used only if it is exact. A date without a time
// zone is taken for UTC, and may be hours off.
package indexpage

import (
	"bytes"
	"io"
	"iter"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"braid/antenna/feed"
	"braid/internal/feedtext"
	"braid/internal/once"
)

// declaration matches the text before the name of a declared charset.
var declaration = once.Pattern(`(?i)\bcharset\s*=`)

// headSize is the number of bytes searched for a declaration of the charset.
const headSize = 1 << 10

// A Decoder reads one index page, in constant memory.
type Decoder struct {
	reading feedtext.Reading
	in      *feedtext.Reader
	folder  *url.URL
	next    func() (feed.Record, error)
	page    *page // nil for JSON

	charset, declared string
	octets            *feedtext.Charset // charset of text that is not UTF-8
}

// NewDecoder returns a Decoder of the page at o.Base. Without Base, the page is rejected.
func NewDecoder(r io.Reader, o feed.Options) *Decoder {
	d := &Decoder{
		reading: feedtext.NewReading(o), in: feedtext.NewReader(r, o.Limits), folder: folderOf(o.Base), charset: "utf-8",
	}
	d.next = d.open
	return d
}

// Records returns an iterator over the records. If the page is rejected, the last pair has an error and no record.
func (d *Decoder) Records() iter.Seq2[feed.Record, error] {
	return feedtext.Sequence(func() (feed.Record, error) { return d.next() })
}

// Input describes the encoding of the page.
func (d *Decoder) Input() feed.Input {
	in := feed.Input{Gzip: d.in.Gzip(), Charset: d.charset, Declared: d.declared}
	if d.page != nil && d.page.open {
		in.End = feed.Open
	}
	return in
}

// open detects JSON and the charset.
func (d *Decoder) open() (feed.Record, error) {
	head, err := d.in.Peek(headSize)
	if err != nil {
		return feed.Record{}, err
	}
	if d.folder == nil {
		return feed.Record{}, codeNoBase.Reject(0)
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(text) > 0 && text[0] == '[' {
		d.next = (&list{d: d, json: feedtext.NewJSON(d.in)}).next
		return d.next()
	}
	d.detect(head)
	d.page = newPage(d)
	d.next = d.page.next
	return d.next()
}

// detect detects the charset by the beginning of the page.
func (d *Decoder) detect(head []byte) {
	label := "windows-1252" // charset of text that is not UTF-8, as browsers assume
	if declaration().Match(head) {
		_, label, _ = charset.DetermineEncoding(head, "")
		d.charset, d.declared = label, label
	}
	d.octets, _ = feedtext.LookupCharset(label)
}

func (d *Decoder) decode(raw []byte) string {
	if d.octets == nil || (d.declared == "" || d.octets == feedtext.UTF8) && utf8.Valid(raw) {
		return string(raw)
	}
	text, clean := d.octets.Append(nil, raw)
	if !clean {
		return string(raw) // url.String escapes the invalid bytes
	}
	return string(text)
}

// below returns the URL of the file to which href leads. With Options.Folders, href may also lead to a sub-folder.
func (d *Decoder) below(href string) (u *url.URL, ok bool) {
	if u, ok = Below(d.folder, href); ok || !d.reading.Folders {
		return u, ok
	}
	name, isFolder := strings.CutSuffix(strings.Trim(href, " \t\r\n"), "/")
	if u, ok = Below(d.folder, name); !ok || !isFolder {
		return nil, false
	}
	return u.JoinPath("/"), true
}

// record sets the URL of an entry. It reports whether the entry is a file or a wanted sub-folder, and an error if reading
// must end.
func (d *Decoder) record(r *feed.Record, href string) (ok bool, err error) {
	if err := d.reading.Stopped(); err != nil {
		return false, err
	}
	u, below := d.below(href)
	if !below {
		return false, nil
	}
	if err := d.reading.Count(r.Line, "files"); err != nil {
		return false, err
	}
	r.Format, r.URL = feed.IndexPage, u.String()
	if !feed.IsURI(r.URL) || len(r.URL) > feed.MaxURL {
		d.reading.Find(codeBadURL, 0, "", r.URL)
		d.reading.Judge(r, href[:min(len(href), feed.MaxURL)])
		return false, nil
	}
	return true, nil
}

// end returns err, which ended the page, and reports a page without files.
func (d *Decoder) end(err error) error {
	if err == io.EOF && d.reading.Entries() == 0 {
		d.reading.Problem(codeNoFile, 0, "", "")
	}
	return err
}
