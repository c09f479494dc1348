package download_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/test/fsystest"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// several starts an origin with a digest and n mirrors. options apply to all of them, stale to one of them
// instead.
func several(t *testing.T, size int64, n int, options, stale []mirrortest.Option) (origin, bad *mirrortest.Server) {
	t.Helper()
	var links []string
	for i := range n {
		m := sized(t, size, mirrortest.Rate(6*mib))
		if m.Set(options...); i == 1 {
			m.Set(stale...)
			bad = m
		}
		links = append(links, m.URL)
	}
	origin = sized(t, size, mirrortest.Rate(6*mib), mirrortest.Mirrors(links...))
	origin.Set(options...)
	origin.Set(mirrortest.Digest())
	return origin, bad
}

// severalUsed starts such servers; the odd one sends bytes before the others have sent all.
func severalUsed(t *testing.T, size int64, n int, options, stale []mirrortest.Option) (origin, bad *mirrortest.Server) {
	t.Helper()
	bad = sized(t, size, mirrortest.Rate(6*mib))
	bad.Set(slices.Concat(options, stale)...)
	links := []string{bad.URL}
	for range n - 1 {
		links = append(links, sized(t, size, slices.Concat(options, []mirrortest.Option{waiting(6*mib, bad)})...).URL)
	}
	origin = sized(t, size, waiting(6*mib, bad), mirrortest.Digest(), mirrortest.Mirrors(links...))
	origin.Set(options...)
	return origin, bad
}

// Proves rule 40: a mirror of an older version that differs in few bytes costs no more than the file, of
// which the others compare parts in parallel until it is found. Nothing starts over, and only this mirror is
// named. BenchmarkStaleMirror measures how much less it costs if a mark sets the mirror apart.
func TestStaleMirror_Rule40(t *testing.T) {
	t.Parallel()
	const size = 24 * mib
	few := mirrortest.Corrupt(marks(mib, size)...)
	tag := []mirrortest.Option{mirrortest.ETag(`"v2"`)}
	for name, tt := range map[string]struct {
		options, stale []mirrortest.Option
	}{
		"another tag": {tag, []mirrortest.Option{mirrortest.ETag(`"v1"`), few}},
		"no digest":   {[]mirrortest.Option{mirrortest.Digest()}, []mirrortest.Option{mirrortest.Digest(verify.Digest{}), few}},
		"nothing":     {nil, []mirrortest.Option{few}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin, bad := several(t, size, 4, tt.options, tt.stale)
			r := newRun(t, origin.URL)
			res := r.right(origin.Content)
			verified(t, res, byDigest)
			share := from(t, res, bad)
			if share.Bytes > mib && !share.Banned {
				t.Errorf("it is not named: %+v", share)
			}
			for _, src := range res.Sources {
				if src.Banned && src.URL != share.URL {
					t.Errorf("named: %+v", src)
				}
			}
			if n := len(saw[download.Restarted](r)); n > 0 || res.Compared > size+mib {
				t.Errorf("%d restarts, %d bytes were compared; it had brought %d", n, res.Compared, share.Bytes)
			}
		})
	}
}

// Two mirrors of the same older version do not confirm each other in the end.
func TestTwoStaleMirrors_Rule40(t *testing.T) {
	t.Parallel()
	const size = 16 * mib
	origin, bad := severalUsed(t, size, 4, nil, []mirrortest.Option{mirrortest.Corrupt(marks(mib, size)...)})
	twin := sized(t, size, mirrortest.Rate(6*mib), mirrortest.Corrupt(marks(mib, size)...))
	origin.Set(mirrortest.Mirrors(twin.URL))
	r := newRun(t, origin.URL)
	res := r.right(origin.Content)
	if n := len(saw[download.Restarted](r)); n > 0 {
		t.Errorf("%d restarts", n)
	}
	for _, s := range []*mirrortest.Server{bad, twin} {
		if got := from(t, res, s); got.Bytes > 2*mib && !got.Banned {
			t.Errorf("it is not named: %+v", got)
		}
	}
}

// Proves rule 7 for the files beside the part file during a comparison: without room for them, the download
// ends before it and keeps all bytes. The next one resumes.
func TestNoRoomToCompare_Rule7_Rule40(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	origin, _ := severalUsed(t, size, 2, nil, []mirrortest.Option{mirrortest.Corrupt(marks(mib/2, size)...)})
	r := newRun(t, origin.URL)
	full := true
	r.files = fsystest.Tap(fsys.OS, func(op fsystest.Op) error {
		if full && op.Name == "create" && op.Path == r.dir {
			return syscall.ENOSPC
		}
		return nil
	})
	if e := r.wrong(download.Local); e.Kept != size || !errors.Is(e, syscall.ENOSPC) {
		t.Errorf("%d bytes were kept: %v", e.Kept, e)
	}
	full = false
	if res := r.right(origin.Content); res.Resumed != size {
		t.Errorf("%d bytes were gone on with", res.Resumed)
	}
}

// A mirror that trickles does not delay the comparison (S16).
func TestComparedBesideATrickle_S16_Rule40(t *testing.T) {
	t.Parallel()
	const size = 12 * mib
	origin, _ := severalUsed(t, size, 3, nil, []mirrortest.Option{mirrortest.Corrupt(marks(mib, size)...)})
	slow := sized(t, size, mirrortest.Rate(1000))
	origin.Set(mirrortest.Mirrors(slow.URL))
	newRun(t, origin.URL).right(origin.Content) // it would take hours
}

// TestChangedSinceCompared_Rule6: a run that ended while it compared a wrong file has left all of it, and the
// server has had another version since. The next run starts over, and does not end with the change each time.
func TestChangedSinceCompared_Rule6(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	origin := sized(t, size, mirrortest.Digest(other()))
	r := newRun(t, origin.URL)
	r.mirrors(sized(t, size, mirrortest.Rate(mib))) // the server answers before it
	ctx, cancel := context.WithCancel(t.Context())
	observe := r.req.Observe
	r.req.Observe = func(ev download.Event) {
		if observe(ev); len(saw[download.Comparing](r)) > 0 {
			cancel()
		}
	}
	r.ctx = ctx
	if _, err := r.get(); err == nil || ctx.Err() == nil {
		t.Fatal(err)
	}
	r.ctx, r.req.Observe = nil, observe
	next := mirrortest.Generate(size+1, 8)
	origin.Reset(mirrortest.Handler(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Digest", "sha-256="+next.Digest().Base64())
		http.ServeContent(w, q, "", time.Time{}, bytes.NewReader(next.Bytes()))
	})))
	if res := r.right(next); !res.Proof.Verified() {
		t.Errorf("%+v", res)
	}
}

// During a comparison Comparing is sent, and its bytes are counted separately.
func TestToldOfComparing(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	origin, _ := severalUsed(t, size, 2, nil, []mirrortest.Option{mirrortest.Corrupt(marks(mib/2, size)...)})
	r := newRun(t, origin.URL)
	res := r.right(origin.Content)
	told := saw[download.Comparing](r)
	if len(told) == 0 || told[0].Size != size || res.Compared == 0 {
		t.Errorf("%v, %d bytes", told, res.Compared)
	}
	for _, n := range saw[download.SourceDown](r) {
		if n.Banned && !strings.Contains(n.Err.Error(), "wrong bytes from ") {
			t.Errorf("%v", n.Err)
		}
	}
}
