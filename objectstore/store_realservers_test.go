//go:build realservers

package objectstore_test

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/internal/test/s3test"
	"braid/objectstore"
	"braid/source/httpsource"
	"braid/verify"
)

const mib = 1 << 20

// A run downloads into an object store.
type run struct {
	t      *testing.T
	store  *s3test.Store
	o      objectstore.Options
	lease  *objectstore.Lease
	req    download.Request
	client *download.Client
	notes  []string
	events []download.Event
}

func newRun(t *testing.T, store *s3test.Store, mirrors ...*mirrortest.Server) *run {
	t.Helper()
	r := &run{t: t, store: store}
	r.o = objectstore.Options{Folder: t.TempDir(), Getenv: store.Getenv, Note: func(s string) { r.notes = append(r.notes, s) }}
	hc := &httpsource.Client{}
	hc.AllowHosts.Add("127.0.0.1")
	r.client = &download.Client{HTTP: hc}
	r.req.URL = parsed(t, mirrors[0].URL)
	for _, m := range mirrors[1:] {
		r.req.Mirrors = append(r.req.Mirrors, parsed(t, m.URL))
	}
	r.req.Name = "x.iso"
	r.req.Observe = func(ev download.Event) { r.events = append(r.events, ev) }
	return r
}

func (r *run) get(ctx context.Context) (download.Result, error) {
	r.t.Helper()
	s, err := objectstore.Open("s3://bucket/isos/", r.o)
	if err != nil {
		r.t.Fatal(err)
	}
	if r.req.Store = s; r.lease != nil {
		r.req.Store = s.Leased(*r.lease)
	}
	return r.client.Get(ctx, r.req)
}

// interrupted cancels the download as soon as the journal has the given number of parts. Later parts are never
// answered.
func (r *run) interrupted(parts int) error {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
		if n, _ := strconv.Atoi(q.URL.Query().Get("partNumber")); s3test.Kind(q) == "part" && n > parts {
			<-ctx.Done()
			return
		}
		store.ServeHTTP(w, q)
	})
	noted := func() (lines int) {
		names, _ := filepath.Glob(filepath.Join(r.o.Folder, "*.upload"))
		for _, name := range names {
			data, _ := os.ReadFile(name)
			lines = max(lines, bytes.Count(data, []byte{'\n'}))
		}
		return lines
	}
	go func() {
		for ctx.Err() == nil && noted() < 1+parts { // the first line is the upload
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	_, err := r.get(ctx)
	if err == nil {
		r.t.Fatal("it came")
	}
	r.store.Faults(nil)
	r.nothing()
	return err
}

// told returns the events other than progress.
func (r *run) told() (all []any) {
	for _, ev := range r.events {
		switch ev.(type) {
		case download.Note, download.Restarted, download.Resumed, download.SourceDown:
			all = append(all, ev)
		}
	}
	return all
}

// has checks that the object has the content want, and returns its evidence.
func (r *run) has(want mirrortest.Content) objectstore.Evidence {
	r.t.Helper()
	got := r.store.Object("isos/x.iso")
	if err := want.Compare(bytes.NewReader(got)); err != nil {
		r.t.Fatalf("the object: %v; requests: %v", err, r.store.Requests())
	}
	var e objectstore.Evidence
	if err := json.Unmarshal(r.store.Object("isos/x.iso.evidence.json"), &e); err != nil || e.Size != want.Size() ||
		e.Object != "s3://bucket/isos/x.iso" {
		r.t.Errorf("the evidence: %+v, %v", e, err)
	}
	return e
}

// nothing checks that the store has no object.
func (r *run) nothing() {
	r.t.Helper()
	if keys := r.store.Keys(); len(keys) > 0 {
		r.t.Errorf("in the store: %v", keys)
	}
}

// clean checks that the store has no unfinished upload.
func (r *run) clean() {
	r.t.Helper()
	s, err := objectstore.Open("s3://bucket/", r.o)
	if err != nil {
		r.t.Fatal(err)
	}
	left, err := s.Left(r.t.Context())
	if len(left) > 0 || err != nil {
		r.t.Errorf("uploads: %+v, %v", left, err)
	}
}

// TestRealUpload_Rule2 checks that a file from several mirrors becomes an object with evidence, uploaded in parts of 8
// MiB.
func TestRealUpload_Rule2(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 1, 8 * mib, 8*mib + 1, 40 * mib} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			content := mirrortest.Generate(size, 1)
			a := mirrortest.New(t, content, mirrortest.Digest())
			r := newRun(t, s3test.New(t), a, mirrortest.New(t, content))
			res, err := r.get(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if res.Path != "s3://bucket/isos/x.iso" || res.Size != size || !res.Proof.Verified() {
				t.Errorf("%+v", res)
			}
			e := r.has(content)
			if !e.Verified || e.Digests["sha-256"] == "" {
				t.Errorf("%+v", e)
			}
			if parts, want := r.store.Count("part", "isos/x.iso"),
				int((size+8*mib-1)/(8*mib)); size > 8*mib && parts != want || size <= 8*mib && parts > 0 {
				t.Errorf("%d parts, want %d", parts, want)
			}
			r.clean()
		})
	}
}

