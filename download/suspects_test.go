package download

import (
	"net/url"
	"slices"
	"strconv"
	"testing"

	"braid/byterange"
)

// However many sources a file has, few are asked for all of it alone, and those that sent all of a wrong file
// come last.
func TestFewAreAskedAlone_Rule40(t *testing.T) {
	t.Parallel()
	var x sources
	for i := range 10 {
		o := &origin{url: &url.URL{Scheme: "https", Host: "m.example", Path: strconv.Itoa(i)}}
		if i < 8 {
			o.brought.Add(byterange.Range{End: 100})
		}
		x.all = append(x.all, o)
	}
	var asked []string
	for _, c := range x.candidates(100, false, false) {
		asked = append(asked, c.url.Path)
	}
	if !slices.Equal(asked, []string{"8", "9", "0", "1"}) {
		t.Errorf("asked: %v", asked)
	}
}
