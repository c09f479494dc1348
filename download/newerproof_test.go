package download_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"braid/download"
	"braid/download/state"
	"braid/verify"
)

// What stays because nothing newer is to be had must be proven as demanded, like what comes.
func TestKeptIsProven_Rule54(t *testing.T) {
	for name, tt := range map[string]struct {
		set  func(s *shelf, r *run)
		fail bool
	}{
		"304, no digest":                    {func(s *shelf, r *run) { r.req.Known = &state.Version{ETag: `"v1"`} }, true},
		"304, a digest":                     {func(s *shelf, r *run) { s.digest, r.req.Known = true, &state.Version{ETag: `"v1"`} }, false},
		"304, was not proven":               {func(s *shelf, r *run) { r.req.Known = s.known(0) }, true},
		"304, was proven":                   {func(s *shelf, r *run) { r.req.Known = s.known(verify.HTTPS) }, false},
		"304, was proven, is another":       {func(s *shelf, r *run) { r.put([]byte("two")); r.req.Known = s.known(verify.HTTPS) }, true},
		"same date, no digest":              {func(s *shelf, r *run) { s.deaf, r.req.Known = true, &state.Version{ETag: `"v1"`} }, true},
		"older, no digest":                  {func(s *shelf, r *run) { r.older(s, &state.Version{}) }, true},
		"older, the digest is of the older": {func(s *shelf, r *run) { s.digest = true; r.older(s, &state.Version{}) }, true},
		"older, was proven":                 {func(s *shelf, r *run) { r.older(s, s.known(verify.HTTPS)) }, false},
		"older, HEAD is unknown":            {func(s *shelf, r *run) { s.headless = true; r.older(s, &state.Version{}) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf(t, "")
			s.put("one", `"v1"`, tuesday)
			r := s.newer(t)
			r.put([]byte("one"))
			r.client.State, r.req.Require = nil, download.RequireDigest
			tt.set(s, r)
			if tt.fail {
				before, err := os.ReadFile(r.path())
				_, failed := r.get()
				after, err2 := os.ReadFile(r.path())
				if e, ok := errors.AsType[*download.Error](failed); !ok || e.Kind != download.NoEvidence || !bytes.Equal(before, after) || err != nil || err2 != nil {
					t.Errorf("%v; it was %q and is %q", failed, before, after)
				}
				return
			}
			if res := r.gets("one"); !res.Proof.Verified() || res.Fetched > 0 {
				t.Errorf("%+v", res)
			}
		})
	}
}

// older makes the server's file older than the one that is there, of which this is known.
func (r *run) older(s *shelf, v *state.Version) {
	s.put("old", `"v0"`, monday)
	v.ETag, v.LastModified = `"v1"`, tuesday
	r.req.Known = v
}

// known is the first version, of which the bytes are known.
func (s *shelf) known(over verify.Channel) *state.Version {
	return &state.Version{ETag: `"v1"`, Digest: sum(s.t, []byte("one")), Over: over, Host: strings.TrimPrefix(s.URL, "http://")}
}
