package releaseapi_test

import (
	"fmt"
	"strings"

	"braid/antenna/feed"
	"braid/antenna/releaseapi"
)

func Example() {
	const text = `[{"tag_name":"v1.3","draft":true},
{"tag_name":"v1.2","prerelease":true,"html_url":"https://forge.example/tool/releases/v1.2","assets":[
{"browser_download_url":"https://forge.example/tool/releases/v1.2/tool.zip","state":"uploaded","size":4}]}]`
	for r, err := range releaseapi.NewDecoder(strings.NewReader(text), feed.Options{}).Records() {
		fmt.Println(r.Tag, r.PreRelease, r.URL, r.Size, err)
	}
	// Output:
	// v1.2 true https://forge.example/tool/releases/v1.2/tool.zip 4 <nil>
}
