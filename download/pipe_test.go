package download_test

import (
	"bytes"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
)

// Proves S18 for pipes: if no pieces are known, only a mirror that is tied to the server's file feeds a pipe,
// and a stale one of the same size does no damage.
func TestPipeTakesTiedMirrors_S18(t *testing.T) {
	t.Parallel()
	const size = 6 * mib // no document is requested
	day := time.Unix(1e9, 0)
	for name, tt := range map[string]struct {
		link   string
		mirror []mirrortest.Option
		used   bool
	}{
		"nothing":             {"", nil, false},
		"its digest":          {"", []mirrortest.Option{mirrortest.Digest()}, true},
		"date and size":       {"", []mirrortest.Option{mirrortest.Modified(day)}, true},
		"another date":        {"", []mirrortest.Option{mirrortest.Modified(day.Add(time.Hour))}, false},
		"a tag, no promise":   {"", []mirrortest.Option{mirrortest.ETag(`"v1"`)}, false},
		"a tag, as promised":  {"; pref", []mirrortest.Option{mirrortest.ETag(`"v1"`)}, true},
		"a weak one":          {"; pref", []mirrortest.Option{mirrortest.ETag(`W/"v1"`)}, false},
		"a digest, but stale": {"", []mirrortest.Option{mirrortest.Digest(other())}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mirror := sized(t, size, append(tt.mirror, mirrortest.Rate(8*mib))...)
			if !tt.used {
				mirror.Set(mirrortest.Corrupt(marks(mib, size)...))
			}
			origin := sized(t, size, mirrortest.Rate(2*mib), mirrortest.Digest(), mirrortest.ETag(`"v1"`),
				mirrortest.Modified(day),
				mirrortest.Link("<"+mirror.URL+">; rel=duplicate"+tt.link))
			if tt.used {
				origin.Set(waiting(2*mib, mirror))
			}
			var out bytes.Buffer
			res, err := newRun(t, origin.URL).stream(&out)
			if err != nil || !bytes.Equal(out.Bytes(), origin.Content.Bytes()) {
				t.Fatalf("%d bytes, %v", out.Len(), err)
			}
			if got := from(t, res, mirror); got.Bytes > 0 != tt.used {
				t.Errorf("%d bytes of the mirror (%v)", got.Bytes, got.Err)
			}
		})
	}
}

// With pieces every mirror may feed a pipe, which waits for the document.
func TestPipeWithPieces_S10(t *testing.T) {
	t.Parallel()
	const size = 12 * mib
	mirror := sized(t, size, mirrortest.Rate(8*mib))
	origin := described(t, size, made(size, 7), mirror)
	origin.Set(waiting(2*mib, mirror))
	var out bytes.Buffer
	res, err := newRun(t, origin.URL).stream(&out)
	if err != nil || !bytes.Equal(out.Bytes(), origin.Content.Bytes()) {
		t.Fatalf("%d bytes, %v", out.Len(), err)
	}
	useful(t, res, mirror)
}

// The user's mirrors are also tied to the server's answer. One of them stands in for a server that never
// answered. If the server fails during the download, the error states how to continue.
func TestPipeAndUserMirrors_Rule30_S18(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	mirror := sized(t, size, mirrortest.Rate(8*mib))
	origin := sized(t, size, mirrortest.Rate(4*mib))
	r := newRun(t, origin.URL)
	r.mirrors(mirror)
	r.req.Trust.Claims = userClaim(origin.Digest())
	r.client.Tries = 2
	var out bytes.Buffer
	res, err := r.stream(&out)
	if err != nil || from(t, res, mirror).Bytes > 0 {
		t.Fatalf("%v, %+v", err, res.Sources)
	}
	origin.Set(mirrortest.DieAfter(origin.Sent() + 2*mib))
	_, err = r.stream(&bytes.Buffer{})
	if e, _ := err.(*download.Error); e == nil || e.Kind == download.Mismatch || e.Hint == "" {
		t.Errorf("%+v", err)
	}
	out.Reset()
	if _, err := r.stream(&out); err != nil || out.Len() != size {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
}

// If a document names the places, the first one that answers leads, in every run.
func TestPipeOfDescribed_S18(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	a, b := sized(t, size, mirrortest.Rate(8*mib), mirrortest.CutAfter(mib)), sized(t, size, mirrortest.Rate(8*mib),
		mirrortest.CutAfter(mib))
	r := following(t, of(t, made(size, 7)), a, b)
	var out bytes.Buffer
	res, err := r.stream(&out)
	if err != nil || out.Len() != size || from(t, res, a).Bytes > 0 && from(t, res, b).Bytes > 0 {
		t.Errorf("%d bytes, %v, %+v", out.Len(), err, res.Sources)
	}
}
