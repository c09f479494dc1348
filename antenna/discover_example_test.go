package antenna_test

import (
	"fmt"
	"net/url"
	"strings"

	"braid/antenna"
)

// FindFeeds returns the feeds that a page links to, with absolute URLs.
func ExampleFindFeeds() {
	u, err := url.Parse("https://example.org/project/")
	if err != nil {
		fmt.Println(err)
		return
	}
	page := `<html><head><link rel="alternate" type="application/atom+xml" title="Releases" href="../releases.atom"></head></html>`
	feeds, err := antenna.FindFeeds(u, nil, "text/html", strings.NewReader(page))
	for _, f := range feeds {
		fmt.Println(f.URL, f.Type, f.Title)
	}
	fmt.Println(err)
	// Output:
	// https://example.org/releases.atom application/atom+xml Releases
	// <nil>
}
