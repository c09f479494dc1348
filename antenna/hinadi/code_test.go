package hinadi

import (
	"slices"
	"strings"
	"testing"

	"braid/antenna/feed"
)

// Whatever is found is said in words that name the field and what it says.
func TestWords(t *testing.T) {
	for code, text := range texts {
		got := feed.Say(texts[code], "Expire", "x y")
		if strings.ContainsAny(got, "{}") || strings.Contains(text, "{field}") != strings.Contains(got, "Expire") {
			t.Errorf("%s: %s", code, got)
		}
	}
}

// Keywords are what stands between commas, without the nothing that stands there, too (section 5.18).
func TestKeywords(t *testing.T) {
	records, _, _, err := read(head+"URL: http://a.example/\r\nKeyword: a,, b\t,\r\n\r\n", feed.Options{})
	if err != nil || len(records) != 1 || !slices.Equal(records[0].Keywords, []string{"a", "b"}) {
		t.Errorf("%v, %v", records, err)
	}
}
