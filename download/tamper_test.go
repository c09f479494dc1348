package download_test

import (
	"crypto/tls"
	"os"
	"testing"

	"braid/byterange"
	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/source/httpsource"
)

// Proves rule 2: the bytes on disk are hashed, not the received ones. Another program changes a byte that was
// written and not yet hashed.
func TestHashReadsBack_Rule2(t *testing.T) {
	t.Parallel()
	const size = 16 * mib
	mirror := sized(t, size, mirrortest.Rate(16*mib))
	origin := vouch(t, size, mirror)
	origin.Set(mirrortest.Rate(mib))
	r := newRun(t, origin.URL)
	var ahead byterange.Range // the first range requested from the mirror
	done := false
	r.req.Observe = func(ev download.Event) {
		r.events = append(r.events, ev)
		switch ev := ev.(type) {
		case download.RangeStarted:
			if ev.ID == 1 && ahead.Empty() {
				ahead = ev.Range
			}
		case download.Progress:
			if at := ahead.Start + 1000; !done && !ahead.Empty() && ev.Done > mib {
				done = flip(t, r.part(), at, made(size, 7)[at])
			}
		}
	}
	r.right(origin.Content)
	if told := saw[download.Comparing](r); !done || len(told) != 0 { // the CRC of the written bytes shows it
		t.Errorf("flipped: %v; %v", done, told)
	}
}

// flip changes a byte of a file if it still has the value was.
func flip(t *testing.T, path string, at int64, was byte) bool {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Error(err)
		return false
	}
	defer f.Close()
	b := []byte{0}
	if n, _ := f.ReadAt(b, at); n == 0 || b[0] != was {
		return false
	}
	b[0] ^= 1
	_, err = f.WriteAt(b, at)
	return err == nil
}

// Proves rules 26 and 64: facts stated over https may lead to mirrors over http, and keep their channel.
func TestHTTPSOriginWithHTTPMirrors_Rule26_Rule64(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	second := sized(t, size, mirrortest.Rate(4*mib))
	landing := sized(t, size, waiting(4*mib, second))
	origin := sized(t, size, mirrortest.TLS(nil), mirrortest.Digest(), mirrortest.Mirrors(second.URL),
		mirrortest.Redirect(landing.URL))
	r := newRun(t, origin.URL)
	r.client.HTTP = &httpsource.Client{TLS: &tls.Config{RootCAs: mirrortest.Pool(origin)}}
	defer r.client.HTTP.CloseIdle()
	res, err := r.client.Get(t.Context(), r.req)
	if err != nil {
		t.Fatal(err)
	}
	r.same(origin.Content)
	verified(t, res, "sha-256 from Digest over https")
	useful(t, res, second)
	for _, q := range second.Requests() {
		if q.Header.Get("Referer") != "" { // rule 28
			t.Errorf("Referer %q", q.Header.Get("Referer"))
		}
	}

	origin.Reset(mirrortest.Redirect(landing.URL)) // without a digest, it is a downgrade
	r = newRun(t, origin.URL)
	r.client.HTTP = &httpsource.Client{TLS: &tls.Config{RootCAs: mirrortest.Pool(origin)}}
	defer r.client.HTTP.CloseIdle()
	if _, err := r.client.Get(t.Context(), r.req); err == nil {
		t.Error("it was followed")
	}
}
