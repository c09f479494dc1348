package antenna_test

import (
	"fmt"
	"os"
	"strings"

	"braid/antenna"
	"braid/antenna/feed"
	"braid/antenna/lirs"
)

const hina = "HINA/2.2\r\nUser-Agent: antenna/1.0\r\n\r\n" +
	"URL: http://example.org/a.tar.xz\r\nLast-Modified: Mon, 09 Nov 2026 22:05:00 GMT\r\nAuthorized: " +
	"antenna/1.0\r\nAuthorized-url: http://antenna.example.jp/\r\n" +
	"Last-Modified-Detected: Mon, 09 Nov 2026 22:10:00 GMT\r\nMethod: REMOTE/HEAD/200\r\n\r\n"

// A feed of any format is read, record by record, in memory that does not grow with it.
func ExampleOpenFeed() {
	in, format, err := antenna.OpenFeed(strings.NewReader(hina), feed.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for r, err := range antenna.NewDecoder(format, in, feed.Options{}).Records() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(format, r.URL, r.LastModified)
	}
	// Output: hina-di http://example.org/a.tar.xz 2026-11-09 22:05:00 UTC
}

// What was read in one format is written in another.
func ExampleNewDecoder() {
	in, format, err := antenna.OpenFeed(strings.NewReader(hina), feed.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = lirs.Encode(os.Stdout, func(yield func(feed.Record) bool) {
		for r, err := range antenna.NewDecoder(format, in, feed.Options{}).Records() {
			if err != nil || !yield(r) {
				return
			}
		}
	})
	fmt.Println(err)
	// Output:
	// LIRS,1794261900,1794262200,0,0,http://example.org/a.tar.xz,0,0,http://antenna.example.jp/,
	// <nil>
}
