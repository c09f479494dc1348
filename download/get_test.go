package download_test

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/internal/test/leaktest"
	"braid/internal/test/mirrortest"
	"braid/source/httpsource"
)

func TestMain(m *testing.M) {
	// The tests wait for slow servers more than for processors. The command line may set another number.
	if err := flag.Set("test.parallel", "10"); err != nil {
		panic(err)
	}
	leaktest.Main(m)
}

const mib = 1 << 20

// A run is a download into its own folder.
type run struct {
	t      *testing.T
	dir    string
	req    download.Request
	client download.Client
	ctx    context.Context // nil: that of the test
	header time.Duration   // the timeout of the HTTP client for headers; zero: its default
	events []download.Event
	tls    *tls.Config
	files  fsys.FS // nil: those of the system
}

func newRun(t *testing.T, u string) *run {
	t.Helper()
	r := &run{t: t, dir: t.TempDir(), client: download.Client{RetryWait: 10 * time.Millisecond,
		JournalKey: filepath.Join(t.TempDir(), "key")}}
	r.req = download.Request{URL: parse(t, u), Dir: r.dir, Detail: true,
		Observe: func(ev download.Event) { r.events = append(r.events, ev) }}
	return r
}

// key returns the key that seals the journals of r.
func (r *run) key() *partfile.Key { return partfile.OpenKey(nil, r.client.JournalKey) }

func parse(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (r *run) get() (download.Result, error) {
	r.t.Helper()
	http := &httpsource.Client{HeaderTimeout: r.header, TLS: r.tls}
	defer http.CloseIdle()
	c := r.client
	c.HTTP = http
	before := len(r.events)
	ctx := r.ctx
	if ctx == nil {
		ctx = r.t.Context()
	}
	ctx = fsys.With(ctx, r.files)
	res, err := c.Get(ctx, r.req)
	accounted(r.t, r.events[before:], res)
	return res, err
}

// right downloads and checks that it succeeds, with the content of want under the final name and no other
// file.
func (r *run) right(want mirrortest.Content) download.Result {
	r.t.Helper()
	res, err := r.get()
	if err != nil {
		r.t.Fatalf("get: %v\nevents: %v", err, r.events)
	}
	r.same(want)
	if left, _ := filepath.Glob(filepath.Join(r.dir, "*.part*")); len(left) > 0 {
		r.t.Errorf("left over: %v", left)
	}
	return res
}

func (r *run) path() string { return filepath.Join(r.dir, "file.bin") }

func (r *run) same(want mirrortest.Content) {
	r.t.Helper()
	f, err := os.Open(r.path())
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	if err := want.Compare(f); err != nil {
		r.t.Error(err)
	}
}

// wrong downloads and checks that it fails with a kind of error, and leaves nothing under the final name.
func (r *run) wrong(kind download.Kind) *download.Error {
	r.t.Helper()
	_, err := r.get()
	var e *download.Error
	if !errors.As(err, &e) {
		r.t.Fatalf("get: %v, want an *Error", err)
	}
	if e.Kind != kind {
		r.t.Errorf("kind %d, want %d: %v", e.Kind, kind, err)
	}
	if _, err := os.Lstat(r.path()); err == nil {
		r.t.Error("there is a file under the final name")
	}
	return e
}

func saw[E download.Event](r *run) (found []E) {
	for _, ev := range r.events {
		if e, ok := ev.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

func TestOneServer_C1(t *testing.T) {
	t.Parallel()
	s := mirrortest.New(t, made(3*mib, 1))
	r := newRun(t, s.URL)
	res := r.right(s.Content)
	if res.Proof.Verified() || res.Proof.String() != "unverified" {
		t.Errorf("the proof is %q", res.Proof)
	}
	if asked := s.Requests(); len(asked) != 1 || asked[0].Method != "GET" {
		t.Errorf("%+v", asked)
	}
}

func TestDigestProves_C3_C9(t *testing.T) {
	t.Parallel()
	s := mirrortest.New(t, made(3*mib, 1))
	s.Set(mirrortest.Digest(s.Digest()))
	res := newRun(t, s.URL).right(s.Content)
	if got := res.Proof.String(); got != "sha-256 from Digest over http" {
		t.Errorf("the proof is %q", got)
	}
}

// set returns an origin with n mirrors of one file. Each is limited, so that all are worth using.
func set(t *testing.T, size int64, n int,
	options ...mirrortest.Option) (origin *mirrortest.Server, mirrors []*mirrortest.Server) {
	body := made(size, 7)
	var links []string
	for range n {
		m := mirrortest.New(t, body, mirrortest.Rate(8*mib))
		mirrors = append(mirrors, m)
		links = append(links, m.URL)
	}
	origin = mirrortest.New(t, body, mirrortest.Rate(8*mib))
	origin.Set(mirrortest.Digest(origin.Digest()), mirrortest.Mirrors(links...))
	origin.Set(options...)
	return origin, mirrors
}

func TestMirrorsShareTheWork(t *testing.T) {
	t.Parallel()
	origin, mirrors := set(t, 24*mib, 3)
	together(8*mib, append(mirrors, origin)...)
	r := newRun(t, origin.URL)
	res := r.right(origin.Content)
	for i, m := range mirrors {
		if m.Sent() < part {
			t.Errorf("mirror %d sent %d bytes", i, m.Sent())
		}
		if m.MaxConcurrent() > 1 {
			t.Errorf("mirror %d had %d requests at a time (C7)", i, m.MaxConcurrent())
		}
	}
	t.Logf("%v: %+v", res.Elapsed, res.Sources)
}

func TestInterrupted_Rule6(t *testing.T) {
	t.Parallel()
	origin, _ := set(t, 24*mib, 1)
	r := newRun(t, origin.URL)
	ctx, cancel := context.WithCancel(t.Context())
	r.req.Observe = func(ev download.Event) {
		if p, ok := ev.(download.Progress); ok && p.Done > 8*mib {
			cancel()
		}
	}
	r.client.HTTP = dammed(t, 9*mib)
	cut, err := r.client.Get(ctx, r.req)
	var e *download.Error
	if !errors.As(err, &e) || e.Kind != download.Interrupted || e.Kept < 8*mib {
		t.Fatalf("%+v", err)
	}
	var brought int64
	for _, s := range cut.Sources {
		if brought += s.Bytes; s.Bytes > 0 && s.Rate == 0 {
			t.Errorf("%s brought %d bytes in no time", s.Host, s.Bytes)
		}
	}
	if brought != cut.Fetched || cut.Fetched-cut.Duplicate != e.Kept {
		t.Errorf("the sources brought %d bytes, fetched were %d, kept %d", brought, cut.Fetched, e.Kept)
	}
	r.req.Observe = nil
	res := r.right(origin.Content)
	if res.Resumed < e.Kept || res.Fetched > 24*mib-e.Kept+mib {
		t.Errorf("resumed %d of %d, fetched %d", res.Resumed, e.Kept, res.Fetched)
	}
	if !res.Proof.Verified() {
		t.Errorf("the proof is %v", res.Proof)
	}
}
