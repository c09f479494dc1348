package download_test

import (
	"net/url"
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
