//go:build realservers

package objectstore_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/internal/test/s3test"
	"braid/objectstore"
	"braid/verify/openpgp"
)

// TestRealUploadFaults checks that an upload makes its object once although the store responds with 503, 409 or 500, or
// loses a response.
func TestRealUploadFaults(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(24*mib, 9)
	for name, fault := range map[string]func(n int, kind string, w http.ResponseWriter, lose func()) (answered bool){
		"503 to parts": func(n int, kind string, w http.ResponseWriter, _ func()) bool {
			return kind == "part" && n <= 2 && refuse(w, 503, "SlowDown")
		},
		"409 to Complete": func(n int, kind string, w http.ResponseWriter, _ func()) bool {
			return kind == "complete" && n <= 2 && refuse(w, 409, "ConditionalRequestConflict")
		},
		"500 after Complete": func(n int, kind string, w http.ResponseWriter, lose func()) bool {
			if kind != "complete" || n > 1 {
				return false
			}
			lose()
			return refuse(w, 500, "InternalError")
		},
		"cut in a part": func(n int, kind string, w http.ResponseWriter, _ func()) bool {
			if kind == "part" && n == 2 {
				panic(http.ErrAbortHandler)
			}
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, s3test.New(t), mirrortest.New(t, content, mirrortest.Digest()))
			counts := map[string]*atomic.Int32{}
			for _, k := range []string{"part", "complete"} {
				counts[k] = &atomic.Int32{}
			}
			r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
				kind := s3test.Kind(q)
				if c := counts[kind]; c == nil || !strings.HasSuffix(q.URL.Path, "x.iso") ||
					!fault(int(c.Add(1)), kind, w, func() { store.ServeHTTP(discard{http.Header{}}, q) }) {
					store.ServeHTTP(w, q)
				}
			})
			if _, err := r.get(t.Context()); err != nil {
				t.Fatal(err)
			}
			r.has(content)
			r.clean()
		})
	}
}

func refuse(w http.ResponseWriter, status int, code string) bool {
	s3test.Refuse(w, status, code)
	return true
}

type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

// TestRealUploadWithoutConditions_Rule71 checks that the upload checks for an existing object itself if the store
// ignores conditional requests, and that it tells the user.
func TestRealUploadWithoutConditions_Rule71(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(20*mib, 10)
	ignoring := func(w http.ResponseWriter, q *http.Request, store http.Handler) {
		q.Header.Del("If-None-Match") // it is signed, so sign again below
		q.Header.Del("If-Match")
		s3test.Sign(q)
		store.ServeHTTP(w, q)
	}
	r := newRun(t, s3test.New(t), mirrortest.New(t, content, mirrortest.Digest()))
	r.store.Faults(ignoring)
	if _, err := r.get(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.has(content)
	if len(r.notes) != 1 || !strings.Contains(r.notes[0], "ignores If-None-Match") {
		t.Errorf("told: %v", r.notes)
	}
	if keys := r.store.Keys(); slices.ContainsFunc(keys, func(k string) bool { return strings.Contains(k, "probe") }) {
		t.Errorf("left: %v", keys)
	}
	r = newRun(t, s3test.New(t), mirrortest.New(t, content, mirrortest.Digest()))
	r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
		if s3test.Kind(q) == "part" {
			r.store.Put("isos/x.iso", []byte("first"))
		}
		ignoring(w, q, store)
	})
	if _, err := r.get(t.Context()); !errors.Is(err, fs.ErrExist) || string(r.store.Object("isos/x.iso")) != "first" {
		t.Errorf("%v", err)
	}
}

// TestRealUploadProbed checks that the store is tested for conditional requests once, and that nothing is reported if
// it obeys them.
func TestRealUploadProbed(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(20*mib, 10)
	r := newRun(t, s3test.New(t), mirrortest.New(t, content, mirrortest.Digest()))
	for range 2 {
		r.req.IfExists.Overwrite = true
		if _, err := r.get(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	probes := 0
	for _, q := range r.store.Requests() {
		if strings.HasPrefix(q, "open isos/.braid-probe") {
			probes++
		}
	}
	if probes != 1 || len(r.notes) > 0 {
		t.Errorf("%d probes, told: %v", probes, r.notes)
	}
}

// TestRealUploadTruncated_Rule72 checks that an upload resumes with fewer parts if a listing ends too early, and fails
// if the store does not respond.
func TestRealUploadTruncated_Rule72(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(64*mib, 11)
	r := newRun(t, s3test.New(t), mirrortest.New(t, content, mirrortest.Digest(), mirrortest.Rate(64*mib)))
	r.interrupted(5)
	r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
		if s3test.Kind(q) == "parts" { // one part a page
			v := q.URL.Query()
			v.Set("max-parts", "1")
			q.URL.RawQuery = v.Encode()
			s3test.Sign(q)
		}
		store.ServeHTTP(w, q)
	})
	res, err := r.get(t.Context())
	if err != nil || res.Resumed < 16*mib {
		t.Fatalf("%d resumed, %v", res.Resumed, err)
	}
	r.has(content)
	r.clean()

	r = newRun(t, s3test.New(t), mirrortest.New(t, content, mirrortest.Digest()))
	r.o.Timeout = 2 * time.Second
	r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
		if s3test.Kind(q) == "part" {
			io.Copy(io.Discard, q.Body)
			<-q.Context().Done()
			return
		}
		store.ServeHTTP(w, q)
	})
	_, err = r.get(t.Context())
	if e, ok := errors.AsType[*download.Error](err); !ok || e.Kind != download.Network {
		t.Errorf("%v", err)
	}
	r.nothing()
}

