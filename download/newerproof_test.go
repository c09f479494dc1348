package download_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"braid/download"
	"braid/download/state"
	"braid/verify"
)

// A file that is kept because nothing is newer must be proven as demanded, like a new one.
func TestKeptIsProven_Rule54(t *testing.T) {
	for name, tt := range map[string]struct {
		set  func(s *shelf, r *run)
		fail bool
	}{
		"304, no digest": {func(s *shelf, r *run) {
			r.req.IfExists.Known = &state.Version{ETag: `"v1"`}
		}, true},
		"304, a digest": {func(s *shelf, r *run) {
			s.digest, r.req.IfExists.Known = true,
				&state.Version{ETag: `"v1"`}
		}, false},
		"304, was not proven": {func(s *shelf, r *run) { r.req.IfExists.Known = s.known(0) }, true},
		"304, was proven":     {func(s *shelf, r *run) { r.req.IfExists.Known = s.known(verify.HTTPS) }, false},
		"304, was proven, is another": {func(s *shelf, r *run) {
			r.put([]byte("two"))
			r.req.IfExists.Known = s.known(verify.HTTPS)
		}, true},
		"same date, no digest": {func(s *shelf, r *run) {
			s.deaf, r.req.IfExists.Known = true,
				&state.Version{ETag: `"v1"`}
		}, true},
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
			r.client.State, r.req.Trust.Require = nil, download.RequireDigest
			tt.set(s, r)
			if tt.fail {
				before, err := os.ReadFile(r.path())
				_, failed := r.get()
				after, err2 := os.ReadFile(r.path())
				if e, ok := errors.AsType[*download.Error](failed); !ok || e.Kind != download.NoEvidence ||
					!bytes.Equal(before, after) || err != nil || err2 != nil {
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

// older makes the server's file older than the existing one, of which v is known.
func (r *run) older(s *shelf, v *state.Version) {
	s.put("old", `"v0"`, monday)
	v.ETag, v.LastModified = `"v1"`, tuesday
	r.req.IfExists.Known = v
}

// known returns the first version, with the digest of its bytes.
func (s *shelf) known(over verify.Channel) *state.Version {
	return &state.Version{ETag: `"v1"`, Digest: sum(s.t, []byte("one")), Over: over, Host: strings.TrimPrefix(s.URL, "http://")}
}

// Proves rule 54 where the file is asked of another URL than the one that it came from: what proved it and its date count
// there, too, as long as its bytes are the same.
func TestNewerOfAnotherURL_Rule54(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set  func(there *shelf, r *run)
		want string
		kind download.Kind // of the error; Other if there is none
	}{
		"less proven":             {func(*shelf, *run) {}, "one", download.NoEvidence},
		"less proven, as allowed": {func(_ *shelf, r *run) { r.req.Trust.LessProof = true }, "two", download.Other},
		"as much":                 {func(there *shelf, _ *run) { there.digest = true }, "two", download.Other},
		"older":                   {func(there *shelf, _ *run) { there.put("old", `"v1"`, monday) }, "one", download.Other},
		"older, as allowed": {func(there *shelf, r *run) {
			r.older(there, &state.Version{})
			there.digest, r.req.IfExists.Known, r.req.IfExists.AllowOlder = true, nil, true
		}, "old", download.Other},
		"another program's by now": {func(_ *shelf, r *run) { r.put([]byte("own")) }, "two", download.Other},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, there := newShelf(t, ""), newShelf(t, "")
			from.put("one", `"v1"`, tuesday)
			from.digest = true
			there.put("two", `"v1"`, tuesday.Add(24*time.Hour))
			r := from.newer(t)
			r.gets("one")
			r.req.URL = parse(t, there.URL+"/file.bin")
			tt.set(there, r)
			_, err := r.get()
			if e, ok := errors.AsType[*download.Error](err); ok != (tt.kind != download.Other) || ok && e.Kind != tt.kind {
				t.Errorf("%v", err)
			}
			r.holds(r.path(), tt.want)
		})
	}
}
