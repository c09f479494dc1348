package download_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"braid/download"
	"braid/internal/partfile"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// digestBy returns the digest of data by an algorithm.
func digestBy(t *testing.T, a verify.Algorithm, data []byte) verify.Digest {
	t.Helper()
	h := a.New()
	h.Write(data)
	d, err := verify.NewDigest(a, h.Sum(nil))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Proves rules 34 and 39: between two runs the server gets another version of the same size, and states it
// only by another algorithm. The bytes do not have both digests, so the newer statement counts.
func TestOtherAlgorithmSince_Rule34_Rule39(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		then, now verify.Algorithm
		etag      string
		whole     bool // the server no longer sends ranges
		stops     bool // the second run is stopped, too
	}{
		"stronger":               {then: verify.SHA256, now: verify.SHA512},
		"weaker":                 {then: verify.SHA512, now: verify.SHA256},
		"with the same tag":      {then: verify.SHA256, now: verify.SHA512, etag: `"v"`},
		"stopped once more":      {then: verify.SHA256, now: verify.SHA512, stops: true},
		"weaker and stopped":     {then: verify.SHA512, now: verify.SHA256, etag: `"v"`, stops: true},
		"stronger, and no parts": {then: verify.SHA256, now: verify.SHA512, whole: true},
		"weaker, and no parts":   {then: verify.SHA512, now: verify.SHA256, whole: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, next := made(6*mib, 8), made(6*mib, 7)
			before, after := verify.Field(digestBy(t, tt.then, old)), verify.Field(digestBy(t, tt.now, next))
			var changed atomic.Bool
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				body, digest := old, before
				if changed.Load() {
					if body, digest = next, after; tt.whole {
						q.Header.Del("Range")
					}
				}
				w.Header().Set("Digest", digest)
				if tt.etag != "" {
					w.Header().Set("ETag", tt.etag)
				}
				http.ServeContent(w, q, "", time.Time{}, bytes.NewReader(body))
			}))
			t.Cleanup(s.Close)
			r := newRun(t, s.URL+"/file.bin")
			r.interrupt(mib)
			changed.Store(true)
			if tt.stops {
				r.interrupt(3 * mib)
			}
			res := r.right(mirrortest.ContentOf(next))
			verified(t, res, tt.now.String()+" from Digest over http")
		})
	}
}

// Proves rules 34 and 39: a digest of a list or document that was given to an earlier run, and not to this
// one, yields to the bytes and to the server's statements, like one of the user.
func TestListsDigestOfEarlierRun_Rule34_Rule39(t *testing.T) {
	t.Parallel()
	const (
		nothing = iota // the server states nothing more
		digest         // it gives a digest
		version        // it has another version, and its ETag shows it
	)
	for name, tt := range map[string]struct {
		channel verify.Channel
		since   int
		refuted bool // the first run fetched the whole file
	}{
		"http":                   {channel: verify.HTTP},
		"https":                  {channel: verify.HTTPS},
		"signed":                 {channel: verify.Signed},
		"user":                   {channel: verify.User},
		"beside a digest":        {channel: verify.HTTPS, since: digest},
		"beside another version": {channel: verify.HTTPS, since: version},
		"http, refuted":          {channel: verify.HTTP, refuted: true},
		"https, refuted":         {channel: verify.HTTPS, refuted: true},
		"signed, refuted":        {channel: verify.Signed, refuted: true},
		"user, refuted":          {channel: verify.User, refuted: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sized(t, 6*mib, mirrortest.ETag(`"v"`))
			r := newRun(t, s.URL)
			r.req.Trust.Claims = []verify.Claim{{Digest: other(), Field: "SHA256SUMS", Channel: tt.channel}}
			if tt.refuted {
				r.wrong(download.Mismatch)
			} else {
				r.interrupt(2 * mib)
			}
			r.req.Trust.Claims = nil
			want := "unverified"
			switch tt.since {
			case digest:
				s.Set(mirrortest.Digest())
				want = byDigest
			case version:
				s.Set(mirrortest.ETag(`"w"`))
			}
			verified(t, r.right(s.Content), want)
		})
	}
}

// Proves rules 34 and 40: all of the file is here, tied by a digest alone that was mistyped in an earlier run. The digest
// that the server gives by now decides, and nothing is fetched again.
func TestStatedBesideRecalled_Rule34_Rule40(t *testing.T) {
	t.Parallel()
	s := sized(t, mib, mirrortest.Digest())
	r := newRun(t, s.URL)
	if err := r.key().Make(); err != nil {
		t.Fatal(err)
	}
	id := partfile.Identity{Size: mib, ETag: `"v"`, ETagHost: s.Addr, Mixed: true, Claims: userClaim(other())}
	r.plant(id, made(mib, 7), r.key())
	res := r.right(s.Content)
	verified(t, res, byDigest)
	if res.Fetched != 0 {
		t.Errorf("%d bytes were fetched", res.Fetched)
	}
}

