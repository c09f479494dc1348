package metalink

import (
	"net/url"
	"strings"
	"testing"
)

// The user's countries come first, in their order; what is preferred stays before what is not, and the rest is as it was.
func TestNear(t *testing.T) {
	list := func() (m []Mirror) {
		for i, geo := range []string{"DE", "", "JP", "FR", "DE", "JP", "FR"} {
			m = append(m, Mirror{URL: &url.URL{Path: string(rune('a' + i))}, Geo: geo, Pri: i, Pref: i >= 5})
		}
		return m
	}
	for _, tt := range []struct{ countries, want string }{{"", "fgabcde"}, {"JP", "fgcabde"}, {"FR JP", "gfdcabe"}, {"US", "fgabcde"}, {"DE", "fgaebcd"}} {
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
