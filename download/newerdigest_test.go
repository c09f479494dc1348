package download_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"braid/download/state"
	"braid/verify"
)

// If the server gives a digest and a mirror answers, the digest shows whether the server has another file.
// The mirror may be stale: its 304 or its older date proves nothing, and its own digest is no evidence.
func TestIfNewerByDigest(t *testing.T) {
	for name, stale := range map[string]func(r *run, m *shelf){
		"304":  func(r *run, m *shelf) {},
		"date": func(r *run, m *shelf) { m.put("one", "", monday); m.deaf = true },
		"watch": func(r *run, m *shelf) {
			r.client.State = nil
			r.req.IfExists.Known = &state.Version{ETag: `"1"`, LastModified: tuesday}
		},
		"older": func(r *run, m *shelf) {
			r.client.State, r.req.IfExists.Known = nil, &state.Version{LastModified: tuesday}
			m.put("one", "", monday)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, good := newShelf(t, ""), newShelf(t, "")
			m.put("one", `"1"`, tuesday)
			good.put("one", "", tuesday)
			gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Digest", verify.Field(sum(t, good.body)))
				w.Header().Set("Link", "<"+good.URL+"/file.bin>; rel=duplicate")
				http.Redirect(w, r, m.URL+"/file.bin", http.StatusFound)
			}))
			defer gate.Close()
			r := m.newer(t)
			r.req.URL = parse(t, gate.URL+"/file.bin")
			r.gets("one")
			if res := r.gets("one"); !res.NotModified && !res.AlreadyComplete {
				t.Errorf("the same file: %+v", res)
			}
			good.put("two", "", tuesday)
			stale(r, m)
			if res := r.gets("two"); res.NotModified || res.AlreadyComplete {
				t.Errorf("%+v", res)
			}
		})
	}
}

// A mirror's 304 with a digest of its own proves nothing.
func TestIfNewerMirrorsOwnDigest(t *testing.T) {
	m := newShelf(t, "")
	m.put("one", `"1"`, monday)
	m.digest = true
	gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "<"+m.URL+"/other.bin>; rel=duplicate")
		http.Redirect(w, r, m.URL+"/file.bin", http.StatusFound)
	}))
	defer gate.Close()
	r := m.newer(t)
	r.req.URL = parse(t, gate.URL+"/file.bin")
	r.gets("one")
	if res := r.gets("one"); !res.NotModified || res.Proof.Verified() {
		t.Errorf("%+v: %v", res, res.Proof)
	}
}

// A file that is downloaded in the second of its date is downloaded once more, because it may have changed in that second.
func TestIfNewerInItsSecond(t *testing.T) {
	for _, etag := range []string{"", `W/"v1"`, `"v1"`} {
		now := time.Now().Add(time.Second)
		s := newShelf(t, "")
		r := s.newer(t)
		s.put("one", etag, now)
		r.gets("one")
		if etag == `"v1"` {
			etag = `"v2"`
		}
		s.put("two", etag, now)
		r.gets("two")
	}
}
