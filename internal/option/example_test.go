package option_test

import (
	"fmt"

	"braid/internal/option"
)

// A command's own table precedes the values for all commands. An unknown key is an error with its line.
func ExampleParseSettings() {
	f, err := option.ParseSettings([]byte("limit-rate = \"20M\"\n[get]\nlimit-rate = \"5M\"\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	v, ok := f.Value("get", "limit-rate")
	fmt.Println(v.Words, v.Line, ok)
	_, err = option.ParseSettings([]byte("limit-rat = \"20M\"\n"))
	fmt.Println(err)
	// Output:
	// [5M] 3 true
	// line 1: limit-rat: unknown key
}

// A line has the URLs of one file, and indented lines have its options.
func ExampleEntries() {
	list := "# a comment\n" +
		"https://example.org/a.iso\thttps://mirror.example.net/a.iso\n" +
		"  out=disk.iso\n" +
		"https://example.org/b.iso\n"
	for entry, err := range option.Entries(list) {
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
