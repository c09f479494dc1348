package versions_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"braid/download/versions"
	"braid/verify"
)

// What a server said of a file makes the next request for it conditional.
func ExampleStore() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	u, err := url.Parse("https://example.org/latest.iso")
	if err != nil {
		fmt.Println(err)
		return
	}
	digest, err := verify.ParseHex(verify.SHA256, "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9")
	if err != nil {
		fmt.Println(err)
		return
	}
	s := versions.Open(dir)
	file := filepath.Join(dir, "latest.iso")
	if err := s.Keep(file, u, versions.Version{ETag: `"1"`, Host: "example.org:443", Size: 11, Digest: digest}); err != nil {
		fmt.Println(err)
		return
	}
	v, ok := s.Find(file, u)
	fmt.Println(v.ETag, v.Size, ok)
	_, ok = s.Find(filepath.Join(dir, "another.iso"), u)
	fmt.Println(ok)
	// Output:
	// "1" 11 true
	// false
}
