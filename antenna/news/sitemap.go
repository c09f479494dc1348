package news

import (
	"encoding/xml"
	"io"
	"iter"

	"braid/antenna/feed"
	"braid/internal/feedtext"
)

// A SitemapDecoder reads one sitemap, or index of sitemaps (sitemaps.org), in constant memory. A record has a URL and
// its lastmod, if present. In an index, the URL of a record is that of a sitemap.
type SitemapDecoder struct {
	reader
	walker *walker
	entry  string // the local name of entries
}

// NewSitemapDecoder returns a SitemapDecoder that reads from r.
func NewSitemapDecoder(r io.Reader, o feed.Options) *SitemapDecoder {
	return &SitemapDecoder{reader: newReader(r, o)}
}

// Records returns an iterator over the records, like Decoder.Records.
func (d *SitemapDecoder) Records() iter.Seq2[feed.Record, error] { return feedtext.Sequence(d.next) }

// next returns the next valid record, or io.EOF, or the error that ended the sitemap.
func (d *SitemapDecoder) next() (feed.Record, error) {
	if d.walker == nil {
		if err := d.open(); err != nil {
			return feed.Record{}, err
		}
	}
	for {
		token, err := d.walker.next()
		if err == io.EOF && d.reading.Entries() == 0 {
			d.reading.Problem(codeNoItem, 0, "", "")
		}
		if err != nil {
			return feed.Record{}, err
		}
		start, ok := token.(xml.StartElement)
		if !ok || len(d.walker.path) != 2 || start.Name.Local != d.entry {
			continue
		}
		if r, ok, err := d.read(start.Name); ok || err != nil {
			return r, err
		}
	}
}

func (d *SitemapDecoder) open() error {
	if _, err := d.in.start(); err != nil {
		return err
	}
	d.walker = newWalker(d.in)
	start, err := d.walker.root()
	if err != nil && err != io.EOF {
		return err
	}
	if d.entry = map[string]string{"urlset": "url", "sitemapindex": "sitemap"}[start.Name.Local]; d.entry == "" {
		return codeNoSitemap.Reject(1)
	}
	if !d.in.known {
		d.reading.Problem(codeCharset, 1, "", d.in.declared)
	}
	return nil
}

// read reads an entry. It uses only elements in the namespace of the entry. Elements of extensions have a prefix.
func (d *SitemapDecoder) read(entry xml.Name) (feed.Record, bool, error) {
	r := feed.Record{Format: feed.Sitemap, Line: d.walker.line()}
	if err := d.count(r.Line); err != nil {
		return r, false, err
	}
	values := map[string][]byte{}
	for len(d.walker.path) >= 2 {
		token, err := d.walker.next()
		if err != nil {
			return r, false, err
		}
		text, ok := token.(xml.CharData)
		if path := d.walker.path; ok && len(path) == 3 && path[2].Space == entry.Space {
			name := path[2].Local
			if name == "loc" || name == "lastmod" {
				values[name] = append(values[name], text[:min(len(text), maxItem-len(values[name]))]...)
			}
		}
	}
	ok := d.fill(&r, string(values["loc"]), string(values["lastmod"]))
	return r, ok, nil
}

// fill sets r from the values of an entry, and reports whether r is valid.
func (d *SitemapDecoder) fill(r *feed.Record, loc, lastmod string) bool {
	r.URL = d.url(loc)
	if _, watchable := feed.Key(r.URL); r.URL != "" && !watchable {
		d.find(codeNotWatchable, "", "")
	}
	r.Fields = []feed.Field{{Name: d.entry, Value: d.text(loc)}}
	if lastmod = d.text(lastmod); lastmod == "" {
		return d.judge(r)
	}
	r.Fields = append(r.Fields, feed.Field{Name: "lastmod", Value: lastmod})
	t, code, ok := readW3C(lastmod)
	switch {
	case !ok:
		d.find(codeBadDate, "lastmod", lastmod)
	case code != nil:
		d.find(code, "lastmod", lastmod)
	}
	r.LastModified = t
	return d.judge(r)
}
