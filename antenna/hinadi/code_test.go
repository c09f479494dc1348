package hinadi

import (
	"slices"
	"testing"

	"braid/antenna/feed"
)

// TestKeywords checks that keywords are separated by commas and that empty ones are dropped (section 5.18).
func TestKeywords(t *testing.T) {
	records, _, _, err := read(head+"URL: http://a.example/\r\nKeyword: a,, b\t,\r\n\r\n", feed.Options{})
	if err != nil || len(records) != 1 || !slices.Equal(records[0].Keywords, []string{"a", "b"}) {
		t.Errorf("%v, %v", records, err)
	}
}
