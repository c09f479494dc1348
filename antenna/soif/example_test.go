package soif_test

import (
	"fmt"
	"strings"

	"braid/antenna/feed"
	"braid/antenna/soif"
)

// The size of a value is given in bytes, so a brace in a value does not end the object.
func ExampleNewDecoder() {
	text := "@FILE { http://example.org/a.tar.xz\nTitle{5}:\ta } " +
		"b\nLast-Modification-Time{10}:\t1794261900\nFile-Size{7}:\t1849320\n}\n"
	for r, err := range soif.NewDecoder(strings.NewReader(text), feed.Options{}).Records() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %q %d %d\n", r.URL, r.Title, r.LastModified, r.Size)
	}
	// Output: http://example.org/a.tar.xz "a } b" 1794261900 1849320
}
