package formats_test

import (
	"fmt"
	"strings"

	"braid/antenna/feed"
	"braid/antenna/formats"
)

func Example() {
	format, ok := formats.OfWord("rss")
	if !ok {
		return
	}
	const text = `<rss version="2.0"><channel><item><link>https://example.org/a</link></item></channel></rss>`
	for r, err := range format.Decode(strings.NewReader(text), feed.Options{}).Records() {
		fmt.Println(format.Name, r.URL, err)
	}
	// Output:
	// news https://example.org/a <nil>
}
