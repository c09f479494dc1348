package metalink

import (
	"net/url"
	"strings"
	"testing"
)

// TestNear checks that Near moves mirrors in the given countries to the front in the order of the countries, keeps
// preferred mirrors before others, and changes nothing else.
func TestNear(t *testing.T) {
	list := func() (m []Mirror) {
		for i, geo := range []string{"DE", "", "JP", "FR", "DE", "JP", "FR"} {
			m = append(m, Mirror{URL: &url.URL{Path: string(rune('a' + i))}, Geo: geo, Pri: i, Pref: i >= 5})
		}
		return m
	}
	for _, tt := range []struct{ countries, want string }{{"", "fgabcde"}, {"JP", "fgcabde"}, {"FR JP", "gfdcabe"},
		{"US", "fgabcde"}, {"DE", "fgaebcd"}} {
		m := list()
		Near(m, strings.Fields(tt.countries)...)
		got := ""
		for _, one := range m {
			got += one.URL.Path
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.countries, got, tt.want)
		}
	}
}