// Proves rules 34 and 64: the digest of a list that the user names decides as a typed one does, over whatever channel it
// came. The server may have another version by now, and say so over http, or another ETag with each answer.
func TestListDecides_Rule34_Rule64(t *testing.T) {
	t.Parallel()
	for name, channel := range map[string]verify.Channel{"http": verify.HTTP, "https": verify.HTTPS, "typed": verify.User} {
		for _, changes := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, new version %v", name, changes), func(t *testing.T) {
				t.Parallel()
				old, next := made(6*mib, 8), made(6*mib, 7)
				var changed atomic.Bool
				var answers atomic.Int64
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
					body, tag := next, fmt.Sprint(answers.Add(1))
					if changes {
						if tag = "new"; !changed.Load() {
							body, tag = old, "old"
						}
					}
					w.Header().Set("ETag", strconv.Quote(tag))
					http.ServeContent(w, q, "", time.Time{}, bytes.NewReader(body))
				}))
				t.Cleanup(s.Close)
				r := newRun(t, s.URL+"/file.bin")
				give := func(data []byte) {
					r.req.Trust.Claims = []verify.Claim{{Digest: digestBy(t, verify.SHA256, data), Field: "a list",
						Channel: channel}}
				}
				give(next)
				if changes {
					give(old)
				}
				r.interrupt(mib)
				changed.Store(true)
				give(next)
				if res := r.right(mirrortest.ContentOf(next)); !res.Proof.Verified() {
					t.Errorf("%v", res.Proof)
				}
			})
		}
	}
}

// Proves rules 34 and 64: what the server stated in an earlier run does not outrank a digest of another algorithm that this
// run is given: the server may have that file by now, and states nothing any more, or is gone. What came over https stays
// beside a list over http.
func TestGivenOutranksStated_Rule34_Rule64(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		channel verify.Channel
		gone    bool
		stands  bool // what the server stated
	}{
		"typed":                   {channel: verify.User},
		"typed, server gone":      {channel: verify.User, gone: true},
		"a list over http":        {channel: verify.HTTP},
		"a list over https":       {channel: verify.HTTPS},
		"https, a list over http": {channel: verify.HTTP, stands: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sized(t, mib)
			r := newRun(t, s.URL)
			if tt.gone {
				s.Set(mirrortest.Status(http.StatusNotFound))
				r.mirrors(sized(t, mib, mirrortest.Digest()))
			}
			if err := r.key().Make(); err != nil {
				t.Fatal(err)
			}
			stated := verify.Claim{Digest: other(), Field: "Digest", Channel: verify.HTTP}
			if tt.stands {
				stated.Channel = verify.HTTPS
			}
			id := partfile.Identity{Size: mib, Claims: []verify.Claim{stated}}
			r.plant(id, made(mib, 8)[:mib/2], r.key())
			r.req.Trust.Claims = []verify.Claim{{Digest: digestBy(t, verify.SHA512, s.Content.Bytes()), Field: "it",
				Channel: tt.channel}}
			if tt.stands {
				r.wrong(download.Mismatch)
				return
			}
			r.right(s.Content)
		})
	}
}

// Proves rules 34 and 39: the server stated a digest in an earlier run and states none now. Bytes that contradict it are
// refused, also with another date, and the next step is named.
func TestDigestWithdrawn_Rule34_Rule39(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		etag      string
		then, now time.Time
		same      bool // the file is the same
	}{
		"another date":                {then: day, now: day.Add(time.Hour)},
		"another date, the same tag":  {then: day, now: day.Add(time.Hour), etag: `"v"`},
		"another date, the same file": {then: day, now: day.Add(time.Hour), same: true},
		"the same date":               {then: day, now: day},
		"no dates, the same tag":      {etag: `"v"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, next := made(6*mib, 8), made(6*mib, 7)
			if tt.same {
				next = old
			}
			digest := verify.Field(digestBy(t, verify.SHA256, old))
			var changed atomic.Bool
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				body, date := old, tt.then
				if changed.Load() {
					body, date = next, tt.now
				} else {
					w.Header().Set("Digest", digest)
				}
				if tt.etag != "" {
					w.Header().Set("ETag", tt.etag)
				}
				http.ServeContent(w, q, "", date, bytes.NewReader(body))
			}))
			t.Cleanup(s.Close)
			r := newRun(t, s.URL+"/file.bin")
			r.interrupt(mib)
			changed.Store(true)
			if tt.same {
				verified(t, r.right(mirrortest.ContentOf(next)), byDigest)
			} else if e := r.wrong(download.Mismatch); e.Hint != download.HintForget {
				t.Errorf("hint %q", e.Hint)
			}
		})
	}
}
