package ftpsource_test

import (
	"fmt"
	"net/url"

	"braid/source/ftpsource"
)

// Check returns an error for a URL whose path would add another command (rule 58). It sends nothing.
func ExampleCheck() {
	for _, s := range []string{"ftp://ftp.example.org/pub/disk.iso", "ftp://ftp.example.org/disk.iso%0d%0aDELE%20x"} {
		u, err := url.Parse(s)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(ftpsource.Check(u) == nil)
	}
	// Output:
	// true
	// false
}
