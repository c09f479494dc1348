package download_test

import (
	"crypto/tls"
	"errors"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/address"
	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/metalink"
	"braid/verify"
)

// following makes a download by a document of the user that describes data at these servers, in this order.
func following(t *testing.T, f metalink.File, servers ...*mirrortest.Server) *run {
	t.Helper()
	return followingOver(t, verify.User, f, servers...)
}

func followingOver(t *testing.T, over verify.Channel, f metalink.File, servers ...*mirrortest.Server) *run {
	t.Helper()
	for i, s := range servers {
		f.Mirrors = append(f.Mirrors, metalink.Mirror{URL: parse(t, s.URL), Pri: i + 1, By: address.Loopback})
	}
	r := newRun(t, servers[0].URL)
	r.req.URL = nil
	d := &download.Document{Name: "x.meta4", Over: over}
	req, err := d.Request(f, r.req)
	if err != nil {
		t.Fatal(err)
	}
	r.req = req
	return r
}

// of returns a document's description of data.
func of(t *testing.T, data []byte) metalink.File {
	t.Helper()
	return metalink.File{Name: "file.bin", Size: int64(len(data)), Claims: []verify.Claim{{Digest: sum(t, data)}}}
}

const byDocument = "sha-256 from x.meta4"

// If the size is known, all places are used from the start, and a bad first one does not matter (rule 39).
func TestDescribed_Rule39(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	for name, bad := range map[string]mirrortest.Option{
		"gone": mirrortest.Status(404), "another size": nil, "another digest": mirrortest.Digest(other()),
		"dead": mirrortest.RawString(""), "redirects in circles": mirrortest.Redirect("/file.bin"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := sized(t, size)
			if name == "another size" {
				first = sized(t, size-1)
			} else {
				first.Set(bad)
			}
			a, b := sized(t, size), sized(t, size)
			a.Set(held(8*mib, requested(first)))
			b.Set(held(8*mib, allOf(requested(first), sent(part, a))))
			r := following(t, of(t, made(size, 7)), first, a, b)
			res := r.right(a.Content)
			verified(t, res, byDocument)
			useless(t, res, first)
			useful(t, res, a)
		})
	}
}

// A mirror's links are ignored (C2), even with a digest.
func TestDescribedFollowsNoLinks_C2(t *testing.T) {
	t.Parallel()
	const size = 2 * mib
	stranger := sized(t, size)
	a := vouch(t, size, stranger)
	r := following(t, of(t, made(size, 7)), a)
	r.right(a.Content)
	asked(t, stranger, false)
	weak := following(t, metalink.File{Name: "file.bin", Size: size}, a)
	weak.right(a.Content)
	asked(t, stranger, false)
}

// Proves rule 46 for a server with another digest in its header, and rule 42 for one with another size.
func TestDescribedContradicted_Rule42_Rule46(t *testing.T) {
	t.Parallel()
	const size = mib
	f := of(t, made(size, 7))
	e := following(t, f, sized(t, size, mirrortest.Digest(other()))).wrong(download.Protocol)
	if !strings.Contains(string(e.Hint), "x.meta4") {
		t.Errorf("hint %q", e.Hint)
	}
	following(t, f, sized(t, size+1)).wrong(download.Mismatch)
	weak := metalink.File{Name: "file.bin", Size: size}
	following(t, weak, sized(t, size+1)).wrong(download.Mismatch)
	weak.Claims = []verify.Claim{{Digest: md5Of(t, made(size, 7))}}
	following(t, weak, sized(t, size, mirrortest.Header("Digest", "MD5=AAAAAAAAAAAAAAAAAAAAAA=="))).wrong(download.Protocol)
}

// Proves S10 for a document of the user: pieces are checked from the first byte, and the source of wrong
// bytes is named.
func TestDescribedPieces_S10_Rule40(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	data := made(size, 7)
	f := of(t, data)
	f.Pieces = []verify.Pieces{piecesOf(t, data)}
	liar := sized(t, size, mirrortest.Rate(4*mib), mirrortest.Corrupt(marks(mib, size)...))
	a := sized(t, size, held(4*mib, sent(piece, liar)))
	r := following(t, f, liar, a)
	res := r.right(a.Content)
	verified(t, res, byDocument)
	banned(t, res, liar, a)
	if res.Fetched > size*3/2 {
		t.Errorf("%d bytes came for %d", res.Fetched, size)
	}
	void := slices.ContainsFunc(r.events, func(ev download.Event) bool {
		v, ok := ev.(download.Voided)
		return ok && !v.Range.Empty()
	})
	if !void {
		t.Error("nothing is told of wrong bytes that are missing again")
	}
}

