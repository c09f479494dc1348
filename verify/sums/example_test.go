package sums_test

import (
	"errors"
	"fmt"

	"braid/verify"
	"braid/verify/sums"
)

// What a list says of a file is a claim like any other, as good as the way the list came.
func ExampleRead() {
	list, err := sums.Read("SHA256SUMS", []byte(
		"b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9 *disk.iso\n"+
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  empty.txt\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"disk.iso", "disc.iso"} {
		claims, _, err := list.Find([]string{name}, "SHA256SUMS", verify.HTTPS)
		if missing, ok := errors.AsType[*sums.NotFoundError](err); ok {
			fmt.Println("not there:", missing.Name)
			continue
		}
		fmt.Println(claims, err)
	}
	// Output:
	// [sha-256 from line 1 of SHA256SUMS over https] <nil>
	// not there: disc.iso
}
