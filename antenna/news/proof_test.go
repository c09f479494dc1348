package news

import (
	"fmt"
	"strings"
	"testing"

	"braid/antenna/feed"
)

const podcast = `<rss version="2.0" xmlns:podcast="https://podcastindex.org/namespace/1.0"><channel><item><title>One</title>
<link>https://p.example/one</link><pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate>
<enclosure url="https://p.example/one.mp3" length="10" type="audio/mpeg"/>
<podcast:alternateEnclosure type="audio/mpeg" default="true">
<podcast:source uri="https://p.example/one.mp3"/><podcast:source uri="/copies/one.mp3"/><podcast:source uri="magnet:?xt=1"/>
<podcast:integrity type="pgp-signature" value="LS0t"/><podcast:integrity type="sri" value="sha256-AAAA sha512-BBBB"/>
</podcast:alternateEnclosure>
<podcast:alternateEnclosure type="video/mp4"><podcast:source uri="https://p.example/one.mp4"/></podcast:alternateEnclosure>
</item></channel></rss>`

// TestProof_Rule81: the digests and places of a file are those that the feed states of it, and of no other.
func TestProof_Rule81(t *testing.T) {
	digits := strings.Repeat("ab", 32)
	for name, tt := range map[string]struct{ text, want string }{
		"podcast": {podcast, "https://p.example/one.mp3 [sha256-AAAA sha512-BBBB] [https://p.example/copies/one.mp3]\n" +
			"https://p.example/copies/one.mp3 [sha256-AAAA sha512-BBBB] [https://p.example/one.mp3]\n" +
			"https://p.example/one.mp4 [] []\nhttps://p.example/one [] []\n"},
		"json": {`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","url":"https://p.example/one","attachments":[` +
			`{"url":"https://p.example/a","mime_type":"a/b","sha256":"` + digits +
			`"},{"url":"https://p.example/b","mime_type":"a/b","_sha256":"` + digits + `"},` +
			`{"url":"https://p.example/c","mime_type":"a/b","sha256":"no"}]}]}`,
			"https://p.example/a [sha256:" + digits + "] []\nhttps://p.example/b [sha256:" + digits + "] []\n" +
				"https://p.example/c [] []\nhttps://p.example/one [] []\n"},
	} {
		var b strings.Builder
		for r, err := range NewDecoder(strings.NewReader(tt.text), feed.Options{Base: "https://p.example/feed"}).Records() {
			if err != nil {
				t.Fatal(name, err)
			}
			digests, mirrors := r.Proof()
			fmt.Fprintln(&b, r.URL, digests, mirrors)
			if len(r.Warnings) > 0 && name == "podcast" {
				t.Errorf("%s: %v", r.URL, r.Warnings)
			}
		}
		if b.String() != tt.want {
			t.Errorf("%s:\n%swant:\n%s", name, b.String(), tt.want)
		}
	}
}

// TestPlacesAreLimited checks that an item has not more places than are kept.
func TestPlacesAreLimited(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, `<podcast:source uri="https://p.example/%d"/>`, i)
	}
	text := strings.Replace(podcast, `<podcast:source uri="/copies/one.mp3"/>`, b.String(), 1)
	n := 0
	for _, err := range NewDecoder(strings.NewReader(text), feed.Options{}).Records() {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n > maxPlaces+2 {
		t.Errorf("%d records", n)
	}
}
