package antenna

import (
	"io"
	"mime"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"braid/antenna/feed"
	"braid/antenna/formats"
	"braid/antenna/news"
	"braid/linkheader"
)

const (
	// maxPage limits the bytes of a page that are read.
	maxPage = 1 << 20
	// mostFeeds limits the feeds that are returned for a page.
	mostFeeds    = 100
	longestTitle = 300 // in characters
)

// A FoundFeed is a feed that a page links to.
type FoundFeed struct {
	URL    *url.URL
	Type   string // as in the page, without parameters
	Format *feed.Format
	Title  string
	// InHeader reports that the link is in a header field.
	InHeader bool
}

type finder struct {
	base  *url.URL
	feeds []FoundFeed
}

// FindFeeds returns the feeds that the page at u refers to, in its text or in links (the Link fields of its response,
// RFC 8288), without duplicates. contentType is the Content-Type of the response.
func FindFeeds(u *url.URL, links []string, contentType string, page io.Reader) ([]FoundFeed, error) {
	f := &finder{base: u}
	parsed, _ := linkheader.Parse(links)
	for _, l := range parsed {
		if _, elsewhere := l.Anchor(); !elsewhere && l.Rel("alternate") {
			title, ok := l.Param("title*")
			if !ok {
				title, _ = l.Param("title")
			}
			f.add(l.Target, l.Type(), title, true)
		}
	}
	text, err := charset.NewReader(io.LimitReader(page, maxPage), contentType)
	if err == io.EOF { // the page is empty
		return f.feeds, nil
	}
	if err != nil {
		return f.feeds, err
	}
	return f.feeds, f.scan(html.NewTokenizer(text))
}

// scan reads the tags of a page.
func (f *finder) scan(z *html.Tokenizer) error {
	based := false
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); err != io.EOF {
				return err
			}
			return nil
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			switch string(name) {
			case "base":
				if href, ok := attributes(z, more)["href"]; ok && !based { // only the first href of a base element is used
					based = true
					if u, err := f.base.Parse(strings.TrimSpace(href)); err == nil {
						f.base = u
					}
				}
			case "link", "a":
				f.link(attributes(z, more))
			}
		}
	}
}

func attributes(z *html.Tokenizer, more bool) map[string]string {
	list := map[string]string{}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if _, again := list[string(key)]; !again {
			list[string(key)] = string(value)
		}
	}
	return list
}

// link adds a link to a feed or a sitemap.
func (f *finder) link(a map[string]string) {
	rels := strings.Fields(strings.ToLower(a["rel"]))
	switch {
	case slices.Contains(rels, "alternate"):
		f.add(a["href"], a["type"], a["title"], false)
	case slices.Contains(rels, "sitemap"):
		f.keep(FoundFeed{Type: mediaType(a["type"]), Format: &news.SitemapFormat, Title: a["title"]}, a["href"])
	}
}

// add adds a link if kind is the media type of a feed.
func (f *finder) add(target, kind, title string, inHeader bool) {
	kind = mediaType(kind)
	if format, _, ok := formats.OfType(kind); ok {
		f.keep(FoundFeed{Type: kind, Format: format, Title: title, InHeader: inHeader}, target)
	}
}

func mediaType(s string) string {
	kind, _, err := mime.ParseMediaType(s)
	if err != nil && err != mime.ErrInvalidMediaParameter {
		return ""
	}
	return kind
}

// keep adds a feed with an http or https URL, unless it was found before.
func (f *finder) keep(found FoundFeed, target string) {
	if len(target) > feed.MaxURL || len(f.feeds) == mostFeeds {
		return
	}
	u, err := f.base.Parse(strings.TrimSpace(target))
	if err != nil || target == "" || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	if slices.ContainsFunc(f.feeds, func(known FoundFeed) bool { return known.URL.String() == u.String() }) {
		return
	}
	found.URL = u
	found.Title = strings.Join(strings.Fields(found.Title), " ")
	if runes := []rune(found.Title); len(runes) > longestTitle {
		found.Title = string(runes[:longestTitle])
	}
	f.feeds = append(f.feeds, found)
}
