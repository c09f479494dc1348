package ftpsource_test

import (
	"fmt"
	"net/url"

	"braid/source/ftpsource"
)

// Nobody is asked for a URL that would make another command of a path (rule 58).
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
