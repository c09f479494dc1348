package lirs_test

import (
	"fmt"
	"strings"

	"braid/antenna/feed"
	"braid/antenna/lirs"
)

// What a line has too little of is skipped; what readers of LIRS repair is reported.
func ExampleNewDecoder() {
	text := "LIRS,1794261900,1794279490,32400,0,http://example.org/,title,author,http://antenna.example.jp/,\nLIRS,1,2\n"
	d := lirs.NewDecoder(strings.NewReader(text), feed.Options{Report: func(v feed.Violation) {
		if v.Line > 0 { // else it is about the feed: nobody compressed it
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
