package news_test

import (
	"fmt"
	"strings"

	"braid/antenna/feed"
	"braid/antenna/news"
)

// An item of RSS becomes a record of its link and one of each enclosure.
func ExampleNewDecoder() {
	text := `<rss version="2.0"><channel><title>releases</title><item><title>1.0</title><link>https://example.org/1.0</link>
		<enclosure url="https://example.org/disk.iso" length="1849320" type="application/octet-stream"/>
		<pubDate>Mon, 09 Nov 2026 22:05:00 GMT</pubDate></item></channel></rss>`
	for r, err := range news.NewDecoder(strings.NewReader(text), feed.Options{}).Records() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.URL, r.Size)
	}
	// Output:
	// https://example.org/disk.iso 1849320
	// https://example.org/1.0 0
}
