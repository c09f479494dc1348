package download_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"braid/download"
	"braid/internal/partfile"
	"braid/internal/test/mirrortest"
	"braid/source/httpsource"
	"braid/verify"
)

// TestLookupAfterJournal: a digest that an earlier command was given or looked up yields to a list that is beside the
// file now, also if that command was a repair.
func TestLookupAfterJournal_Rules34_77(t *testing.T) {
	t.Parallel()
	old, next := made(2*mib, 8), made(2*mib, 7)
	for name, begin := range map[string]func(t *testing.T, r *run){
		"repair": func(t *testing.T, r *run) {
			r.onDisk(bytes.Clone(old[:mib]))
			r.client.HTTP = nil
			v, err := r.client.Verify(r.ctx, r.req)
			if !v.Repairable() {
				t.Fatalf("verify: %v", err)
			}
			ctx, cancel := context.WithCancel(r.ctx)
			defer cancel()
			_, err = r.client.Repair(ctx, v, func(ev download.Event) {
				if _, ok := ev.(download.Resumed); ok {
					cancel()
				}
			})
			if kindOfError(err) != download.Interrupted {
				t.Fatalf("repair: %v", err)
			}
		},
		"a mistyped digest": func(_ *testing.T, r *run) {
			r.req.Trust.Claims = userClaim(other())
			r.interrupt(mib)
			r.req.Trust.Claims = nil
		},
	} {
		for _, tag := range []string{"", `"v"`} {
			t.Run(name+", tag "+tag, func(t *testing.T) {
				t.Parallel()
				s := newFolderSite(t, "SHA256SUMS", sum256(string(old))+"  disk.iso\n")
				s.put("disk.iso", string(old), tag)
				r := lookingUp(t, s, "disk.iso")
				begin(t, r)
				want := old
				if tag == "" { // else it is still the same
					want = next
					s.put("disk.iso", string(next), tag)
					s.put("SHA256SUMS", sum256(string(next))+"  disk.iso\n", "")
				}
				r.req.IfExists.Overwrite = true
				verified(t, r.right(mirrortest.ContentOf(want)), "sha-256 from SHA256SUMS beside it over http")
			})
		}
	}
}

// TestLookupResumed: what was found beside the file ties the bytes of an interrupted download, if nothing else does
// and it is still there. By itself the journal's digest is no evidence.
func TestLookupResumed_Rules34_77(t *testing.T) {
	t.Parallel()
	const proof = "sha-256 from SHA256SUMS beside it over http"
	old, next := made(3*mib, 8), made(3*mib, 7)
	line := func(file []byte) string { return sum256(string(file)) + "  disk.iso\n" }
	for name, tt := range map[string]struct {
		change func(s *folderSite, r *run)
		want   []byte
		proof  string
		fails  bool // at first
		kept   bool
	}{
		"the same":  {func(*folderSite, *run) {}, old, proof, false, true},
		"required":  {func(_ *folderSite, r *run) { r.req.Trust.Require = download.RequireDigest }, old, proof, false, true},
		"not asked": {func(_ *folderSite, r *run) { r.req.Trust.Lookup = false }, old, "unverified", false, false},
		"not listed": {func(s *folderSite, _ *run) { s.put("SHA256SUMS", sum256("")+"  other\n", "") }, old,
			"unverified", false, false},
		"another file": {func(s *folderSite, _ *run) { s.put("disk.iso", string(next), "") }, next, proof, true, true},
		"another list": {func(s *folderSite, _ *run) {
			s.put("disk.iso", string(next), "")
			s.put("SHA256SUMS", line(next), "")
		}, next, proof, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFolderSite(t, "disk.iso", string(old), "SHA256SUMS", line(old))
			r := lookingUp(t, s, "disk.iso")
			interruptFound(r, mib)
			tt.change(s, r)
			if tt.fails {
				r.wrong(download.Mismatch)
				s.put("SHA256SUMS", line(next), "")
			}
			res := r.right(mirrortest.ContentOf(tt.want))
			verified(t, res, tt.proof)
			if (res.Fetched <= 2*mib) != tt.kept {
				t.Errorf("%d bytes fetched, %d resumed", res.Fetched, res.Resumed)
			}
		})
	}
}

