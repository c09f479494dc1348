package recheck

import (
	"slices"
	"testing"
	"time"
)

// Proves rule 40: a source that differs from the others is suspected first, and the server that the user
// asked last.
func TestDoubts_Rule40(t *testing.T) {
	t.Parallel()
	day, later := time.Unix(1e9, 0), time.Unix(1e9+86400, 0)
	asked := Showing{Asked: true, ETag: `"v2"`, Modified: later}
	for name, tt := range map[string]struct {
		all   []Showing
		first int // the most suspected source; -1: several
	}{
		"another date":     {[]Showing{asked, {Modified: later}, {Modified: day}, {Modified: later}}, 2},
		"another tag":      {[]Showing{asked, {ETag: `"v2"`}, {ETag: `"v2"`}, {ETag: `"v1"`}}, 3},
		"no digest":        {[]Showing{asked, {Vouches: true}, {}, {Vouches: true}}, 2},
		"nothing":          {[]Showing{asked, {}, {}, {}}, -1},
		"all dates differ": {[]Showing{asked, {Modified: day}, {Modified: day}, {Modified: day, ETag: `"v1"`}}, 3},
		"tags are of each server, and one has another date": {
			[]Showing{asked, {ETag: `"a"`, Modified: later}, {ETag: `"b"`, Modified: day}, {ETag: `"c"`, Modified: later}}, 2},
		"the server leads elsewhere, most agree": {[]Showing{{Modified: later}, {Modified: later}, {Modified: day}, {}}, 2},
		"no two agree":                           {[]Showing{{}, {ETag: `"a"`}, {ETag: `"b"`}, {ETag: `"c"`}}, -1},
		"a digest outweighs a date":              {[]Showing{asked, {Vouches: true, Modified: day}, {}, {Vouches: true}}, 2},
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
