package download_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"braid/byterange"
	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// Each mirror has one fault: all are asked, none of their bytes are used, and the file is right. These are
// C5, C8 and rules 13, 16, 17, 18, 20, 24, 26, 27 and 31 as they show in a download.
func TestBadMirrors_C8_Rule13_Rule16_Rule20(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	content := func(f func(byterange.ContentRange) string) mirrortest.Option { return mirrortest.ContentRange(f) }
	fixed := func(v string) mirrortest.Option { return content(func(byterange.ContentRange) string { return v }) }
	shift := func(by int64) mirrortest.Option {
		return content(func(c byterange.ContentRange) string {
			c.Range.Start += by
			c.Range.End += by
			return c.String()
		})
	}
	wrongs := []struct {
		name   string
		banned bool
		option mirrortest.Option
	}{
		{"another digest, C5", true, mirrortest.Digest(other())},
		{"another Repr-Digest, C5", true, mirrortest.Header("Repr-Digest", verify.ReprField(other()))},
		{"another size, C8", true, content(func(c byterange.ContentRange) string {
			c.Size++
			return c.String()
		})},
		{"malformed digest, rule 31", false, mirrortest.Header("Digest", "SHA-256=nonsense")},
		{"another range, rule 13", false, shift(1)},
		{"a range before, rule 13", false, shift(-1)},
		{"no Content-Range, rule 13", false, fixed("")},
		{"unknown total, rule 13", false, content(func(c byterange.ContentRange) string {
			value, _, _ := strings.Cut(c.String(), "/")
			return value + "/*"
		})},
		{"another unit, rule 13", false, content(func(c byterange.ContentRange) string {
			return strings.Replace(c.String(), "bytes", "octets", 1)
		})},
		{"backwards, rule 13", false, fixed("bytes 9-3/6291456")},
		{"overflow, rule 13", false, fixed("bytes 0-99999999999999999999/6291456")},
		{"multipart, rule 13", false, mirrortest.Header("Content-Type", "multipart/byteranges; boundary=x")},
		{"two lengths, rule 17", false, mirrortest.ContentLength("5", "6")},
		{"negative length, rule 17", false, mirrortest.ContentLength("-1")},
		{"coding, rule 18", false, mirrortest.ContentEncoding("gzip")},
		{"long header, rule 20", false, mirrortest.HugeHeader(300 << 10)},
		{"many fields, rule 20", false, mirrortest.ManyFields(5000)},
		{"many 1xx, rule 20", false, mirrortest.Informational(30)},
		{"404, rule 24", false, mirrortest.Status(http.StatusNotFound)},
		{"403, rule 24", false, mirrortest.Status(http.StatusForbidden)},
		{"410, rule 24", false, mirrortest.Status(http.StatusGone)},
		{"204, rule 24", false, mirrortest.Status(http.StatusNoContent)},
		{"304, rule 24", false, mirrortest.Status(http.StatusNotModified)},
		{"401, rule 27", false, mirrortest.Status(http.StatusUnauthorized)},
		{"redirect to a file, rule 26", false, mirrortest.Redirect("file:///etc/passwd")},
		{"redirect to nowhere, rule 26", false, mirrortest.Redirect("http://")},
		{"no HTTP at all", false, mirrortest.RawString("SSH-2.0-OpenSSH\r\n")},
	}
	var bad []*mirrortest.Server
	for _, tt := range wrongs {
		bad = append(bad, sized(t, size, tt.option))
	}
	origin := vouch(t, size, bad...)
	r := newRun(t, origin.URL)
	origin.Set(held(2*mib, givenUp(r, urlsOf(bad...)...)))
	res := r.right(origin.Content)
	verified(t, res, byDigest)
	for i, tt := range wrongs {
		t.Run(tt.name, func(t *testing.T) {
			useless(t, res, bad[i])
			if got := from(t, res, bad[i]); got.Banned != tt.banned {
				t.Errorf("banned: %v (%v)", got.Banned, got.Err)
			}
		})
	}
	if n := len(saw[download.Restarted](r)); n > 0 {
		t.Errorf("%d restarts", n)
	}
}

// Proves C8 for whole answers, and rule 25: a mirror with a shorter file has no bytes at the end.
func TestMirrorWithShorterFile_C8_Rule25(t *testing.T) {
	t.Parallel()
	bad := mirrortest.New(t, made(mib, 7))
	origin := vouch(t, 6*mib, bad)
	r := newRun(t, origin.URL)
	origin.Set(held(2*mib, givenUp(r, bad.URL)))
	res := r.right(origin.Content)
	useless(t, res, bad)
	if !from(t, res, bad).Banned {
		t.Error("it is not banned")
	}
}