// TestLookupResumedWithoutIndex: a list that an index named ties the bytes of an earlier run without the index, too.
func TestLookupResumedWithoutIndex_Rule77(t *testing.T) {
	t.Parallel()
	file := made(3*mib, 8)
	s := newFolderSite(t, "disk.iso", string(file), "the-SHA256SUMS", sum256(string(file))+"  disk.iso\n")
	r := lookingUp(t, s, "disk.iso")
	interruptFound(r, mib)
	s.mu.Lock()
	s.index = false
	s.mu.Unlock()
	res := r.right(mirrortest.ContentOf(file))
	if verified(t, res, "sha-256 from the-SHA256SUMS beside it over http"); res.Fetched > 2*mib {
		t.Errorf("%d bytes fetched, %d resumed", res.Fetched, res.Resumed)
	}
}

// TestLookupResumedUnanswered: if the server does not answer whether the list is still there, or what the file is, the
// bytes stay. The list of the earlier run is no evidence, but a file of two versions is not put in place.
func TestLookupResumedUnanswered_Rule77(t *testing.T) {
	t.Parallel()
	const proof = "sha-256 from SHA256SUMS beside it over http"
	old, next := made(3*mib, 8), made(3*mib, 7)
	for name, tt := range map[string]struct {
		fails string // "once" and "always": all but the file
		kind  download.Kind
		want  []byte
		proof string
	}{
		"the list once":                 {"once", 0, old, proof},
		"HEAD":                          {"HEAD", 0, old, proof},
		"the list":                      {"always", 0, old, "unverified"},
		"the list, required":            {"always", download.NoEvidence, old, proof},
		"the list, and the file is new": {"always", download.Mismatch, next, proof},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFolderSite(t, "disk.iso", string(old), "SHA256SUMS", sum256(string(old))+"  disk.iso\n")
			f := &refusing{Handler: s}
			s.Server = httptest.NewServer(f)
			defer s.Server.Close()
			r := lookingUp(t, s, "disk.iso")
			interruptFound(r, mib)
			f.when.Store(tt.fails)
			s.put("disk.iso", string(tt.want), "")
			if tt.kind != 0 {
				if tt.kind == download.NoEvidence {
					r.req.Trust.Require = download.RequireDigest
				}
				r.wrong(tt.kind)
				f.when.Store("")
				s.put("SHA256SUMS", sum256(string(tt.want))+"  disk.iso\n", "")
			}
			res := r.right(mirrortest.ContentOf(tt.want))
			verified(t, res, tt.proof)
			if res.Fetched > 2*mib { // of the new file, all of it was kept
				t.Errorf("%d bytes fetched, %d resumed", res.Fetched, res.Resumed)
			}
		})
	}
}

// refusing answers some requests with 503.
type refusing struct {
	http.Handler
	when atomic.Value
	n    atomic.Int32
}

func (f *refusing) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	file := strings.HasSuffix(q.URL.Path, "/disk.iso")
	switch when, _ := f.when.Load().(string); {
	case when == "once" && !file && f.n.Add(1) <= 5, when == "always" && !file, when == "HEAD" && q.Method == when:
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		f.Handler.ServeHTTP(w, q)
	}
}

// A fileDam is a dam for the file alone.
type fileDam struct{ dam }

func (d fileDam) RoundTrip(q *http.Request) (*http.Response, error) {
	if strings.HasSuffix(q.URL.Path, "/disk.iso") {
		return d.dam.RoundTrip(q)
	}
	return d.own.RoundTrip(q)
}

// interruptFound is like r.interrupt, once a digest was found.
func interruptFound(r *run, after int64) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	client, req, found := r.client, r.req, false
	var left atomic.Int64
	left.Store(after + mib/2)
	client.HTTP = &httpsource.Client{Wrap: func(own http.RoundTripper) http.RoundTripper { return fileDam{dam{own, &left}} }}
	defer client.HTTP.CloseIdle()
	req.Observe = func(ev download.Event) {
		switch ev := ev.(type) {
		case download.Note:
			found = found || strings.Contains(ev.Text, "SHA256SUMS: sha-256")
		case download.Progress:
			if found && ev.Done >= after {
				cancel()
			}
		}
	}
	if _, err := client.Get(ctx, req); kindOfError(err) != download.Interrupted || hintOf(err) != "" {
		r.t.Fatalf("get: %v, want an interruption, hint %q", err, hintOf(err))
	}
}

