package download_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
)

// Proves rule 40: a mirror with another Last-Modified than the server's is used last. It sends nothing while
// others work, unless its digest is the right one. A mirror without a date is used normally.
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
			make := several
			if tt.works {
				make = severalUsed
			}
			origin, odd := make(t, size, 3, []mirrortest.Option{mirrortest.Modified(day)}, tt.options)
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

// A mirror of another date serves if no other is left, and the digest decides.
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

// Proves rules 30 and 34: without a digest, a Last-Modified that changes within one run means another
// version, even with the same strong ETag and size. Its bytes are not combined with earlier ones, of a mirror
// or of the server itself.
func TestDateMovesWithinARun_Rule30_Rule34(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tag := mirrortest.ETag(`"v1"`)
	var all []int64
	for at := int64(0); at < size; at += 1000 {
		all = append(all, at)
	}
	// moves has the file of one day in its first answer, which breaks off, and then that of another day.
	moves := func() mirrortest.Option {
		n := 0
		return mirrortest.Choose(func(q *http.Request) []mirrortest.Option {
			if q.Method == http.MethodGet {
				n++
			}
			if n <= 1 {
				return []mirrortest.Option{mirrortest.Modified(day), mirrortest.CutAfter(mib)}
			}
			return []mirrortest.Option{mirrortest.Modified(day.Add(time.Hour)), mirrortest.Corrupt(all...)}
		})
	}
	for name, date := range map[string]time.Time{"the server has a date": day, "it has none": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin := sized(t, size, tag, mirrortest.Rate(4*mib), mirrortest.Modified(date))
			r := newRun(t, origin.URL)
			r.mirrors(sized(t, size, tag, moves()))
			r.right(origin.Content)
		})
	}
	t.Run("the server itself", func(t *testing.T) {
		t.Parallel()
		want := slices.Clone(made(size, 7))
		for _, at := range all {
			want[at] ^= 0xff
		}
		newRun(t, sized(t, size, tag, moves()).URL).right(mirrortest.ContentOf(want))
	})
}
