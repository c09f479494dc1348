package download_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
)

// resumable starts an origin with a first answer that does not end, so that it can be interrupted.
func resumable(t *testing.T, options ...mirrortest.Option) *mirrortest.Server {
	t.Helper()
	s := sized(t, 6*mib, mirrortest.Rate(16*mib), mirrortest.Once(mirrortest.StallAfter(4*mib)))
	s.Set(options...)
	return s
}

// Proves rule 6: a digest or a strong ETag (S18) allows resuming.
func TestGoesOn_Rule6_S18(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		option mirrortest.Option
		proof  string
	}{"digest": {mirrortest.Digest(), byDigest}, "ETag": {mirrortest.ETag(`"v1"`), "unverified"}} {
		t.Run(name, func(t *testing.T) {
			s := resumable(t, tt.option)
			r := newRun(t, s.URL)
			e := r.interrupt(2 * mib)
			if e.Kept < 2*mib || e.Part != r.part() {
				t.Errorf("kept %d in %q", e.Kept, e.Part)
			}
			res := r.right(s.Content)
			verified(t, res, tt.proof)
			if res.Resumed < e.Kept || res.Fetched > 6*mib-e.Kept {
				t.Errorf("resumed %d of %d, fetched %d", res.Resumed, e.Kept, res.Fetched)
			}
		})
	}
}

// Proves S18 and rule 15: without a strong validator the bytes are kept, and are resumed only on the user's
// word, if samples are the same. Otherwise the download starts over, and the old bytes are removed when the
// new file is in place.
func TestWithoutValidator_S18_Rule15(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]mirrortest.Option{
		"nothing": mirrortest.ETag(""), "weak ETag": mirrortest.ETag(`W/"v1"`), "date": mirrortest.Modified(time.Unix(1e9, 0)),
	} {
		for word, goOn := range map[string]bool{"anew": false, "continued": true} {
			t.Run(name+", "+word, func(t *testing.T) {
				t.Parallel()
				s := resumable(t, option)
				r := newRun(t, s.URL)
				e := r.interrupt(2 * mib)
				if e.Kept < 2*mib || e.Part != r.part() || e.Hint != download.HintUnproven {
					t.Errorf("%d bytes are kept in %q (%s)", e.Kept, e.Part, e.Hint)
				}
				r.req.IfExists.Continue = goOn
				res := r.right(s.Content)
				if res.Continued != goOn || res.Resumed > 0 != goOn || res.Fetched > 6*mib-res.Resumed {
					t.Errorf("%+v", res)
				}
				verified(t, res, "unverified")
			})
		}
	}
}

// Proves rule 15: another size, date or byte in a sample, a demanded digest, and a server that sends no
// ranges each make the download start over.
func TestContinueOnlyTheSame_Rule15(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *mirrortest.Server, r *run){
		"date":       func(s *mirrortest.Server, r *run) { s.Set(mirrortest.Modified(time.Unix(2e9, 0))) },
		"first byte": func(s *mirrortest.Server, r *run) { s.Set(mirrortest.Corrupt(0)) },
		"in between": func(s *mirrortest.Server, r *run) { s.Set(mirrortest.Corrupt(every(64<<10, 6*mib)...)) },
		"no parts":   func(s *mirrortest.Server, r *run) { s.Set(mirrortest.IgnoreRange()) },
		"a mirror":   func(s *mirrortest.Server, r *run) { r.mirrors(sized(t, 6*mib)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := resumable(t, mirrortest.Modified(time.Unix(1e9, 0)))
			r := newRun(t, s.URL)
			r.interrupt(2 * mib)
			r.req.IfExists.Continue = true
			change(s, r)
			if res, err := r.get(); err != nil || res.Continued || res.Resumed != 0 {
				t.Errorf("%v, %+v", err, res)
			}
		})
	}
}

