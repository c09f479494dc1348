package hinadi

import (
	"strings"
	"testing"
)

// Whatever is found is said in words that name the field and what it says.
func TestWords(t *testing.T) {
	for code, text := range texts {
		got := words(code, "Expire", "x y")
		if strings.ContainsAny(got, "{}") || strings.Contains(text, "{field}") != strings.Contains(got, "Expire") {
			t.Errorf("%s: %s", code, got)
		}
	}
	if got, want := words(dateZone+"JST", "Expire", "x y"), "Expire has the zone JST and not GMT: \"x y\" (section 5.7)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := words("unheard-of", "Expire", "x y"); got != "unheard-of" {
		t.Errorf("%q", got)
	}
}
