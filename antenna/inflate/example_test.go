package inflate_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"braid/antenna/feed"
	"braid/antenna/inflate"
)

// Whether a feed is compressed shows its first octets; what it becomes is bounded.
func ExampleNewReader() {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.WriteString(w, "LIRS,0,0,0,0,http://example.org/,,,,\n"); err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}
	for _, limit := range []int64{0, 10} { // 0 is the limit of rule 52
		r := inflate.NewReader(bytes.NewReader(packed.Bytes()), feed.Limits{Bytes: limit})
		text, err := io.ReadAll(r)
		fmt.Printf("%t %q %v\n", r.Gzip(), text, err)
	}
	// Output:
	// true "LIRS,0,0,0,0,http://example.org/,,,,\n" <nil>
	// true "LIRS,0,0,0" feed: more than 10 octets
}