// Proves rule 8: a flipped byte in the part file is found and fetched again.
func TestFlippedByte_Rule8(t *testing.T) {
	t.Parallel()
	s := resumable(t, mirrortest.Digest())
	r := newRun(t, s.URL)
	r.interrupt(3 * mib)
	f, err := os.OpenFile(r.part(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, 1)
	f.ReadAt(b, mib)
	b[0] ^= 1
	f.WriteAt(b, mib)
	res := r.right(s.Content)
	verified(t, res, byDigest)
	if len(saw[download.Restarted](r)) != 0 || res.Resumed == 0 {
		t.Errorf("all was thrown away: %+v", r.events)
	}
}

// Proves rule 8: an invalid journal is set aside.
func TestGarbageJournal_Rule8(t *testing.T) {
	t.Parallel()
	s := resumable(t, mirrortest.Digest())
	r := newRun(t, s.URL)
	r.interrupt(2 * mib)
	if err := os.WriteFile(r.part()+".journal", []byte("garbage of some length, and of no meaning"), 0o600); err != nil {
		t.Fatal(err)
	}
	res, err := r.get()
	if err != nil || res.Resumed != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	r.same(s.Content)
	if bad, err := os.ReadFile(r.part() + ".bad"); err != nil || len(bad) < 2*mib { // it may be another program's
		t.Errorf("%d bytes were set aside, %v", len(bad), err)
	}
	if told := saw[download.Restarted](r); len(told) != 1 {
		t.Errorf("told %v", told)
	}
}

// Proves rule 8: the same digest at another URL resumes, even if the first server is gone.
func TestOtherURLWithSameDigest_Rule8(t *testing.T) {
	t.Parallel()
	first, second := resumable(t, mirrortest.Digest()), resumable(t, mirrortest.Digest())
	r := newRun(t, first.URL)
	kept := r.interrupt(2 * mib).Kept
	first.Die()
	r.req.URL = parse(t, second.URL)
	res := r.right(second.Content)
	if res.Resumed < kept || second.Sent() > 6*mib-kept+mib {
		t.Errorf("resumed %d of %d, %d bytes sent", res.Resumed, kept, second.Sent())
	}
}

// Proves rule 8: the user's digest suffices to resume at a server that states nothing.
func TestOtherURLWithUsersDigest_Rule8(t *testing.T) {
	t.Parallel()
	first, second := resumable(t, mirrortest.Digest()), resumable(t)
	r := newRun(t, first.URL)
	r.interrupt(2 * mib)
	r.req.URL, r.req.Trust.Claims = parse(t, second.URL), userClaim(first.Digest())
	res := r.right(second.Content)
	if res.Resumed < 2*mib {
		t.Errorf("resumed %d", res.Resumed)
	}
	verified(t, res, byUser)
}

// Proves rule 8: another file under the same name starts over, and the old bytes are set aside.
func TestOtherFile_Rule8(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]mirrortest.Option{"digest": mirrortest.Digest(), "none": mirrortest.ETag(`"v1"`)} {
		t.Run(name, func(t *testing.T) {
			first := resumable(t, mirrortest.Digest(), mirrortest.ETag(`"v1"`))
			second := mirrortest.New(t, made(6*mib, 8), option)
			r := newRun(t, first.URL)
			r.interrupt(2 * mib)
			r.req.URL = parse(t, second.URL)
			bad := r.aside()
			res, err := r.get()
			if err != nil || res.Resumed != 0 {
				t.Errorf("%+v, %v", res, err)
			}
			r.same(second.Content)
			if !bytes.HasPrefix(bad(), first.Content.Bytes()[:mib]) {
				t.Errorf("%d bytes were set aside", len(bad()))
			}
		})
	}
}

// While the server cannot be asked, nothing is known about the existing bytes, and they are kept.
func TestBytesStayWhileNobodyAnswers_Rule8(t *testing.T) {
	t.Parallel()
	first, second := resumable(t, mirrortest.Digest()), resumable(t)
	r := newRun(t, first.URL)
	kept := r.interrupt(2 * mib).Kept
	second.Die()
	r.req.URL = parse(t, second.URL)
	r.wrong(download.Network)
	r.req.URL = parse(t, first.URL)
	if res := r.right(first.Content); res.Resumed < kept {
		t.Errorf("resumed %d of %d", res.Resumed, kept)
	}
}

// Proves rule 39 for a second run: the mirrors of the first one are remembered.
func TestRememberedMirrors_Rule39(t *testing.T) {
	t.Parallel()
	mirror := resumable(t)
	origin := resumable(t, mirrortest.Digest(), mirrortest.Mirrors(mirror.URL))
	r := newRun(t, origin.URL)
	r.client.Tries = 2
	r.interrupt(2 * mib)
	origin.Die()
	res := r.right(origin.Content)
	useful(t, res, mirror)
}

// The origin's statements in a second run also count if a mirror answered first.
func TestMirrorIsHeardFirst(t *testing.T) {
	t.Parallel()
	slow := resumable(t, mirrortest.Digest(), mirrortest.ETag(`"v1"`))
	mirror, late := resumable(t, mirrortest.Rate(8*mib)), resumable(t, mirrortest.Rate(8*mib))
	slow.Set(mirrortest.Mirrors(mirror.URL))
	r := newRun(t, slow.URL)
	r.interrupt(mib)
	before := slow.Sent()
	// it answers first, and does not send all
	mirror.Set(held(8*mib, func() bool { return slow.Sent() > before }))
	slow.Set(mirrortest.Latency(150*time.Millisecond), mirrortest.Mirrors(late.URL), mirrortest.Digest(slow.Digest(),
		md5Of(t, made(6*mib, 7))))
	res := r.right(slow.Content)
	if res.ETag != `"v1"` {
		t.Errorf("the ETag is %q", res.ETag)
	}
	if len(res.Proof.Evidence()) != 2 {
		t.Errorf("the evidence is %v", res.Proof.Evidence())
	}
	if from(t, res, late).URL == "" {
		t.Error("the mirror that it names now is not known")
	}
}

