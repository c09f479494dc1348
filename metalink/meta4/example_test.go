package meta4_test

import (
	"fmt"
	"strings"

	"braid/metalink/meta4"
)

// What a document says of a file. A name that could leave its folder is left out.
func ExampleParse() {
	doc, err := meta4.Parse(strings.NewReader(`<metalink xmlns="urn:ietf:params:xml:ns:metalink">
		<file name="pub/disk.iso"><size>11</size><hash type="sha-256">b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9</hash>
			<url priority="2">https://a.example.net/disk.iso</url><url priority="1">https://b.example.net/disk.iso</url></file>
		<file name="../.bashrc"><url>https://a.example.net/x</url></file></metalink>`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range doc.Files {
		fmt.Println(f.Name, f.Size, len(f.Hashes), f.Mirrors[0].URL)
	}
	for _, r := range doc.Refused {
		fmt.Println("refused:", r.Name)
	}
	// Output:
	// pub/disk.iso 11 1 https://b.example.net/disk.iso
	// refused: ../.bashrc
}