func hintOf(err error) download.Hint {
	if e, ok := err.(*download.Error); ok {
		return e.Hint
	}
	return ""
}

// TestLookupGivenEarlier: a digest that only an earlier command gave yields to a list, so the list is looked for.
func TestLookupGivenEarlier_Rules34_77(t *testing.T) {
	t.Parallel()
	right, wrong := made(2*mib, 7), made(2*mib, 8)
	for name, options := range map[string][]mirrortest.Option{
		"nothing": nil, "tag": {mirrortest.ETag(`"v"`)}, "digest": {mirrortest.Digest()},
	} {
		for _, field := range []string{"--sha256", "a list"} {
			for _, require := range []download.Require{download.RequireNothing, download.RequireDigest} {
				t.Run(fmt.Sprint(name, " ", field, " ", require), func(t *testing.T) {
					t.Parallel()
					x := mirrortest.New(t, wrong, options...)
					s := newFolderSite(t, "checksums.txt", sum256(string(right))+"  disk.iso\n")
					s.other = func(w http.ResponseWriter, q *http.Request) {
						http.Redirect(w, q, x.URL, http.StatusFound)
					}
					r := lookingUp(t, s, "disk.iso")
					if err := r.key().Make(); err != nil {
						t.Fatal(err)
					}
					c := verify.Claim{Digest: x.Digest(), Field: field, Channel: verify.User}
					id := partfile.Identity{Size: 2 * mib, Claims: []verify.Claim{c}}
					if field == "a list" {
						id.Claims[0].Channel = verify.HTTP
						id.Listed, id.Yielding = id.Claims, id.Claims
					}
					if name == "tag" {
						id.ETag, id.ETagHost = `"v"`, x.Addr
					}
					r.plant(id, wrong[:mib], r.key())
					r.fails(download.Mismatch)
				})
			}
		}
	}
}

// TestLookupRefuted: a file that a list beside it contradicts is not put in place by a later run only because its server
// does not answer then. Without lookups, it is.
func TestLookupRefuted_Rule77(t *testing.T) {
	t.Parallel()
	file := made(mib, 8)
	s := newFolderSite(t, "SHA256SUMS", sum256(string(made(mib, 7)))+"  disk.iso\n")
	s.put("disk.iso", string(file), `"v"`)
	r := lookingUp(t, s, "disk.iso")
	down := r.client
	down.HTTP = &httpsource.Client{Wrap: func(http.RoundTripper) http.RoundTripper { return unavailable{} }}
	r.wrong(download.Mismatch)
	for range 2 {
		if _, err := down.Get(r.ctx, r.req); kindOfError(err) != download.Mismatch {
			t.Fatalf("without the server: %v", err)
		}
	}
	r.wrong(download.Mismatch)
	r.req.Trust.Lookup = false
	res, err := down.Get(r.ctx, r.req)
	if err != nil {
		t.Fatal(err)
	}
	verified(t, res, "unverified")
	r.same(mirrortest.ContentOf(file))
}

// TestLookupRefutedUnlisted: nor is it where the server sends the file, and fails to send the list: also if the list has
// another digest than the one that every file is hashed for, and if nothing ties the bytes of the two runs together.
func TestLookupRefutedUnlisted_Rule77(t *testing.T) {
	t.Parallel()
	file, listed := made(mib, 8), string(made(mib, 7))
	for name, tt := range map[string]struct{ list, sum, tag string }{
		"sha-256": {"SHA256SUMS", sum256(listed), `"v"`},
		"sha-512": {"SHA512SUMS", sum512(listed), `"v"`},
		"no ETag": {"SHA256SUMS", sum256(listed), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFolderSite(t, tt.list, tt.sum+"  disk.iso\n")
			s.put("disk.iso", string(file), tt.tag)
			r := lookingUp(t, s, "disk.iso")
			r.wrong(download.Mismatch)
			s.fail(tt.list, "disk.iso")
			for range 2 {
				r.wrong(download.Mismatch)
			}
			s.other = nil // it is gone
			verified(t, r.right(mirrortest.ContentOf(file)), "unverified")
		})
	}
}

// unavailable answers every request with 503.
type unavailable struct{}

func (unavailable) RoundTrip(q *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Retry-After": {"0"}}, Body: http.NoBody, Request: q}, nil
}
