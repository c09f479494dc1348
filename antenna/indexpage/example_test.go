package indexpage_test

import (
	"fmt"
	"strings"

	"braid/antenna/feed"
	"braid/antenna/indexpage"
)

func Example() {
	const page = `<html><head><title>Index of /pub/</title></head><body><pre><a href="../">../</a>
<a href="disk-1.2.3.iso">disk-1.2.3.iso</a>   01-Oct-2026 12:00    15
<a href="sub/">sub/</a>                       01-Oct-2026 12:00     -
</pre></body></html>`
	d := indexpage.NewDecoder(strings.NewReader(page), feed.Options{Base: "https://example.org/pub/"})
	for r, err := range d.Records() {
		fmt.Println(r.URL, r.LastModified, r.Size, err)
	}
	// Output:
	// https://example.org/pub/disk-1.2.3.iso 2026-10-01 12:00:00 UTC 15 <nil>
}