// Proves rule 34: the file changed between two runs, with one of the signs of that.
func TestChangedBetweenRuns_Rule34(t *testing.T) {
	t.Parallel()
	old, next := file(4*mib, 1), file(4*mib, 2)
	tagged := func(v version) version { v.digest = ""; return v }
	short, long := file(mib, 3), file(5*mib, 4)
	sameTag := version{body: long.body, etag: old.etag}
	for name, tt := range map[string]struct{ before, after version }{
		"digest":          {old, next},
		"ETag":            {tagged(old), tagged(next)},
		"longer":          {tagged(old), long},
		"longer only":     {tagged(old), sameTag},
		"shorter":         {tagged(old), short},
		"shorter, digest": {old, short},
	} {
		t.Run(name, func(t *testing.T) {
			var now atomic.Bool
			s := newChanging(t, func(n int, _ *http.Request) version {
				v := tt.before
				switch {
				case now.Load():
					return tt.after
				case n == 1:
					v.cut = 3 * mib
				default:
					v.cut = -1
				}
				return v
			})
			r := newRun(t, s.URL+"/file.bin")
			r.client.Tries = 2
			if e := r.wrong(download.Budget); e.Kept < 2*mib {
				t.Fatalf("kept %d", e.Kept)
			}
			now.Store(true)
			res, err := r.get()
			if err != nil || res.Resumed != 0 {
				t.Fatalf("%+v, %v", res, err)
			}
			if told := saw[download.Restarted](r); len(told) != 1 ||
				!strings.HasPrefix(told[0].Reason, "the file changed at the origin") {
				t.Errorf("told %v", told)
			}
			r.holds(r.path(), string(tt.after.body))
			if res.Proof.Verified() != (tt.after.digest != "") {
				t.Errorf("the proof is %v", res.Proof)
			}
		})
	}
}

// Proves rule 34: within one run, the download starts over once, and fails the second time.
func TestChangesWhileFetched_Rule34(t *testing.T) {
	t.Parallel()
	versions := []version{file(4*mib, 1), file(4*mib, 2), file(3*mib, 3)}
	versions[0].cut = 2 * mib
	s := newChanging(t, func(n int, _ *http.Request) version { return versions[min(n-1, 1)] })
	r := newRun(t, s.URL+"/file.bin")
	if res, err := r.get(); err != nil || !res.Proof.Verified() {
		t.Fatal(res, err)
	}
	r.holds(r.path(), string(versions[1].body))
	if len(saw[download.Restarted](r)) != 1 {
		t.Errorf("%v", r.events)
	}

	versions[1].cut = 2 * mib
	versions[2].cut = 1 * mib
	n := 0
	s = newChanging(t, func(int, *http.Request) version { n++; return versions[n%3] })
	newRun(t, s.URL+"/file.bin").wrong(download.Mismatch)
	if len(s.requests()) > 5 {
		t.Errorf("%d requests", len(s.requests()))
	}
}

// Proves S18: an answer that has lost its ETag is not tied to earlier ones.
func TestETagGone_S18(t *testing.T) {
	t.Parallel()
	old, next := file(4*mib, 1), file(4*mib, 2)
	old.digest, next.digest, next.etag, old.cut = "", "", "", 2*mib
	s := newChanging(t, func(n int, _ *http.Request) version {
		if n == 1 {
			return old
		}
		return next
	})
	r := newRun(t, s.URL+"/file.bin")
	if _, err := r.get(); err != nil {
		t.Fatal(err)
	}
	r.holds(r.path(), string(next.body))
}

// Proves rules 14 and 25: a server that refuses ranges of its own file by now is asked for the whole file.
func TestRangesLost_Rule14_Rule25(t *testing.T) {
	t.Parallel()
	for name, mark := range map[string]mirrortest.Option{"digest": mirrortest.Digest(), "tag": mirrortest.ETag(`"v"`)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sized(t, 6*mib, mark)
			r := newRun(t, s.URL)
			r.interrupt(mib)
			ranged := func(q *http.Request) bool { return q.Header.Get("Range") != "" }
			s.Set(mirrortest.When(ranged, mirrortest.Status(416), mirrortest.Header("Content-Range",
				fmt.Sprintf("bytes */%d", 6*mib))))
			r.right(s.Content)
		})
	}
}
