//go:build realservers

package objectstore_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	"braid/internal/test/mirrortest"
	"braid/internal/test/s3test"
	"braid/objectstore"
)

// TestRealUploadLate_Rule75 checks the case that another attempt makes the object just before this one does. If it is
// an earlier attempt of the same job with the same content, this attempt succeeds; otherwise it fails.
func TestRealUploadLate_Rule75(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		size     int64
		late     string // job of the other attempt
		seed     uint64 // seed of its content
		ignoring bool
		right    bool
	}{
		{"one part", mib, "job", 1, false, true},
		{"three parts", 24 * mib, "job", 1, false, true},
		{"without conditions", mib, "job", 1, true, true},
		{"three parts without conditions", 24 * mib, "job", 1, true, true},
		{"another job", mib, "other", 1, false, false},
		{"no job", 24 * mib, "", 1, false, false},
		{"another file", mib, "job", 2, false, false},
		{"another file without conditions", mib, "job", 2, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			content, other := mirrortest.Generate(tt.size, 1), mirrortest.Generate(tt.size, tt.seed)
			r := newRun(t, s3test.New(t), mirrortest.New(t, content, mirrortest.Digest()))
			late := newRun(t, r.store, mirrortest.New(t, other, mirrortest.Digest()))
			if tt.ignoring {
				r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
					q.Header.Del("If-None-Match")
					s3test.Sign(q)
					store.ServeHTTP(w, q)
				})
			}
			opened := func(context.Context, string) error { return nil }
			late.lease = &objectstore.Lease{Job: tt.late, Opened: opened, Confirm: func(context.Context) error { return nil }}
			r.lease = &objectstore.Lease{Job: "job", Opened: opened, Confirm: func(ctx context.Context) error {
				_, err := late.get(ctx)
				return err
			}}
			_, err := r.get(t.Context())
			if tt.right != (err == nil) || !tt.right && !errors.Is(err, fs.ErrExist) {
				t.Fatal(err)
			}
			r.has(other)
			if tt.right {
				r.clean()
			}
		})
	}
}

// TestRealUploadSwept_Rule75 checks that an attempt aborts the upload that an earlier attempt left when it was killed
// before its lease named the upload, and that TakeOver recognizes an object of an earlier attempt.
func TestRealUploadSwept_Rule75(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(24*mib, 3)
	r := newRun(t, s3test.New(t), mirrortest.New(t, content, mirrortest.Digest()))
	killed := errors.New("killed")
	lease := objectstore.Lease{Job: "job", Opened: func(context.Context, string) error { return killed },
		Confirm: func(context.Context) error { return nil }}
	r.lease = &lease
	r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
		if s3test.Kind(q) == "abort" {
			s3test.Refuse(w, http.StatusForbidden, "AccessDenied")
			return
		}
		store.ServeHTTP(w, q)
	})
	if _, err := r.get(t.Context()); !errors.Is(err, killed) {
		t.Fatal(err)
	}
	r.store.Faults(nil)
	s, err := objectstore.Open("s3://bucket/isos/", r.o)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := s.Left(t.Context()); len(left) != 1 || err != nil {
		t.Fatalf("left: %+v, %v", left, err)
	}
	lease.Opened = func(context.Context, string) error { return nil }
	if made, err := s.Leased(lease).TakeOver(t.Context(), "x.iso", ""); made || err != nil {
		t.Fatal(made, err)
	}
	r.clean()
	if _, err := r.get(t.Context()); err != nil {
		t.Fatal(err)
	}
	for job, want := range map[string]bool{"job": true, "other": false, "": false} {
		if made, err := s.Leased(objectstore.Lease{Job: job}).TakeOver(t.Context(), "x.iso", ""); made != want || err != nil {
			t.Errorf("job %q has made it: %t, %v", job, made, err)
		}
	}
}

// TestRealUploadEvidence checks that an unrelated object with the name of the evidence is not replaced, and that the
// evidence of an earlier version is.
func TestRealUploadEvidence(t *testing.T) {
	t.Parallel()
	for _, ignoring := range []bool{false, true} {
		r := newRun(t, s3test.New(t), mirrortest.New(t, mirrortest.Generate(100, 1), mirrortest.Digest()))
		if ignoring {
			r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
				q.Header.Del("If-None-Match")
				s3test.Sign(q)
				store.ServeHTTP(w, q)
			})
		}
		r.store.Put("isos/x.iso.evidence.json", []byte(`{"mine":1}`))
		if _, err := r.get(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := string(r.store.Object("isos/x.iso.evidence.json")); got != `{"mine":1}` {
			t.Errorf("the object of another program is %.20s now", got)
		}
		if len(r.notes) == 0 || !strings.Contains(r.notes[len(r.notes)-1], "an unrelated object has this name") {
			t.Errorf("told: %q", r.notes)
		}
		r.store.Remove("isos/x.iso.evidence.json")
		r.store.Remove("isos/x.iso")
		for seed := range 2 {
			content := mirrortest.Generate(100, uint64(seed))
			r.req.URL, r.req.IfExists.Overwrite = parsed(t, mirrortest.New(t, content, mirrortest.Digest()).URL), true
			if _, err := r.get(t.Context()); err != nil {
				t.Fatal(err)
			}
			if e := r.has(content); !strings.HasPrefix(r.req.URL.String(), e.URL) {
				t.Errorf("the evidence is of %s", e.URL)
			}
		}
	}
}
