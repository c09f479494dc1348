package release_test

import (
	"fmt"

	"braid/antenna/feed"
	"braid/antenna/release"
)

func Example() {
	t, err := release.ParseTemplate("https://example.org/dl/{tag}/tool_{version}_linux.tar.gz", release.Patterns{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var list []release.Release
	for _, page := range []string{
		"https://example.org/tool/releases/tag/v2.1.0-rc.1",
		"https://example.org/tool/releases/tag/v2.0.3",
		"https://example.org/tool/releases/tag/v2.0.10",
		"https://example.org/tool/releases/tag/v2.0.1%2F..%2Fetc",
	} {
		if r, ok := t.Of(feed.Record{Format: feed.News, URL: page}); ok {
			list = append(list, r)
		}
	}
	newer, _ := release.Choice{}.Newer(list, "2.0.2")
	for _, r := range newer {
		fmt.Println(r.Version, r.URL)
	}
	// Output:
	// 2.0.10 https://example.org/dl/v2.0.10/tool_2.0.10_linux.tar.gz
	// 2.0.3 https://example.org/dl/v2.0.3/tool_2.0.3_linux.tar.gz
}

func ExampleCompare() {
	fmt.Println(release.Compare("1.10.0", "1.9.0") > 0)
	fmt.Println(release.Compare("1.22rc1", "1.22") < 0)
	fmt.Println(release.Compare("1.0.0+linux", "1.0.0"))
	// Output:
	// true
	// true
	// 0
}
