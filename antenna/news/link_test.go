package news

import (
	"strings"
	"testing"

	"braid/antenna/feed"
)

// TestLinks checks that a relative link is resolved against the URL of the feed, that a host is converted to ASCII, and
// that a guid with isPermaLink="false" is not a link.
func TestLinks(t *testing.T) {
	const base = "https://h.example/pub/releases.atom"
	atom := func(attrs, link string) string {
		return `<feed xmlns="http://www.w3.org/2005/Atom"` + attrs +
			`><entry><id>urn:x</id><updated>2026-11-10T00:00:00Z</updated><link href="` + link + `"/></entry></feed>`
	}
	item := func(text string) string { return rssHead + "<item>" + text + "</item>" + rssTail }
	for name, tt := range map[string]struct{ text, base, want string }{
		"relative":                   {atom("", "a.iso"), base, "https://h.example/pub/a.iso"},
		"from the root":              {atom("", "/a.iso"), base, "https://h.example/a.iso"},
		"relative, and nobody knows": {atom("", "a.iso"), "", ""},
		"a relative xml:base":        {atom(` xml:base="sub/"`, "a.iso"), base, "https://h.example/pub/sub/a.iso"},
		"an xml:base":                {atom(` xml:base="http://b.example/"`, "a.iso"), base, "http://b.example/a.iso"},
		"absolute":                   {atom("", "http://b.example/a[1].iso"), base, "http://b.example/a[1].iso"},
		"of RSS":                     {item("<link>../a.iso</link>"), base, "https://h.example/a.iso"},
		"no URL at all":              {item("<link>see there</link>"), base, ""},
		"letters in the host":        {atom("", "https://bücher.example/ä"), "", "https://xn--bcher-kva.example/%C3%A4"},
		"letters in the host, escaped": {atom("", "https://b%C3%BCcher.example:8443/a"), "",
			"https://xn--bcher-kva.example:8443/a"},
		"letters in the host, with base": {atom(` xml:base="https://bücher.example/"`, "a"), "",
			"https://xn--bcher-kva.example/a"},
		"a guid":                 {item("<guid>https://h.example/a</guid>"), "", "https://h.example/a"},
		"a guid that is no link": {item(`<guid isPermaLink="false">https://h.example/a</guid>`), "", ""},
		"a guid that is one":     {item(`<guid isPermaLink="true">https://h.example/a</guid>`), "", "https://h.example/a"},
	} {
		records, codes, err := read(tt.text, feed.Options{Base: tt.base})
		got := ""
		if len(records) > 0 {
			got = records[0].URL
		}
		if got != tt.want || err != nil {
			t.Errorf("%s: %q, want %q; %v, %v", name, got, tt.want, codes, err)
		}
	}
	for r, err := range NewSitemapDecoder(strings.NewReader(`<urlset><url><loc>https://bücher.example/a</loc></url></urlset>`), feed.Options{}).Records() {
		if r.URL != "https://xn--bcher-kva.example/a" || err != nil {
			t.Errorf("a sitemap: %+v, %v", r, err)
		}
	}
}
