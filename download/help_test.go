package download_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"braid/download"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// sized starts a good mirror of a generated file.
func sized(t *testing.T, size int64, options ...mirrortest.Option) *mirrortest.Server {
	t.Helper()
	return mirrortest.New(t, made(size, 7), options...)
}

// contents has the generated files. With the race detector, generating them takes longer than everything
// else.
var contents sync.Map

// made returns a generated file.
func made(size int64, seed uint64) []byte {
	key := [2]uint64{uint64(size), seed}
	b, ok := contents.Load(key)
	if !ok {
		b, _ = contents.LoadOrStore(key, mirrortest.Generate(size, seed).Bytes())
	}
	return b.([]byte)
}

// vouch starts an origin that has the digest and names mirrors. It is slow, so that there is time to examine
// them even on a busy machine.
func vouch(t *testing.T, size int64, mirrors ...*mirrortest.Server) *mirrortest.Server {
	t.Helper()
	var links []string
	for _, m := range mirrors {
		links = append(links, m.URL)
	}
	return sized(t, size, mirrortest.Rate(2*mib), mirrortest.Digest(), mirrortest.Mirrors(links...))
}

// other returns the digest of another file.
func other() verify.Digest { return mirrortest.Generate(10, 99).Digest() }

// userClaim returns the claim of --sha256.
func userClaim(d verify.Digest) []verify.Claim {
	return []verify.Claim{{Digest: d, Field: "--sha256", Channel: verify.User}}
}

func (r *run) mirrors(servers ...*mirrortest.Server) {
	r.t.Helper()
	for _, s := range servers {
		r.req.Mirrors = append(r.req.Mirrors, parse(r.t, s.URL))
	}
}

// interrupt downloads until a number of bytes has arrived, and then ends like Ctrl-C.
func (r *run) interrupt(after int64) *download.Error {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	client, req := r.client, r.req
	client.HTTP = dammed(r.t, after+mib/2)
	defer client.HTTP.CloseIdle()
	req.Observe = func(ev download.Event) {
		if p, ok := ev.(download.Progress); ok && p.Done >= after {
			cancel()
		}
	}
	_, err := client.Get(ctx, req)
	var e *download.Error
	if !errors.As(err, &e) || e.Kind != download.Interrupted {
		r.t.Fatalf("get: %v, want an interruption", err)
	}
	return e
}

// from returns the result of one server in a download.
func from(t *testing.T, res download.Result, s *mirrortest.Server) download.SourceResult {
	t.Helper()
	var all download.SourceResult
	for _, src := range res.Sources {
		if u, err := url.Parse(src.URL); err == nil && u.Host == s.Addr {
			all.URL, all.Host, all.Rate = src.URL, src.Host, src.Rate
			all.Bytes += src.Bytes
			all.Banned = all.Banned || src.Banned
			all.Err = errors.Join(all.Err, src.Err)
		}
	}
	return all
}

// asked checks whether a server got requests.
func asked(t *testing.T, s *mirrortest.Server, want bool) {
	t.Helper()
	if n := len(s.Requests()); n > 0 != want {
		t.Errorf("%s got %d requests", s.URL, n)
	}
}

// useless checks that a server was asked and none of its bytes were used.
func useless(t *testing.T, res download.Result, s *mirrortest.Server) {
	t.Helper()
	asked(t, s, true)
	if got := from(t, res, s); got.Bytes != 0 || got.Err == nil {
		t.Errorf("%d bytes of %s were used (%v)", got.Bytes, s.URL, got.Err)
	}
}

// useful checks that bytes of a server were used.
func useful(t *testing.T, res download.Result, s *mirrortest.Server) {
	t.Helper()
	if got := from(t, res, s); got.Bytes == 0 {
		t.Errorf("nothing of %s was used: %v", s.URL, got.Err)
	}
}

func verified(t *testing.T, res download.Result, want string) {
	t.Helper()
	if got := res.Proof.String(); got != want {
		t.Errorf("the proof is %q, want %q", got, want)
	}
}

const (
	byDigest = "sha-256 from Digest over http"
	byUser   = "sha-256 from --sha256"
)

// A version is one content of a file that changes.
type version struct {
	body         []byte
	etag, digest string
	link         string
	cut          int             // bytes until the connection breaks; 0: never, -1: before the answer
	until        <-chan struct{} // a cut waits for it, if not nil
	hang         <-chan struct{} // if not nil, an answer waits for it and then never comes
}

// A changing server has a file that changes: it calls version for each request, counted from 1.
type changing struct {
	*httptest.Server
	mu   sync.Mutex
	seen []*http.Request
}

func newChanging(t *testing.T, at func(n int, req *http.Request) version) *changing {
	c := &changing{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		c.mu.Lock()
		c.seen = append(c.seen, req)
		v := at(len(c.seen), req)
		c.mu.Unlock()
		if v.hang != nil {
			<-v.hang
			panic(http.ErrAbortHandler)
		}
		if v.cut < 0 {
			panic(http.ErrAbortHandler)
		}
		if v.etag != "" {
			w.Header().Set("ETag", v.etag)
		}
		if v.digest != "" {
			w.Header().Set("Digest", v.digest)
		}
		if v.link != "" {
			w.Header().Set("Link", v.link)
		}
		if v.cut > 0 {
			w = &cutter{ResponseWriter: w, left: v.cut, until: v.until}
		}
		http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(v.body))
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *changing) requests() []*http.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen
}

// A cutter breaks the connection after some bytes of the body.
type cutter struct {
	http.ResponseWriter
	left  int
	until <-chan struct{}
}

func (c *cutter) Write(p []byte) (int, error) {
	if len(p) > c.left {
		c.ResponseWriter.Write(p[:c.left])
		c.ResponseWriter.(http.Flusher).Flush()
		if c.until != nil {
			<-c.until
		}
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

// file is a content with its digest as a version.
func file(size int64, seed uint64) version {
	sum := sha256.Sum256(made(size, seed))
	digest, err := verify.NewDigest(verify.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	return version{body: made(size, seed), etag: strconv.Quote(fmt.Sprint(seed)), digest: verify.Field(digest)}
}

// aside reads the bytes that are set aside when a download starts over. They are removed when the file is in
// place.
func (r *run) aside() (bad func() []byte) {
	var data []byte
	observe := r.req.Observe
	r.req.Observe = func(ev download.Event) {
		if _, ok := ev.(download.Restarted); ok {
			data, _ = os.ReadFile(r.part() + ".bad")
		}
		observe(ev)
	}
	return func() []byte {
		r.t.Helper()
		if _, err := os.Stat(r.part() + ".bad"); !errors.Is(err, fs.ErrNotExist) {
			r.t.Errorf("what was set aside is still there: %v", err)
		}
		return data
	}
}

func (r *run) part() string { return filepath.Join(r.dir, "file.bin.part") }

// empty checks that the folder is empty.
func (r *run) empty() {
	r.t.Helper()
	if left, _ := filepath.Glob(filepath.Join(r.dir, "*")); len(left) > 0 {
		r.t.Errorf("left over: %v", left)
	}
}
