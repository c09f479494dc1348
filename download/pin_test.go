package download_test

import (
	"crypto/tls"
	"net/http"
	"os"
	"testing"

	"braid/download"
	"braid/download/state"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// Proves rule 64 for servers that offer more in some answers than in others: to one method only, in a redirect, or after
// one to another host. Each command, repeated, ends as before. Where nothing is offered any more, it is exit code 12.
func TestPinnedIsOffered_Rule64(t *testing.T) {
	t.Parallel()
	get := func(q *http.Request) bool { return q.Method == http.MethodGet }
	head := func(q *http.Request) bool { return q.Method == http.MethodHead }
	second := sized(t, mib, mirrortest.TLS(nil), mirrortest.Digest())
	third := sized(t, mib, mirrortest.TLS(nil))
	content := mirrortest.Generate(mib, 7)
	long := mirrortest.Digest(content.Digest(), digestBy(t, verify.SHA512, content.Bytes()))
	for name, tt := range map[string]struct {
		begin, then mirrortest.Option
		unpinned    bool // the server itself offered nothing
	}{
		"on GET only":       {begin: mirrortest.When(get, mirrortest.Digest())},
		"on HEAD only":      {begin: mirrortest.When(head, mirrortest.Digest())},
		"more on GET":       {begin: mirrortest.Choose(func(q *http.Request) []mirrortest.Option { return options(get(q), long) })},
		"more on HEAD":      {begin: mirrortest.Choose(func(q *http.Request) []mirrortest.Option { return options(head(q), long) })},
		"as Content-Digest": {begin: mirrortest.ContentDigest(), unpinned: true},
		"at another host":   {begin: mirrortest.Redirect(second.URL), then: mirrortest.Redirect(third.URL), unpinned: true},
		"everywhere":        {begin: mirrortest.Digest()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sized(t, mib, mirrortest.TLS(nil), tt.begin)
			r := newRun(t, s.URL)
			r.tls, r.client.State = &tls.Config{RootCAs: mirrortest.Pool(s, second, third)}, &state.Store{}
			plain := r.req
			remove := func() {
				if err := os.Remove(r.path()); err != nil {
					t.Fatal(err)
				}
			}
			for _, change := range []func(){
				func() { r.req.Require = download.RequireDigest },
				func() { r.req.IfNewer = true },
				func() { r.req.Overwrite = true },
				remove,
			} {
				r.req = plain
				change()
				r.right(s.Content)
			}
			remove()
			if tt.then != nil {
				s.Reset(mirrortest.TLS(nil), tt.then)
			} else {
				s.Reset(mirrortest.TLS(nil))
			}
			r.req = plain
			if tt.unpinned {
				r.right(s.Content)
			} else {
				r.wrong(download.NoEvidence)
			}
		})
	}
}

// options returns more where more is wanted, and a SHA-256 else.
func options(more bool, long mirrortest.Option) []mirrortest.Option {
	if more {
		return []mirrortest.Option{long}
	}
	return []mirrortest.Option{mirrortest.Digest()}
}
