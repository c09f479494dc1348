package download_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// Proves rule 15 within one run: if the server breaks off or stalls, --continue resumes if samples are the
// same. If the server has another file, or more proof is demanded, the download starts over.
func TestContinueBroken_Rule15(t *testing.T) {
	t.Parallel()
	day := mirrortest.Modified(time.Unix(1e9, 0))
	for name, tt := range map[string]struct {
		goOn   bool
		breaks mirrortest.Option
		change func(s *mirrortest.Server, r *run)
		anew   bool
	}{
		"broken off":    {true, mirrortest.CutAfter(4 * mib), nil, false},
		"stalled":       {true, mirrortest.StallAfter(4 * mib), nil, false},
		"not asked for": {false, mirrortest.CutAfter(4 * mib), nil, true},
		"digest demanded": {true, mirrortest.CutAfter(4 * mib),
			func(_ *mirrortest.Server, r *run) { r.req.Trust.Require = download.RequireDigest }, true},
		"with mirrors": {true, mirrortest.CutAfter(4 * mib),
			func(_ *mirrortest.Server, r *run) { r.mirrors(sized(t, 5*mib)) }, true},
		"without parts": {true, mirrortest.CutAfter(4 * mib),
			func(s *mirrortest.Server, _ *run) { s.Set(mirrortest.IgnoreRange()) }, true},
		"another version":  {true, mirrortest.CutAfter(4 * mib), later(mirrortest.Corrupt(every(64<<10, 6*mib)...)), true},
		"another date":     {true, mirrortest.CutAfter(4 * mib), later(mirrortest.Modified(time.Unix(2e9, 0))), true},
		"down for a while": {true, mirrortest.CutAfter(4 * mib), later(mirrortest.Times(2, mirrortest.Status(503))), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sized(t, 6*mib, mirrortest.Rate(32*mib), day)
			r := newRun(t, s.URL)
			r.req.IfExists.Continue = tt.goOn
			r.client.RetryWait = 10 * time.Millisecond
			if name == "stalled" {
				r.client.Timeout = 3 * time.Second
			}
			if tt.change != nil {
				tt.change(s, r)
			}
			s.Set(mirrortest.Once(tt.breaks))
			res, err := r.get()
			if r.req.Trust.Require == download.RequireDigest {
				if err == nil || res.Continued {
					t.Errorf("%v, %+v", err, res)
				}
				return
			}
			if anew := len(saw[download.Restarted](r)) > 0; err != nil || anew != tt.anew || res.Continued == tt.anew {
				t.Errorf("%v, %+v, anew: %v", err, res, anew)
			}
			if !tt.anew && res.Fetched > 6*mib+mib {
				t.Errorf("%d bytes were fetched", res.Fetched)
			}
		})
	}
}

// later returns a function that changes a server after its first answer.
func later(option mirrortest.Option) func(*mirrortest.Server, *run) {
	return func(s *mirrortest.Server, _ *run) {
		first := true
		s.Set(mirrortest.Choose(func(*http.Request) []mirrortest.Option {
			if first {
				first = false
				return nil
			}
			return []mirrortest.Option{option}
		}))
	}
}

// Proves rule 22 for --continue: a server that breaks off repeatedly is used as long as more bytes come each
// time.
func TestContinueBrokenAgain_Rule15_Rule22(t *testing.T) {
	t.Parallel()
	s := sized(t, 12*mib, mirrortest.Rate(64*mib), mirrortest.Choose(func(req *http.Request) []mirrortest.Option {
		if r := req.Header.Get("Range"); r == "" || strings.HasSuffix(r, "-") ||
			strings.HasSuffix(r, "-12582911") && !strings.HasPrefix(r, "bytes=11") {
			return []mirrortest.Option{mirrortest.CutAfter(3 * mib / 2)}
		}
		return nil
	}))
	r := newRun(t, s.URL)
	r.req.IfExists.Continue, r.client.RetryWait = true, time.Millisecond
	res := r.right(s.Content)
	if n := len(saw[download.Restarted](r)); n > 0 || !res.Continued || res.Fetched > 13*mib {
		t.Errorf("%d restarts, %+v", n, res)
	}
}

// Proves C2 and rule 15: the samples of --continue come from where the server redirects to. What that mirror states
// about the file is no evidence there either.
func TestSamplesOfMirror_C2_Rule15(t *testing.T) {
	t.Parallel()
	target := sized(t, 4*mib, mirrortest.Digest(), mirrortest.Modified(time.Unix(1e9, 0)))
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Digest", verify.Field(digestBy(t, verify.MD5, target.Content.Bytes())))
		http.Redirect(w, q, target.URL, http.StatusFound)
	}))
	defer origin.Close()
	r := newRun(t, origin.URL+"/file.bin")
	r.put(target.Content.Bytes()[:mib])
	r.req.IfExists.Continue = true
	if res := r.right(target.Content); !res.Continued || res.Proof.Verified() {
		t.Errorf("continued: %v, proof: %v", res.Continued, res.Proof)
	}
}

// Proves C2 for a document without a digest: its places state nothing about the file, also in samples.
func TestSamplesOfPlace_C2_Rule15(t *testing.T) {
	t.Parallel()
	place := sized(t, 4*mib, mirrortest.Digest(), mirrortest.Modified(time.Unix(1e9, 0)))
	text := fmt.Sprintf(`<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="file.bin"><url>%s</url></file></metalink>`, place.URL)
	d, err := download.ReadDocument(strings.NewReader(text), "x.meta4")
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(t, place.URL)
	r.req.URL = nil
	if r.req, err = d.Request(d.Files.At(0), r.req); err != nil {
		t.Fatal(err)
	}
	r.put(place.Content.Bytes()[:mib])
	r.req.IfExists.Continue = true
	if res := r.right(place.Content); !res.Continued || res.Proof.Verified() {
		t.Errorf("continued: %v, proof: %v", res.Continued, res.Proof)
	}
}

// Proves C2 and rule 40: while bytes are compared, the target of a redirect begins to state a digest of its own. The
// asked server did not, so the file has not changed, and the right bytes of the user's mirror are found.
func TestComparedMirrorStates_C2_Rule40(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	var told atomic.Bool
	target := sized(t, size, mirrortest.Corrupt(every(64<<10, size)...), mirrortest.Rate(8*mib),
		mirrortest.Choose(func(*http.Request) []mirrortest.Option {
			if told.Load() {
				return []mirrortest.Option{mirrortest.Digest(other())}
			}
			return nil
		}))
	mirror := sized(t, size, mirrortest.Rate(8*mib))
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Digest", verify.Field(digestBy(t, verify.MD5, mirror.Content.Bytes())))
		http.Redirect(w, q, target.URL, http.StatusFound)
	}))
	defer origin.Close()
	r := newRun(t, origin.URL+"/file.bin")
	r.mirrors(mirror)
	r.req.Trust.Claims = userClaim(mirror.Digest())
	r.req.Observe = func(ev download.Event) {
		if _, ok := ev.(download.Comparing); ok {
			told.Store(true)
		}
	}
	verified(t, r.right(mirror.Content), byUser)
}