// Proves rule 46 for a document that the user named: it must describe the file of the user's digest.
func TestDescribedContradictsUser_Rule46(t *testing.T) {
	t.Parallel()
	d := &download.Document{Name: "x.meta4", Over: verify.User}
	claim := verify.Claim{Digest: sum(t, made(mib, 8)), Field: "--sha256", Channel: verify.User}
	r, err := d.Describe(of(t, made(mib, 7)), download.Request{Trust: download.Trust{Claims: []verify.Claim{claim}}})
	if e, ok := errors.AsType[*download.Error](err); !ok || e.Kind != download.Protocol || r.Described != nil {
		t.Errorf("%v", err)
	}
}

// Proves rule 42: a document is wrong if its pieces match the file of all servers and its digest of the whole
// file does not. The file is not requested a second time.
func TestDescribedContradictsItself_Rule42(t *testing.T) {
	t.Parallel()
	const size = 4 * mib
	f := of(t, made(size, 8))
	f.Pieces = []verify.Pieces{piecesOf(t, made(size, 7))}
	a, b := sized(t, size, mirrortest.Rate(8*mib)), sized(t, size, mirrortest.Rate(8*mib))
	e := following(t, f, a, b).wrong(download.Protocol)
	if !strings.Contains(e.Error(), "in x.meta4, the digests of the pieces") || !strings.Contains(string(e.Hint), "document") {
		t.Errorf("%v (%s)", e, e.Hint)
	}
	if sent := a.Sent() + b.Sent(); sent > size*5/4 {
		t.Errorf("%d bytes were sent for %d", sent, size)
	}
}

// Proves rule 40 without pieces: of two sources that differ, the first one in the document counts, and not
// both are left out. If it sent the wrong bytes, the other one serves alone in the end.
func TestDescribedLiar_Rule40(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	for _, lies := range []int{0, 1} {
		servers := []*mirrortest.Server{sized(t, size, mirrortest.Rate(8*mib)), sized(t, size, mirrortest.Rate(8*mib))}
		servers[lies].Set(mirrortest.Corrupt(marks(mib/4, size)...))
		r := following(t, of(t, made(size, 7)), servers...)
		verified(t, r.right(servers[0].Content), byDocument)
	}
}

// The file gets the oldest date of its places, because no copy is older than its original.
func TestDescribedRemoteTime(t *testing.T) {
	t.Parallel()
	const size = 2 * mib
	for name, tt := range map[string]struct {
		dates []time.Time
		want  time.Time
	}{
		"the same":    {[]time.Time{monday, monday}, monday},
		"one has one": {[]time.Time{{}, monday}, monday},
		"a copy":      {[]time.Time{tuesday, monday}, monday},
		"of no use":   {[]time.Time{time.Unix(1, 0), monday}, monday},
		"none":        {[]time.Time{{}, {}}, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			var servers []*mirrortest.Server
			for _, date := range tt.dates {
				servers = append(servers, sized(t, size, mirrortest.Modified(date)))
			}
			for i, s := range servers { // slow, so that both are needed
				s.Set(held(4*mib, sent(64<<10, servers[1-i])))
			}
			r := following(t, of(t, made(size, 7)), servers...)
			r.req.RemoteTime = true
			res := r.right(servers[0].Content)
			info, err := os.Stat(r.path())
			if err != nil {
				t.Fatal(err)
			}
			if dated := info.ModTime().Equal(tt.want); !res.LastModified.Equal(tt.want) || dated == tt.want.IsZero() ||
				len(saw[download.Note](r)) > 0 == dated {
				t.Errorf("%v, the file has %v, and it was told %v", res.LastModified, info.ModTime(), saw[download.Note](r))
			}
		})
	}
}

// The document does not state the size, and the first server has another file.
func TestDescribedWithoutSize(t *testing.T) {
	t.Parallel()
	const size = 2 * mib
	f := of(t, made(size, 7))
	f.Size = -1
	wrong, a := sized(t, size+1), sized(t, size)
	verified(t, following(t, f, a, wrong).right(a.Content), byDocument)
	verified(t, following(t, f, wrong, a).right(a.Content), byDocument)
	// This also holds if the right one is asked early, and is left out for its size.
	early := sized(t, size)
	slow := sized(t, size+1, mirrortest.RateFunc(func(time.Duration) int64 {
		if len(early.Requests()) == 0 {
			return mib / 4
		}
		return 4 * mib
	}))
	verified(t, following(t, f, slow, early).right(early.Content), byDocument)
}

// An interrupted download resumes when the document is used again, whichever place is the first.
func TestDescribedResumes(t *testing.T) {
	t.Parallel()
	const size = 4 * mib
	f := of(t, made(size, 7))
	a, b := sized(t, size, mirrortest.Rate(4*mib)), sized(t, size, mirrortest.Rate(4*mib))
	r := following(t, f, a)
	r.interrupt(mib)
	again := following(t, f, b)
	again.req.Dir, again.dir = r.dir, r.dir
	if res := again.right(b.Content); res.Resumed < mib {
		t.Errorf("%d bytes were gone on with", res.Resumed)
	}

	// Nothing is used of another document under the same name and with the same first server.
	r = following(t, f, a)
	r.interrupt(mib)
	a.Set(mirrortest.Unlimited())
	newer := made(size, 8)
	c := mirrortest.New(t, newer)
	again = following(t, of(t, newer), c)
	again.req.Dir, again.dir = r.dir, r.dir
	if res, err := again.get(); err != nil || res.Resumed != 0 {
		t.Errorf("%d bytes of another file were gone on with: %v", res.Resumed, err)
	}
	again.same(c.Content)
}

