package hinadi

import (
	"slices"
	"testing"

	"braid/antenna/feed"
)

// Keywords are what stands between commas, without the nothing that stands there, too (section 5.18).
func TestKeywords(t *testing.T) {
	records, _, _, err := read(head+"URL: http://a.example/\r\nKeyword: a,, b\t,\r\n\r\n", feed.Options{})
	if err != nil || len(records) != 1 || !slices.Equal(records[0].Keywords, []string{"a", "b"}) {
		t.Errorf("%v, %v", records, err)
	}
}
