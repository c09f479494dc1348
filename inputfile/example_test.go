package inputfile_test

import (
	"fmt"

	"braid/inputfile"
)

// A line has the places of one file, and indented lines say more about it.
func ExampleEntries() {
	list := "# a comment\n" +
		"https://example.org/a.iso\thttps://mirror.example.net/a.iso\n" +
		"  out=disk.iso\n" +
		"https://example.org/b.iso\n"
	for entry, err := range inputfile.Entries(list) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("line", entry.Line, entry.URIs)
		for _, o := range entry.Options {
			fmt.Println(" ", o.Name, "is", o.Value)
		}
	}
	// Output:
	// line 2 [https://example.org/a.iso https://mirror.example.net/a.iso]
	//   out is disk.iso
	// line 4 [https://example.org/b.iso]
}
