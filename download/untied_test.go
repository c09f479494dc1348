package download_test

import (
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"

	"braid/internal/test/mirrortest"
)

// TestUntiedMirror_Rule30: a mirror of the user that neither a digest nor an ETag ties to the server is not asked, and the
// result says why. It has the file if the server breaks off.
func TestUntiedMirror_Rule30(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(256<<10, 1)
	origin, mirror := mirrortest.New(t, content), mirrortest.New(t, content)
	r := newRun(t, origin.URL)
	r.req.Mirrors = []*url.URL{parse(t, mirror.URL)}
	res := r.right(content)
	got := fromHost(res, mirror.Addr)
	if got.Err == nil || !strings.Contains(got.Err.Error(), "used only if the others fail") || len(mirror.Requests()) > 0 {
		t.Errorf("%+v, %d requests", got, len(mirror.Requests()))
	}
	if len(res.Sources) != 2 || res.Sources[1].ID != 1 {
		t.Errorf("%+v", res.Sources)
	}

	origin.Set(mirrortest.CutAfter(100 << 10))
	r = newRun(t, origin.URL)
	r.req.Mirrors = []*url.URL{parse(t, mirror.URL)}
	res = r.right(content)
	if got := fromHost(res, mirror.Addr); got.Bytes != int64(len(content.Bytes())) {
		t.Errorf("%+v", got)
	}
}

// TestTagWithoutSize_Rule30: the same ETag on the user's mirror shows nothing if the server gave no size: the mirror has
// another, longer file. It serves alone once the server has failed.
func TestTagWithoutSize_Rule30(t *testing.T) {
	t.Parallel()
	tag := mirrortest.ETag(`"1"`)
	ranged := func(q *http.Request) bool { return q.Header.Get("Range") != "" }
	origin := mirrortest.New(t, made(3*mib, 8), tag, mirrortest.Chunked(), mirrortest.CutAfter(mib),
		mirrortest.When(ranged, mirrortest.Status(404)))
	mirror := mirrortest.New(t, made(4*mib, 7), tag)
	r := newRun(t, origin.URL)
	r.mirrors(mirror)
	r.client.Tries = 2
	res := r.right(mirror.Content)
	if got := fromHost(res, mirror.Addr); got.Bytes != 4*mib {
		t.Errorf("%+v", got)
	}
}

// TestStandInListed_Rules30_77: a stale mirror that stands in for the server, whose list contradicts it, does not keep
// the next mirror from being asked.
func TestStandInListed_Rules30_77(t *testing.T) {
	t.Parallel()
	stale, right := mirrortest.New(t, made(mib, 7)), mirrortest.New(t, made(mib, 8))
	origin := mirrortest.New(t, right.Content, mirrortest.IgnoreRange(), mirrortest.CutAfter(100<<10))
	list := []byte(sum256(string(right.Content.Bytes())) + "  " + path.Base(origin.URL) + "\n")
	origin.Set(mirrortest.Document("/SHA256SUMS", "text/plain", list))
	r := newRun(t, origin.URL)
	r.req.Trust.Lookup, r.client.Tries = true, 1
	r.mirrors(stale, right)
	verified(t, r.right(right.Content), "sha-256 from SHA256SUMS beside it over http")
}
