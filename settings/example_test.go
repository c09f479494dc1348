package settings_test

import (
	"fmt"

	"braid/settings"
)

// A command's own table comes before what counts for all; a key that is none is an error with its line.
func ExampleParse() {
	known := settings.Known{"get": {"limit-rate": settings.Word, "quiet": settings.Switch}}
	f, err := settings.Parse([]byte("limit-rate = \"20M\"\n[get]\nlimit-rate = \"5M\"\n"), known)
	if err != nil {
		fmt.Println(err)
		return
	}
	v, ok := f.Value("get", "limit-rate")
	fmt.Println(v.Words, v.Line, ok)
	_, err = settings.Parse([]byte("limit-rat = \"20M\"\n"), known)
	fmt.Println(err)
	// Output:
	// [5M] 3 true
	// line 1: limit-rat: no such key
}
