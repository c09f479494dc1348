package hinadi_test

import (
	"fmt"
	"strings"

	"braid/antenna/feed"
	"braid/antenna/hinadi"
)

// A block breaks a MUST, and is left out; the one after it is read.
func ExampleNewDecoder() {
	text := "HINA/2.2\r\n\r\nURL: http://example.org/a\r\nURL: http://example.org/b\r\n\r\n" +
		"URL: http://example.org/c\r\nLast-Modified: Mon, 09 Nov 2026 22:05:00 GMT\r\n\r\n"
	for r, err := range hinadi.NewDecoder(strings.NewReader(text), feed.Options{}).Records() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.URL, r.LastModified)
	}
	// Output: http://example.org/c 2026-11-09 22:05:00 UTC
}