// TestRealUploadSigned_Rule72 checks that the verification of a signature resumes from its saved state, and that an
// upload begun without a signature starts again if one is required.
func TestRealUploadSigned_Rule72(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(64*mib, 12)
	keys, sig := signedBy(t, content)
	for _, late := range []bool{false, true} {
		r := newRun(t, s3test.New(t), mirrortest.New(t, content, mirrortest.ETag(`"one"`), mirrortest.Rate(64*mib)))
		trust := func() {
			r.req.Trust.Anchors, r.req.Trust.Require = download.Anchors{openpgp.Trust{Keys: keys}}, download.RequireSignature
			r.req.Trust.Signatures = []download.Signature{{From: "test", Data: sig}}
		}
		if !late {
			trust()
		}
		r.interrupted(5)
		trust()
		res, err := r.get(t.Context())
		if err != nil || !late && res.Resumed == 0 || !res.Proof.Signed() {
			t.Fatalf("late %t: %d resumed, %v; %v", late, res.Resumed, err, r.told())
		}
		if e := r.has(content); len(e.Signatures) != 1 {
			t.Errorf("%+v", e.Signatures)
		}
		r.clean()
	}
}

// TestRealUploadKilledLate_Rule72 checks the run after one that was killed during CompleteMultipartUpload and left its
// journal but no evidence. It waits until the object appears, writes the evidence and downloads nothing.
func TestRealUploadKilledLate_Rule72(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(24*mib, 13)
	r := newRun(t, s3test.New(t), mirrortest.New(t, content, mirrortest.Digest()))
	left := map[string][]byte{}
	r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
		if s3test.Kind(q) == "complete" && strings.HasSuffix(q.URL.Path, "x.iso") {
			names, _ := filepath.Glob(filepath.Join(r.o.Folder, "*.upload"))
			for _, name := range names {
				left[name], _ = os.ReadFile(name)
			}
		}
		store.ServeHTTP(w, q)
	})
	if _, err := r.get(t.Context()); err != nil || len(left) != 1 {
		t.Fatal(err, len(left))
	}
	r.store.Remove("isos/x.iso.evidence.json")
	for name, data := range left {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var looks atomic.Int32
	r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
		// the object does not exist yet
		if s3test.Kind(q) == "head" && strings.HasSuffix(q.URL.Path, "x.iso") && looks.Add(1) <= 3 {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		store.ServeHTTP(w, q)
	})
	res, err := r.get(t.Context())
	if err != nil || !res.AlreadyComplete || res.Fetched > 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	if e := r.has(content); !e.Verified {
		t.Errorf("%+v", e)
	}
	if names, _ := filepath.Glob(filepath.Join(r.o.Folder, "*.upload")); len(names) > 0 {
		t.Errorf("journals: %v", names)
	}
}

// TestRealUploadFenced_Rule75 checks that Opened is called before the first part is sent, and that no object is made if
// another process has aborted the upload or taken the lease.
func TestRealUploadFenced_Rule75(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(24*mib, 14)
	for _, fenced := range []bool{false, true} {
		r := newRun(t, s3test.New(t), mirrortest.New(t, content, mirrortest.Digest()))
		id := ""
		r.lease = &objectstore.Lease{Opened: func(_ context.Context, upload string) error {
			if id = upload; r.store.Count("part", "isos/x.iso") > 0 {
				t.Error("a part was sent before")
			}
			return nil
		}}
		stolen := errors.New("the lease is another's")
		r.lease.Confirm = func(ctx context.Context) error {
			if fenced {
				return stolen
			}
			// Another worker aborts the upload right after the check.
			s, err := objectstore.Open("s3://bucket/isos/", objectstore.Options{Getenv: r.store.Getenv})
			if err != nil {
				return err
			}
			return s.Abort(ctx, "x.iso", id)
		}
		_, err := r.get(t.Context())
		if e, ok := errors.AsType[*download.Error](err); !ok || fenced != errors.Is(err, stolen) ||
			!fenced && e.Kind != download.Local {
			t.Errorf("fenced %t: %v", fenced, err)
		}
		r.nothing()
	}
}

