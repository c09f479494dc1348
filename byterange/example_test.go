package byterange_test

import (
	"fmt"

	"braid/byterange"
)

// The gaps of a Set are the ranges to request for the rest of a file.
func ExampleSet() {
	var have byterange.Set
	have.Add(byterange.Range{Start: 0, End: 500})
	have.Add(byterange.Range{Start: 800, End: 1000})
	fmt.Println("here:", have, "of them", have.Len(), "bytes")
	for gap := range have.Gaps(byterange.Range{Start: 0, End: 1200}) {
		fmt.Println("Range:", gap.Field())
	}
	// Output:
	// here: 0-499,800-999 of them 700 bytes
	// Range: bytes=500-799
	// Range: bytes=1000-1199
}

// ParseRange parses the Range field of a request. A server may respond with the first range that it can serve (RFC
// 9110, section 14).
func ExampleParseRange() {
	const size = 1234
	ranges, err := byterange.ParseRange("bytes=-500", size)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("Content-Range:", byterange.ContentRange{Range: ranges[0], Size: size})
	// Output: Content-Range: bytes 734-1233/1234
}