// Bytes that a mirror sent before it failed are kept, and the rest comes from others (rules 15 and 17).
func TestMirrorsThatBreakOff_Rule15_Rule17(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	for name, option := range map[string]mirrortest.Option{
		"cut":     mirrortest.CutAfter(100_000),
		"reset":   mirrortest.ResetAfter(100_000),
		"longer":  mirrortest.BodyLonger(10),
		"shorter": shorter(),
	} {
		t.Run(name, func(t *testing.T) {
			bad := sized(t, size, option)
			origin := vouch(t, size, bad)
			r := newRun(t, origin.URL)
			r.client.Tries = 3
			known := requested(bad)
			if name != "longer" {
				known = givenUp(r, bad.URL)
			}
			origin.Set(held(12*mib, known))
			res := r.right(origin.Content)
			asked(t, bad, true)
			if got := from(t, res, bad); got.Err == nil && name != "longer" {
				t.Error("nothing is said about it")
			}
			verified(t, res, byDigest)
		})
	}
}

// shorter returns an answer with a proper last chunk before the end of the range.
func shorter() mirrortest.Option {
	return mirrortest.Raw(func(c net.Conn) {
		io.WriteString(c, "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-6291455/6291456\r\nTransfer-Encoding: "+
			"chunked\r\n\r\n0\r\n\r\n")
	})
}

// Proves S9 and rule 35: If-Match is sent to preferred mirrors only.
func TestIfMatch_S9(t *testing.T) {
	t.Parallel()
	const size, tag = 8 * mib, `"v1"`
	pref := sized(t, size, mirrortest.ETag(tag))
	normal := sized(t, size, mirrortest.ETag(`"of this node"`))
	together(4*mib, pref, normal)
	origin := sized(t, size, waiting(mib, pref, normal), mirrortest.ETag(tag), mirrortest.Digest(), mirrortest.Link(
		"<"+pref.URL+">; rel=duplicate; pref", "<"+normal.URL+">; rel=duplicate"))
	res := newRun(t, origin.URL).right(origin.Content)
	useful(t, res, pref)
	useful(t, res, normal)
	for s, want := range map[*mirrortest.Server]string{pref: tag, normal: "", origin: ""} {
		for _, q := range s.Requests() {
			if got := q.Header.Get("If-Match"); got != want {
				t.Errorf("If-Match %q at %s, want %q", got, s.URL, want)
			}
		}
	}
}

// Proves S9: the tag is that of the Metalink server, not that of the mirror that it redirected to.
func TestIfMatchIsTheServers_S9(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	pref := sized(t, size, mirrortest.Rate(4*mib), mirrortest.ETag(`"server"`))
	landing := sized(t, size, waiting(4*mib, pref), mirrortest.ETag(`"landing"`))
	origin := sized(t, size, mirrortest.Digest(), mirrortest.Header("ETag", `"server"`),
		mirrortest.Link("<"+pref.URL+">; rel=duplicate; pref"), mirrortest.Redirect(landing.URL))
	res := newRun(t, origin.URL).right(origin.Content)
	useful(t, res, pref)
	for _, q := range pref.Requests() {
		if got := q.Header.Get("If-Match"); got != `"server"` {
			t.Errorf("If-Match %q", got)
		}
	}
}

// Proves S9 for a resumed download: the tag may be a new one if the digest shows that the file is the same.
func TestIfMatchIsTheLatest_S9(t *testing.T) {
	t.Parallel()
	pref := sized(t, 6*mib, mirrortest.Rate(8*mib), mirrortest.ETag(`"v2"`))
	origin := resumable(t, mirrortest.Rate(4*mib), mirrortest.Digest(), mirrortest.ETag(`"v1"`))
	r := newRun(t, origin.URL)
	r.interrupt(mib)
	origin.Set(mirrortest.ETag(`"v2"`), mirrortest.Link("<"+pref.URL+">; rel=duplicate; pref"), waiting(4*mib, pref))
	res := r.right(origin.Content)
	useful(t, res, pref)
	if res.Resumed < mib || res.ETag != `"v2"` {
		t.Errorf("resumed %d, ETag %s", res.Resumed, res.ETag)
	}
}

// Proves S9: a weak or missing tag of the server is not sent, and is no reason to reject a mirror (rule 35).
func TestNoIfMatchWithoutStrongTag_S9_Rule35(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{"", `W/"v1"`} {
		pref := sized(t, 6*mib, mirrortest.Rate(4*mib), mirrortest.ETag(`"mine"`))
		origin := sized(t, 6*mib, waiting(4*mib, pref), mirrortest.ETag(tag), mirrortest.Digest(),
			mirrortest.Link("<"+pref.URL+">; rel=duplicate; pref"))
		res := newRun(t, origin.URL).right(origin.Content)
		useful(t, res, pref)
		for _, q := range pref.Requests() {
			if got := q.Header.Get("If-Match"); got != "" {
				t.Errorf("If-Match %q", got)
			}
		}
	}
}

