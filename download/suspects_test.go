package download

import (
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"braid/byterange"
)

// Proves rule 40: a source that differs from the others is suspected first, and the server that the user
// asked last.
func TestDoubts_Rule40(t *testing.T) {
	t.Parallel()
	day, later := time.Unix(1e9, 0), time.Unix(1e9+86400, 0)
	asked := showing{asked: true, etag: `"v2"`, modified: later}
	for name, tt := range map[string]struct {
		all   []showing
		first int // the most suspected source; -1: several
	}{
		"another date":     {[]showing{asked, {modified: later}, {modified: day}, {modified: later}}, 2},
		"another tag":      {[]showing{asked, {etag: `"v2"`}, {etag: `"v2"`}, {etag: `"v1"`}}, 3},
		"no digest":        {[]showing{asked, {vouches: true}, {}, {vouches: true}}, 2},
		"nothing":          {[]showing{asked, {}, {}, {}}, -1},
		"all dates differ": {[]showing{asked, {modified: day}, {modified: day}, {modified: day, etag: `"v1"`}}, 3},
		"tags are of each server, and one has another date": {
			[]showing{asked, {etag: `"a"`, modified: later}, {etag: `"b"`, modified: day}, {etag: `"c"`, modified: later}}, 2},
		"the server leads elsewhere, most agree": {[]showing{{modified: later}, {modified: later}, {modified: day}, {}}, 2},
		"no two agree":                           {[]showing{{}, {etag: `"a"`}, {etag: `"b"`}, {etag: `"c"`}}, -1},
		"a digest outweighs a date":              {[]showing{asked, {vouches: true, modified: day}, {}, {vouches: true}}, 2},
	} {
		got := doubts(tt.all)
		most := slices.Max(got)
		first := slices.Index(got, most)
		if slices.Contains(got[first+1:], most) {
			first = -1
		}
		if first != tt.first || slices.Contains(got[1:], doubtAsked) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

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
