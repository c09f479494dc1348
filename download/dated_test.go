package download_test

import (
	"net/http"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
)

// Proves rule 40: a mirror whose Last-Modified contradicts the server's is used last: it brings nothing while others work, unless its
// digest is the right one; one without a date is used as ever.
func TestDatedMirror_Rule40(t *testing.T) {
	t.Parallel()
	const size = 24 * mib
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	other := mirrortest.Modified(day.Add(-24 * time.Hour))
	for name, tt := range map[string]struct {
		options []mirrortest.Option
		works   bool
	}{
		"another date":                  {[]mirrortest.Option{other}, false},
		"another date, other bytes":     {[]mirrortest.Option{other, mirrortest.Corrupt(marks(mib, size)...)}, false},
		"another date, the same digest": {[]mirrortest.Option{other, mirrortest.Digest()}, true},
		"no date":                       {[]mirrortest.Option{mirrortest.Modified(time.Time{})}, true},
		"the same date":                 {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin, odd := several(t, size, 3, []mirrortest.Option{mirrortest.Modified(day)}, tt.options)
			r := newRun(t, origin.URL)
			res := r.right(origin.Content)
			verified(t, res, byDigest)
			if share := from(t, res, odd); tt.works != (share.Bytes > 0) || share.Banned || res.Compared > 0 {
				t.Errorf("%+v, %d bytes compared", share, res.Compared)
			}
			if n := len(saw[download.Restarted](r)); n > 0 {
				t.Errorf("%d restarts", n)
			}
		})
	}
}

// A mirror of another date serves when no other is left, and the digest decides.
func TestDatedMirrorAlone_Rule40(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	odd := sized(t, size, mirrortest.Modified(day.Add(-24*time.Hour)))
	origin := sized(t, size, mirrortest.Modified(day), mirrortest.Digest(), mirrortest.Mirrors(odd.URL))
	origin.Set(mirrortest.Once(mirrortest.Rate(mib), mirrortest.CutAfter(mib)))
	first := true
	origin.Set(mirrortest.Choose(func(req *http.Request) []mirrortest.Option {
		if first && req.Method == "GET" {
			first = false
			return nil
		}
		return []mirrortest.Option{mirrortest.Status(404)}
	}))
	r := newRun(t, origin.URL)
	res := r.right(origin.Content)
	verified(t, res, byDigest)
	if share := from(t, res, odd); share.Bytes < size/2 {
		t.Errorf("%+v", share)
	}
}