// TestRealUploadChunked checks the upload of a file whose size is not known in advance.
func TestRealUploadChunked(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 5 * mib, 8 * mib, 30 * mib} {
		content := mirrortest.Generate(size, 2)
		r := newRun(t, s3test.New(t), mirrortest.New(t, content, mirrortest.Chunked(), mirrortest.Digest()))
		if _, err := r.get(t.Context()); err != nil {
			t.Fatal(size, err)
		}
		r.has(content)
	}
}

// TestRealUploadExisting_Rule3_Rule4 checks that an existing object is replaced only with Overwrite, and that nothing
// is downloaded if it is already the right one.
func TestRealUploadExisting_Rule3_Rule4(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(20*mib, 3)
	m := mirrortest.New(t, content, mirrortest.Digest())
	r := newRun(t, s3test.New(t), m)
	r.store.Put("isos/x.iso", []byte("another"))
	if _, err := r.get(t.Context()); !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	if string(r.store.Object("isos/x.iso")) != "another" {
		t.Fatal("it was replaced")
	}
	r.req.IfExists.Overwrite = true
	if _, err := r.get(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.has(content)
	r.req.IfExists.Overwrite = false
	before := r.store.Count("part", "isos/x.iso")
	res, err := r.get(t.Context())
	if err != nil || !res.AlreadyComplete || res.Fetched > 0 || r.store.Count("part", "isos/x.iso") != before {
		t.Fatalf("%+v, %v", res, err)
	}
	r.clean()
}

// TestRealUploadRace_Rule3 checks that an object that appears between the last check and CompleteMultipartUpload is not
// replaced.
func TestRealUploadRace_Rule3(t *testing.T) {
	t.Parallel()
	for _, overwrite := range []bool{false, true} {
		content := mirrortest.Generate(20*mib, 4)
		r := newRun(t, s3test.New(t), mirrortest.New(t, content, mirrortest.Digest()))
		r.req.IfExists.Overwrite = overwrite
		if overwrite {
			r.store.Put("isos/x.iso", []byte("old"))
		}
		r.store.Faults(func(w http.ResponseWriter, q *http.Request, store http.Handler) {
			if s3test.Kind(q) == "complete" && strings.HasSuffix(q.URL.Path, "x.iso") {
				r.store.Put("isos/x.iso", []byte("first"))
			}
			store.ServeHTTP(w, q)
		})
		_, err := r.get(t.Context())
		if e, ok := errors.AsType[*download.Error](err); !ok || e.Kind != download.Local ||
			string(r.store.Object("isos/x.iso")) != "first" {
			t.Errorf("overwrite %t: %v; %d bytes", overwrite, err, len(r.store.Object("isos/x.iso")))
		}
	}
}

// TestRealUploadWrong_C9_Rule40 checks that a file with a wrong digest and no piece digests does not become an object:
// the upload is aborted, and the file is downloaded from another source alone.
func TestRealUploadWrong_C9_Rule40(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(24*mib, 5)
	liar := mirrortest.New(t, content, mirrortest.Corrupt(3*mib))
	good := mirrortest.New(t, content)
	r := newRun(t, s3test.New(t), liar, good)
	sum := content.Digest()
	r.req.Trust.Claims = []verify.Claim{{Digest: sum, Field: "test", Channel: verify.User}}
	if _, err := r.get(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.has(content)
	r.clean()

	r = newRun(t, s3test.New(t), liar)
	r.req.Trust.Claims = []verify.Claim{{Digest: sum, Field: "test", Channel: verify.User}}
	_, err := r.get(t.Context())
	if e, ok := errors.AsType[*download.Error](err); !ok || e.Kind != download.Mismatch {
		t.Fatal(err)
	}
	r.nothing()
	r.clean()
}

// TestRealUploadResumes_Rule6 checks that an interrupted upload resumes without downloading its parts again.
func TestRealUploadResumes_Rule6(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(64*mib, 6)
	m := mirrortest.New(t, content, mirrortest.Digest(), mirrortest.ETag(`"v1"`), mirrortest.Rate(64*mib))
	r := newRun(t, s3test.New(t), m)
	err := r.interrupted(4)
	if e, ok := errors.AsType[*download.Error](err); !ok || e.Kind != download.Interrupted || e.Kept < 32*mib {
		t.Fatalf("%v: %+v", err, e)
	}
	res, err := r.get(t.Context())
	if err != nil || res.Resumed < 32*mib || res.Fetched > 64*mib-res.Resumed {
		t.Fatalf("%d resumed, %d fetched, %v; %v", res.Resumed, res.Fetched, err, r.told())
	}
	r.has(content)
	r.clean()
}

// TestRealUploadNamedByServer_Rule8 checks that a server that chooses the name of its file does not end the upload of
// another URL.
func TestRealUploadNamedByServer_Rule8(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(40*mib, 9)
	m := mirrortest.New(t, content, mirrortest.ETag(`"v1"`), mirrortest.Rate(64*mib))
	r := newRun(t, s3test.New(t), m)
	r.interrupted(2)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Disposition", "attachment; filename=x.iso")
		w.Header().Set("ETag", `"other"`)
		http.ServeContent(w, q, "", time.Time{}, strings.NewReader("another file"))
	}))
	defer other.Close()
	mine := r.req
	r.req.URL, r.req.Name, r.req.RemoteName = parsed(t, other.URL+"/file.bin"), "", true
	_, err := r.get(t.Context())
	if e, ok := errors.AsType[*download.Error](err); !ok || e.Kind != download.Local || e.Kept < 16*mib {
		t.Errorf("%v: %+v", err, e)
	}
	r.nothing()
	r.req = mine
	if res, err := r.get(t.Context()); err != nil || res.Resumed < 16*mib {
		t.Fatalf("%d resumed, %v; %v", res.Resumed, err, r.told())
	}
	r.has(content)
	r.clean()
}

