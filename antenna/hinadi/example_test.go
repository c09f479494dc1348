package hinadi_test

import (
	"fmt"
	"slices"
	"strings"

	"braid/antenna/feed"
	"braid/antenna/hinadi"
)

// The first block violates a MUST and is discarded. The second one is decoded.
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

// Encode writes the records of an antenna.
func ExampleEncode() {
	seen := []feed.Record{{URL: "http://example.org/disk.iso", Title: "disk", LastModified: 1794261900, Detected: 1794279490}}
	var out strings.Builder
	err := hinadi.Encode(&out, hinadi.Header{UserAgent: "example/1.0"}, slices.Values(seen))
	fmt.Print(strings.ReplaceAll(out.String(), "\r\n", "\n"), err)
	// Output:
	// HINA/2.2beta
	// User-Agent: example/1.0
	// Content-Type: text/plain; charset=EUC-JP
	//
	// URL: http://example.org/disk.iso
	// Title: disk
	// Last-Modified: Mon, 09 Nov 2026 22:05:00 GMT
	// Last-Modified-Detected: Tue, 10 Nov 2026 02:58:10 GMT
	//
	// <nil>
}