// Proves rule 35: after 412 the digest decides. Without one the mirror is stale.
func TestPreconditionFailed_Rule35(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	good := sized(t, size, mirrortest.Rate(4*mib), mirrortest.ETag(`"v0"`), mirrortest.Digest())
	stale := sized(t, size, mirrortest.Rate(4*mib), mirrortest.ETag(`"v0"`))
	liar := sized(t, size, mirrortest.Rate(4*mib), mirrortest.ETag(`"v0"`), mirrortest.Digest(other()))
	silent := sized(t, size, mirrortest.Rate(4*mib))
	origin := sized(t, size, mirrortest.Rate(2*mib), mirrortest.ETag(`"v1"`), mirrortest.Digest(), mirrortest.Link(
		"<"+stale.URL+">; rel=duplicate; pref", "<"+liar.URL+">; rel=duplicate; pref",
		"<"+silent.URL+">; rel=duplicate; pref", "<"+good.URL+">; rel=duplicate; pref"))
	r := newRun(t, origin.URL)
	known := givenUp(r, stale.URL, liar.URL, silent.URL)
	good.Set(held(4*mib, known))
	origin.Set(held(2*mib, allOf(known, sent(part, good))))
	res := r.right(origin.Content)
	useful(t, res, good)
	for _, s := range []*mirrortest.Server{stale, liar, silent} {
		useless(t, res, s)
		if !from(t, res, s).Banned {
			t.Errorf("%s is not banned", s.URL)
		}
	}
}

// Proves rule 35 for a preferred mirror that ignores If-Match.
func TestPrefMirrorIgnoresIfMatch_Rule35(t *testing.T) {
	t.Parallel()
	const size = 8 * mib
	good := sized(t, size, mirrortest.Rate(4*mib), mirrortest.Header("ETag", `"v0"`), mirrortest.Digest())
	stale := sized(t, size, mirrortest.Rate(4*mib), mirrortest.Header("ETag", `"v0"`))
	for _, s := range []*mirrortest.Server{good, stale} {
		s.Set(mirrortest.When(func(q *http.Request) bool { q.Header.Del("If-Match"); return false }))
	}
	origin := sized(t, size, mirrortest.Rate(2*mib), mirrortest.ETag(`"v1"`), mirrortest.Digest(), mirrortest.Link(
		"<"+stale.URL+">; rel=duplicate; pref", "<"+good.URL+">; rel=duplicate; pref"))
	r := newRun(t, origin.URL)
	known := givenUp(r, stale.URL)
	good.Set(held(4*mib, known))
	origin.Set(held(2*mib, allOf(known, sent(part, good))))
	res := r.right(origin.Content)
	useful(t, res, good)
	useless(t, res, stale)
}

// A fault of the only origin ends the download with its kind.
func TestBadOrigin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		kind   download.Kind
		option mirrortest.Option
	}{
		{"404, rule 24", download.Refused, mirrortest.Status(http.StatusNotFound)},
		{"403, rule 24", download.Refused, mirrortest.Status(http.StatusForbidden)},
		{"204, rule 24", download.Refused, mirrortest.Status(http.StatusNoContent)},
		{"205, rule 24", download.Refused, mirrortest.Status(http.StatusResetContent)},
		{"300, rule 24", download.Refused, mirrortest.Status(http.StatusMultipleChoices)},
		{"304, rule 24", download.Refused, mirrortest.Status(http.StatusNotModified)},
		{"401", download.Auth, mirrortest.Status(http.StatusUnauthorized)},
		{"redirect to a file, rule 26", download.Refused, mirrortest.Redirect("file:///etc/passwd")},
		{"malformed digest, rule 31", download.Protocol, mirrortest.Header("Digest", "SHA-256=nonsense")},
		{"digests that disagree, rule 32", download.Protocol, mirrortest.Header("Digest", verify.Field(other())+","+
			verify.Field(mirrortest.Generate(1, 1).Digest()))},
		{"Digest and Repr-Digest disagree, rule 32", download.Protocol, both()},
		{"two lengths, rule 17", download.Protocol, mirrortest.ContentLength("5", "6")},
		{"coding, rule 18", download.Protocol, mirrortest.ContentEncoding("br")},
		{"long header, rule 20", download.Limit, mirrortest.HugeHeader(300 << 10)},
		{"206 that nobody asked for, rule 24", download.Protocol,
			mirrortest.RawString("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-2/3\r\nContent-Length: 3\r\n\r\nabc")},
		{"no room, rule 7", download.Local, mirrortest.ContentLength("9000000000000000000")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRun(t, sized(t, 1000, tt.option).URL)
			if e := r.wrong(tt.kind); e.Kept != 0 || e.Part != "" {
				t.Errorf("kept %d bytes in %q", e.Kept, e.Part)
			}
			r.empty()
		})
	}
}

func both() mirrortest.Option {
	digest, repr := mirrortest.Digest(), mirrortest.Header("Repr-Digest", verify.ReprField(other()))
	return mirrortest.When(func(*http.Request) bool { return true }, digest, repr)
}