// TestRealUploadChanged_Rule34 checks that an upload is aborted if the file has changed since, and started again if the
// store no longer has it.
func TestRealUploadChanged_Rule34(t *testing.T) {
	t.Parallel()
	for _, swept := range []bool{false, true} {
		then, now := mirrortest.Generate(40*mib, 7), mirrortest.Generate(40*mib, 8)
		m := mirrortest.New(t, then, mirrortest.ETag(`"v1"`), mirrortest.Rate(64*mib))
		r := newRun(t, s3test.New(t), m)
		r.interrupted(2)
		want := then
		if swept { // the store, or another process, has aborted the upload
			s, err := objectstore.Open("s3://bucket/", objectstore.Options{Getenv: r.store.Getenv})
			if err != nil {
				t.Fatal(err)
			}
			left, err := s.Left(t.Context())
			if err != nil || len(left) != 1 {
				t.Fatal(left, err)
			}
			if err := s.Abort(t.Context(), left[0].Key, left[0].Upload); err != nil {
				t.Fatal(err)
			}
		} else {
			m.Content, want = now, now
			m.Set(mirrortest.ETag(`"v2"`))
		}
		if res, err := r.get(t.Context()); err != nil || swept && res.Resumed > 0 {
			t.Fatalf("swept %t: %+v, %v", swept, res, err)
		}
		r.has(want)
		r.clean()
	}
}

// TestRealListBeside checks that a SHA-512 of the server's list decides about an object against the SHA-256 of a host to
// which the server redirects, also if a digest is required.
func TestRealListBeside_Rule77(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(20*mib, 1)
	elsewhere := mirrortest.New(t, content, mirrortest.Digest())
	for list, right := range map[string]bool{fmt.Sprintf("%x", sha512.Sum512(nil)): false,
		fmt.Sprintf("%x", sha512.Sum512(content.Bytes())): true} {
		for _, require := range []download.Require{download.RequireNothing, download.RequireDigest} {
			file := func(q *http.Request) bool { return q.URL.Path == "/file.bin" }
			origin := mirrortest.New(t, []byte("x"), mirrortest.When(file, mirrortest.Redirect(elsewhere.URL)),
				mirrortest.Document("/checksums.txt", "text/plain", []byte(list+"  file.bin\n")))
			r := newRun(t, s3test.New(t), origin)
			r.req.Trust.Lookup, r.req.Trust.Require = true, require
			_, err := r.get(t.Context())
			if right {
				r.has(content)
				continue
			}
			if e, ok := errors.AsType[*download.Error](err); !ok || e.Kind != download.Mismatch {
				t.Errorf("required %v: %v", require, err)
			}
			r.nothing()
		}
	}
}
