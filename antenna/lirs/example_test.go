package lirs_test

import (
	"fmt"
	"slices"
	"strings"

	"braid/antenna/feed"
	"braid/antenna/lirs"
)

// A line with too few fields is skipped. Errors that readers of LIRS repair are reported.
func ExampleNewDecoder() {
	text := "LIRS,1794261900,1794279490,32400,0,http://example.org/,title,author,http://antenna.example.jp/,\nLIRS,1,2\n"
	d := lirs.NewDecoder(strings.NewReader(text), feed.Options{Report: func(v feed.Violation) {
		if v.Line > 0 { // line 0 is a violation of the whole feed, here that it is not compressed
			fmt.Println("line", v.Line, v.Code)
		}
	}})
	for r, err := range d.Records() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.URL, r.Title, r.LastModified)
	}
	// Output:
	// http://example.org/ title 2026-11-09 22:05:00 UTC
	// line 2 no-trailing-comma
	// line 2 too-few-fields
}

// Encode writes the records of an antenna. It writes 0 for an unknown value.
func ExampleEncode() {
	seen := []feed.Record{{URL: "http://example.org/disk.iso", Title: "disk", LastModified: 1794261900, Detected: 1794279490}}
	var out strings.Builder
	err := lirs.Encode(&out, slices.Values(seen))
	fmt.Print(out.String(), err)
	// Output:
	// LIRS,1794261900,1794279490,0,0,http://example.org/disk.iso,disk,0,0,
	// <nil>
}
