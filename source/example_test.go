package source_test

import (
	"fmt"
	"net/url"

	"braid/source"
)

// Mask removes secrets from a URL and escapes control characters (rules 61 and 62).
func ExampleMask() {
	u, err := url.Parse("https://alice:secret@example.org/disk.iso?token=abc")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(source.Mask(u), source.HostPort(u))
	fmt.Println(source.Escape("disk\x1b[2J.iso"))
	// Output:
	// https://alice:***@example.org/disk.iso?token=*** example.org:443
	// disk\x1b[2J.iso
}