// An empty file needs no request.
func TestDescribedEmpty(t *testing.T) {
	t.Parallel()
	s := mirrortest.New(t, []byte{})
	r := following(t, of(t, nil), s)
	res := r.right(s.Content)
	verified(t, res, byDocument)
}

// Proves rule 43: without a strong hash, bytes of two places are not combined unless both have the same ETag,
// and the result states that nothing is proven.
func TestDescribedWeak_Rule43(t *testing.T) {
	t.Parallel()
	const size = 2 * mib
	dead, a, b := sized(t, size, mirrortest.Status(404)), sized(t, size, mirrortest.Rate(8*mib)),
		sized(t, size, mirrortest.ETag(`"other"`))
	r := following(t, metalink.File{Name: "file.bin", Size: size}, dead, a, b)
	res := r.right(a.Content)
	verified(t, res, "unverified")
	if one, other := from(t, res, a).Bytes, from(t, res, b).Bytes; one != 0 && other != 0 {
		t.Errorf("%d bytes of %s and %d of %s", one, a.URL, other, b.URL)
	}
	r = following(t, metalink.File{Name: "file.bin", Size: size}, a)
	r.req.Trust.Require = download.RequireDigest
	r.wrong(download.NoEvidence)
}

// Proves rules 26 and 64: digests over http allow no redirect from https to http; digests from the user do.
func TestDescribedOverHTTPVouchesForNothing_Rule26_Rule64(t *testing.T) {
	t.Parallel()
	const size = mib
	plain := sized(t, size)
	secure := sized(t, size, mirrortest.TLS(nil), mirrortest.Redirect(plain.URL))
	for over, kind := range map[verify.Channel]download.Kind{verify.HTTP: download.Refused, verify.HTTPS: 0, verify.User: 0} {
		r := followingOver(t, over, of(t, made(size, 7)), secure)
		r.tls = &tls.Config{RootCAs: mirrortest.Pool(secure)}
		if kind != 0 {
			r.wrong(kind)
		} else {
			r.right(plain.Content)
		}
	}
}

// Credentials are for the server of the document's URL, not for servers that the document names (rule 27).
func TestDescribedCredentials_Rule27(t *testing.T) {
	t.Parallel()
	const size = mib
	a, b := sized(t, size, mirrortest.Status(404), mirrortest.Login("Basic", "me", "secret")), sized(t, size)
	f := of(t, made(size, 7))
	for _, s := range []*mirrortest.Server{a, b} {
		f.Mirrors = append(f.Mirrors, metalink.Mirror{URL: parse(t, s.URL), Pri: 1, By: address.Loopback})
	}
	r := newRun(t, a.URL)
	r.req.Access.User = url.UserPassword("me", "secret")
	r.req.Access.Header = map[string][]string{"Cookie": {"secret"}, "X-Kind": {"x"}, "Accept-Language": {"de"}}
	d := &download.Document{Name: "x.meta4", URL: parse(t, a.URL+".meta4"), Over: verify.HTTP}
	req, err := d.Request(f, r.req)
	if err != nil {
		t.Fatal(err)
	}
	r.req = req
	r.right(b.Content)
	if len(a.Requests()) < 2 {
		t.Fatal("the document's own server was not told who asks") // after it asked for them
	}
	for _, req := range a.Requests()[1:] {
		if req.Header.Get("Authorization") == "" || req.Header.Get("Cookie") == "" {
			t.Errorf("the document's own server got %v", req.Header)
		}
	}
	for _, req := range b.Requests() {
		if req.Header.Get("Authorization") != "" || req.Header.Get("Cookie") != "" || req.Header.Get("X-Kind") != "" ||
			req.Header.Get("Accept-Language") == "" || req.Header.Get("Referer") != "" {
			t.Errorf("another server got %v", req.Header)
		}
	}
}

// The digests of the user and of the document must be the same (rule 64).
func TestDescribedAgainstTheUser_Rule64(t *testing.T) {
	s := sized(t, mib)
	f := of(t, made(mib, 7))
	f.Mirrors = []metalink.Mirror{{URL: parse(t, s.URL), Pri: 1}}
	d := &download.Document{Name: "x.meta4", Over: verify.User}
	_, err := d.Request(f, download.Request{Trust: download.Trust{Claims: userClaim(other())}})
	var e *download.Error
	if !errors.As(err, &e) || e.Kind != download.Protocol {
		t.Errorf("%v", err)
	}
}