// TestRealUploadTakenOver_Rule72 checks that a later attempt of a job resumes the upload of an earlier one if its
// journal is on this machine, and aborts it otherwise.
func TestRealUploadTakenOver_Rule72(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(40*mib, 15)
	for _, here := range []bool{true, false} {
		r := newRun(t, s3test.New(t), mirrortest.New(t, content, mirrortest.Digest()))
		id := ""
		r.lease = &objectstore.Lease{
			Opened:  func(_ context.Context, upload string) error { id = upload; return nil },
			Confirm: func(context.Context) error { return nil },
		}
		r.interrupted(2)
		if !here {
			r.o.Folder = t.TempDir()
		}
		s, err := objectstore.Open("s3://bucket/isos/", r.o)
		if err != nil {
			t.Fatal(err)
		}
		before := id
		if made, err := s.Leased(*r.lease).TakeOver(t.Context(), "x.iso", id); made || err != nil {
			t.Fatal(made, err)
		}
		res, err := r.get(t.Context())
		if err != nil || (res.Resumed > 0) != here || (id == before) != here {
			t.Errorf("here %t: resumed %d, %v", here, res.Resumed, err)
		}
		r.has(content)
		r.clean()
	}
}

// TestRealUploadProbeFails_Rule71 checks that a failed test for conditional requests is repeated for the next file, and
// that until then an upload both sends conditions and looks for an existing object. A store that answers NotImplemented
// counts as one that ignores conditions.
func TestRealUploadProbeFails_Rule71(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(mib, 16)
	for code, want := range map[string]string{"AccessDenied": "", "NotImplemented": "ignores If-None-Match"} {
		r := newRun(t, s3test.New(t), mirrortest.New(t, content, mirrortest.Digest()))
		var looks, conditions atomic.Int32
		r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
			probe, condition := strings.Contains(q.URL.Path, ".braid-probe-"), q.Header.Get("If-None-Match") != ""
			switch {
			case code == "AccessDenied" && probe:
				s3test.Refuse(w, http.StatusForbidden, code)
				return
			case code == "NotImplemented" && condition:
				s3test.Refuse(w, http.StatusNotImplemented, code)
				return
			case condition:
				conditions.Add(1)
			case s3test.Kind(q) == "head" && strings.HasSuffix(q.URL.Path, "x.iso"):
				looks.Add(1)
			}
			store.ServeHTTP(w, q)
		})
		if _, err := r.get(t.Context()); err != nil {
			t.Fatal(code, err)
		}
		r.has(content)
		// The looks are before the download, before the object is made, and before its evidence is written.
		if looks.Load() != 3 || conditions.Load() > 0 != (want == "") || strings.Join(r.notes, "") == "" != (want == "") {
			t.Errorf("%s: %d looks, %d conditions, told %q", code, looks.Load(), conditions.Load(), r.notes)
		}
	}
}

// TestRealUploadProbeKilled checks that a run that was killed during the test for conditional requests leaves an object
// and an upload that the next test on this machine removes.
func TestRealUploadProbeKilled(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(mib, 17)
	r := newRun(t, s3test.New(t), mirrortest.New(t, content, mirrortest.Digest()))
	// The store refuses to remove what the test made, as if the run had been killed before it could.
	r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
		if kind := s3test.Kind(q); kind == "delete" || kind == "abort" || kind == "uploads" {
			s3test.Refuse(w, http.StatusForbidden, "AccessDenied")
			return
		}
		store.ServeHTTP(w, q)
	})
	if _, err := r.get(t.Context()); err != nil || len(r.store.Keys()) != 3 {
		t.Fatal(err, r.store.Keys())
	}
	r.store.Faults(nil)
	names, err := filepath.Glob(filepath.Join(r.o.Folder, "*.conditions"))
	if err != nil || len(names) != 1 || os.Remove(names[0]) != nil {
		t.Fatal(names, err)
	}
	r.req.IfExists.Overwrite = true
	r.store.Put("isos/x.iso", []byte("old"))
	if _, err := r.get(t.Context()); err != nil || len(r.store.Keys()) != 2 {
		t.Errorf("%v, in the store: %v", err, r.store.Keys())
	}
	r.clean()
}
