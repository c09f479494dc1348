//go:build realservers

package objectstore_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/internal/test/s3test"
	"braid/objectstore"
)

const evidenceKey = "isos/x.iso.evidence.json"

// TestRealEvidenceAgain_Rule71 checks that a run that finds the right object writes its evidence if it is missing or
// belongs to an earlier object, because the run that made the object may have been killed before it wrote the evidence.
// The run replaces neither evidence of the same object nor an object of another program.
func TestRealEvidenceAgain_Rule71(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{100, 24 * mib} {
		r := newRun(t, s3test.New(t), mirrortest.New(t, mirrortest.Generate(size, 1), mirrortest.Digest()))
		if _, err := r.get(t.Context()); err != nil {
			t.Fatal(err)
		}
		old := r.store.Object(evidenceKey)
		again := func(what string) {
			t.Helper()
			if res, err := r.get(t.Context()); err != nil || !res.AlreadyComplete {
				t.Fatalf("%s: %+v, %v", what, res, err)
			}
		}
		again("as it was")
		if string(r.store.Object(evidenceKey)) != string(old) {
			t.Error("the evidence of the object was replaced")
		}
		r.store.Remove(evidenceKey)
		again("no evidence")
		content := mirrortest.Generate(size, 1)
		first := r.has(content)
		if first.Upload == "" || !first.Verified {
			t.Errorf("%d bytes: the evidence is %+v", size, first)
		}
		content = mirrortest.Generate(size, 2)
		r.req.URL, r.req.IfExists.Overwrite = parsed(t, mirrortest.New(t, content, mirrortest.Digest()).URL), true
		if _, err := r.get(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.store.Put(evidenceKey, old)
		r.req.IfExists.Overwrite = false
		again("evidence of the version before")
		if e := r.has(content); e.Upload == first.Upload || e.Digests["sha-256"] == first.Digests["sha-256"] {
			t.Errorf("%d bytes: the evidence is of the version before: %+v", size, e)
		}
		r.store.Put(evidenceKey, []byte(`{"mine":1}`))
		again("another object")
		if got := string(r.store.Object(evidenceKey)); got != `{"mine":1}` {
			t.Errorf("the object of another program is %.20s now", got)
		}
	}
}

// TestRealEvidenceLate_Rule75 checks that a process that pauses right before it writes its evidence does not describe
// the wrong object: if a newer object has appeared meanwhile, the evidence is that of the newer one.
func TestRealEvidenceLate_Rule75(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{true, false} { // whether the other process wrote its evidence meanwhile
		old, content := mirrortest.Generate(100, 1), mirrortest.Generate(100, 2)
		r := newRun(t, s3test.New(t), mirrortest.New(t, old, mirrortest.Digest()))
		next := newRun(t, r.store, mirrortest.New(t, content, mirrortest.Digest()))
		next.req.IfExists.Overwrite = true
		var puts atomic.Int32
		r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
			if s3test.Kind(q) == "put" && strings.HasSuffix(q.URL.Path, evidenceKey) {
				switch n := puts.Add(1); {
				case n == 1:
					if _, err := next.get(t.Context()); err != nil {
						t.Error(err)
					}
				case n == 2 && !told: // the other process is killed before its evidence is written
					s3test.Refuse(w, http.StatusForbidden, "AccessDenied")
					return
				}
			}
			store.ServeHTTP(w, q)
		})
		if _, err := r.get(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.store.Faults(nil)
		if !told { // a run that finds the object writes the missing evidence
			if _, err := next.get(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if e := r.has(content); e.Digests["sha-256"] != content.Digest().Hex() {
			t.Errorf("told %t: the evidence is %+v", told, e)
		}
	}
}

// TestRealEvidenceConfirmed_Rule75 checks that a worker that lost its lease after it made the object writes no
// evidence.
func TestRealEvidenceConfirmed_Rule75(t *testing.T) {
	t.Parallel()
	r := newRun(t, s3test.New(t), mirrortest.New(t, mirrortest.Generate(100, 1), mirrortest.Digest()))
	var asked atomic.Int32
	r.lease = &objectstore.Lease{Job: "job", Opened: func(context.Context, string) error { return nil },
		Confirm: func(context.Context) error {
			if asked.Add(1) > 1 {
				return errors.New("it is another's")
			}
			return nil
		}}
	if _, err := r.get(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.store.Object("isos/x.iso") == nil || r.store.Object(evidenceKey) != nil || len(r.notes) > 0 {
		t.Errorf("in the store: %v, told: %q", r.store.Keys(), r.notes)
	}
}

// TestRealEvidenceReserved_Rule73 checks that no object is made with a name that the evidence of another object would
// have.
func TestRealEvidenceReserved_Rule73(t *testing.T) {
	t.Parallel()
	r := newRun(t, s3test.New(t), mirrortest.New(t, mirrortest.Generate(100, 1), mirrortest.Digest()))
	r.req.Name = "x.iso.evidence.json"
	_, err := r.get(t.Context())
	if e, ok := errors.AsType[*download.Error](err); !ok || e.Kind != download.Usage {
		t.Errorf("%v", err)
	}
	r.nothing()
}
