package download_test

import (
	"crypto/tls"
	"net/http"
	"os"
	"testing"

	"braid/download"
	"braid/download/state"
	"braid/internal/partfile"
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
		"on GET only":  {begin: mirrortest.When(get, mirrortest.Digest())},
		"on HEAD only": {begin: mirrortest.When(head, mirrortest.Digest())},
		"more on GET": {begin: mirrortest.Choose(func(q *http.Request) []mirrortest.Option {
			return options(get(q), long)
		})},
		"more on HEAD": {begin: mirrortest.Choose(func(q *http.Request) []mirrortest.Option {
			return options(head(q), long)
		})},
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
				func() { r.req.Trust.Require = download.RequireDigest },
				func() { r.req.IfExists.IfNewer = true },
				func() { r.req.IfExists.Overwrite = true },
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

// Proves rule 64 for NoMetalink, which leaves out mirrors and documents, but not the check of what the URL offered
// before. A signature that the server still names is an offer, although it is not fetched.
func TestPinnedWithoutMetalink_Rule64(t *testing.T) {
	t.Parallel()
	head := func(q *http.Request) bool { return q.Method == http.MethodHead }
	digest, no := mirrortest.Digest(), func() []mirrortest.Option { return nil }
	link := mirrortest.Link(`</file.bin.asc>; rel=describedby; type="application/pgp-signature"`)
	both := func() []mirrortest.Option { return []mirrortest.Option{digest, link} }
	for name, tt := range map[string]struct {
		begin, then func() []mirrortest.Option
		missing     bool
	}{
		"as before": {both, both, false},
		"on HEAD only": {both, func() []mirrortest.Option {
			return []mirrortest.Option{mirrortest.When(head, digest, link)}
		}, false},
		"without the signature": {both, func() []mirrortest.Option { return []mirrortest.Option{digest} }, true},
		"without the digest":    {func() []mirrortest.Option { return []mirrortest.Option{digest} }, no, true},
		"with nothing":          {both, no, true},
		"never any":             {no, no, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sized(t, mib, append(tt.begin(), mirrortest.TLS(nil))...)
			r := newRun(t, s.URL)
			r.tls, r.client.State = &tls.Config{RootCAs: mirrortest.Pool(s)}, &state.Store{}
			r.right(s.Content)
			s.Reset(append(tt.then(), mirrortest.TLS(nil))...)
			r.req.NoMetalink = true
			plain := r.req
			for _, change := range []func(){
				func() { r.req.IfExists.Overwrite = true },
				func() { r.req.IfExists.Overwrite, r.req.IfExists.IfNewer = true, true },
				func() {
					if err := os.Remove(r.path()); err != nil {
						t.Fatal(err)
					}
				},
			} {
				r.req = plain
				if change(); tt.missing {
					r.fails(download.NoEvidence)
				} else {
					r.right(s.Content)
				}
			}
			r.req.Trust.LessProof, r.req.IfExists.Overwrite = true, true
			r.right(s.Content)
			r.req.Trust.LessProof = false
			if tt.missing { // the pin is forgotten
				r.right(s.Content)
			}
		})
	}
}

// Proves rule 64 with NoMetalink where an earlier run left all bytes, so that no answer brings any.
func TestPinnedWithoutMetalinkResumed_Rule64(t *testing.T) {
	t.Parallel()
	link := mirrortest.Link(`</file.bin.asc>; rel=describedby; type="application/pgp-signature"`)
	for name, named := range map[string]bool{"named": true, "not named": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sized(t, mib, mirrortest.TLS(nil), mirrortest.Digest())
			if named {
				s.Set(link)
			}
			r := newRun(t, s.URL)
			r.tls, r.client.State = &tls.Config{RootCAs: mirrortest.Pool(s)}, &state.Store{}
			r.client.State.KeepPin(r.req.URL, state.PinOf(nil, "application/pgp-signature"))
			r.req.NoMetalink = true
			claim := verify.Claim{Digest: s.Content.Digest(), Field: "Digest", Channel: verify.HTTPS}
			r.plant(partfile.Identity{Claims: []verify.Claim{claim}}, s.Content.Bytes(), r.key())
			if named {
				r.right(s.Content)
			} else {
				r.wrong(download.NoEvidence)
			}
		})
	}
}

// Proves that with NoMetalink a mirror of the user does not stand in for a URL that offered a digest before (rule 64).
func TestPinnedWithoutMetalinkStandIn_Rule64(t *testing.T) {
	t.Parallel()
	mirror := sized(t, mib)
	s := sized(t, mib, mirrortest.TLS(nil), mirrortest.Digest())
	r := newRun(t, s.URL)
	r.tls, r.client.State = &tls.Config{RootCAs: mirrortest.Pool(s)}, &state.Store{}
	r.right(s.Content)
	s.Reset(mirrortest.TLS(nil), mirrortest.Status(http.StatusNotFound))
	r.req.NoMetalink, r.req.IfExists.Overwrite = true, true
	r.mirrors(mirror)
	if res, err := r.get(); err == nil {
		t.Fatalf("a mirror stood in: %+v", res)
	}
	r.req.Trust.LessProof = true
	r.right(mirror.Content)
}

// options returns more where more is wanted, and a SHA-256 else.
func options(more bool, long mirrortest.Option) []mirrortest.Option {
	if more {
		return []mirrortest.Option{long}
	}
	return []mirrortest.Option{mirrortest.Digest()}
}

// Proves rule 77 where a pin makes the download ask by HEAD: a digest that the host of the URL gives only on HEAD
// counts like one on GET, so nothing is looked for.
func TestPinnedOnHeadLooksForNothing_Rules64_77(t *testing.T) {
	t.Parallel()
	for name, overwrite := range map[string]bool{"new": false, "overwrite": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sized(t, 4*mib, mirrortest.TLS(nil), mirrortest.ETag(`"v"`), mirrortest.OnHead(mirrortest.Digest()))
			r := newRun(t, s.URL)
			r.tls, r.client.State = &tls.Config{RootCAs: mirrortest.Pool(s)}, &state.Store{}
			r.req.Trust.Lookup, r.req.Trust.Require = true, download.RequireDigest
			r.right(s.Content)
			r.req.Trust.Require, r.req.NoMetalink = download.RequireNothing, true
			if r.req.IfExists.Overwrite = overwrite; !overwrite {
				r.req.Name = "another.bin"
			}
			if res, err := r.get(); err != nil || !res.Proof.Verified() {
				t.Errorf("%v, %v", res.Proof, err)
			}
			for _, q := range s.Requests() {
				if q.Path != parse(t, s.URL).Path {
					t.Errorf("%s %s", q.Method, q.Path)
				}
			}
		})
	}
}
