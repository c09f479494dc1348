package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"braid/verify"
)

// gate blocks each hashing until it is opened, and counts.
type gate struct {
	count atomic.Int64
	begun chan struct{} // receives a value for each hashing that begins
	open  chan struct{} // closed to continue
}

func (g *gate) sum(ctx context.Context, r io.Reader) (verify.Digest, error) {
	g.count.Add(1)
	g.begun <- struct{}{}
	select {
	case <-g.open:
		return sum(ctx, r)
	case <-ctx.Done():
		return verify.Digest{}, errClosed
	}
}

// gated serves a folder with one file and a gate.
func gated(t *testing.T) (*site, *gate) {
	g := &gate{begun: make(chan struct{}, 100), open: make(chan struct{})}
	dir := t.TempDir()
	put(t, dir, "a", content)
	return open(t, dir, Options{}, func(s *Server) { s.digests.sum = g.sum }), g
}

// counter counts received requests.
type counter struct {
	http.Handler
	arrived chan struct{}
}

func (c counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.arrived <- struct{}{}
	c.Handler.ServeHTTP(w, r)
}

// Fifty concurrent requests hash the file once, and later ones not at all.
func TestHashedOnce(t *testing.T) {
	const n = 50
	w, g := gated(t)
	front := counter{w.s, make(chan struct{}, n)}
	w.url = serveOn(t, front)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { w.get("/a").want(t, 200, content) })
	}
	for range n {
		<-front.arrived
	}
	close(g.open)
	wg.Wait()
	w.s.ServeHTTP(&discard{header: http.Header{}}, mustRequest(t, "/a"))
	if got := g.count.Load(); got != 1 {
		t.Errorf("hashed %d times", got)
	}
}

// A client that leaves during hashing is released, and the hashing continues for the next one.
func TestClientLeavesWhileHashing(t *testing.T) {
	w, g := gated(t)
	for range 2 { // the one that began the hashing, and one that waited for it
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() {
			defer close(left)
			req := mustRequest(t, "/a").WithContext(ctx)
			w.s.ServeHTTP(&discard{header: http.Header{}}, req)
		}()
		if g.count.Load() == 0 {
			<-g.begun
		}
		cancel()
		<-left
		if l := w.log.next(t, "request"); l["status"] != "503" {
			t.Errorf("request of a client that left: %v", l)
		}
	}
	close(g.open)
	w.get("/a").want(t, 200, content)
	if got := g.count.Load(); got != 1 {
		t.Errorf("hashed %d times", got)
	}
}

// Close ends the hashing and the requests that wait for it.
func TestCloseWhileHashing(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a", content)
	s, err := New(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{begun: make(chan struct{}, 100), open: make(chan struct{})}
	s.digests.sum = g.sum
	rec := &discard{header: http.Header{}}
	done := make(chan struct{})
	go func() { defer close(done); s.ServeHTTP(rec, mustRequest(t, "/a")) }()
	<-g.begun
	s.digests.close()
	<-done
	if rec.status != 503 || rec.header.Get("Retry-After") == "" {
		t.Errorf("status %d, %v", rec.status, rec.header)
	}
	rec = &discard{header: http.Header{}}
	s.ServeHTTP(rec, mustRequest(t, "/a"))
	if n := g.count.Load(); rec.status != 503 || n != 1 {
		t.Errorf("status %d after Close, hashed %d times", rec.status, n)
	}
	info, err := os.Stat(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, j, err := s.digests.lookUp("a", info, wants{}); j != nil || !errors.Is(err, errClosed) {
		t.Errorf("job %v after Close, %v", j, err)
	}
	s.Close()
}

func TestUnsettled(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	whole := now.Truncate(time.Second)
	for _, tt := range []struct {
		changed time.Time
		want    time.Duration
	}{
		{now, fineTick},
		{now.Add(-20 * time.Millisecond), fineTick - 20*time.Millisecond},
		{now.Add(-fineTick), 0},
		{now.Add(-time.Hour), 0},
		{now.Add(20 * time.Millisecond), fineTick + 20*time.Millisecond},
		{now.Add(time.Hour), 0},
		{whole, coarseTick - 6},
		{whole.Add(-3 * time.Second), 0},
		{whole.Add(time.Hour), 0},
	} {
		if got := unsettled(tt.changed, now); got != tt.want {
			t.Errorf("changed at %v, seen at %v: %v, want %v", tt.changed, now, got, tt.want)
		}
	}
}

// A file that was just written is hashed when a further change would be visible.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		put(t, dir, "a", content)
		now := time.Now().Add(time.Nanosecond)
		if err := os.Chtimes(filepath.Join(dir, "a"), now, now); err != nil {
			t.Fatal(err)
		}
		s, err := New(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var hashed time.Time
		s.digests.sum = func(ctx context.Context, r io.Reader) (verify.Digest, error) {
			hashed = time.Now()
			return sum(ctx, r)
		}
		v, err := s.open(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		v.file.Close()
		if age := hashed.Sub(now); age < fineTick {
			t.Errorf("hashed %v after the change", age)
		}
	})
}

// sizes is a reader that records the sizes of reads.
type sizes struct {
	least, left int
}

func (s *sizes) Read(p []byte) (int, error) {
	s.least = min(s.least, len(p))
	n := min(len(p), s.left)
	s.left -= n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Small reads do not slow down the hash.
func TestReadSize(t *testing.T) {
	r := &sizes{least: 1 << 30, left: 10 << 20}
	if _, err := sum(t.Context(), r); err != nil || r.least < 1<<20 {
		t.Errorf("least read is %d bytes, %v", r.least, err)
	}
}

func BenchmarkSum(b *testing.B) {
	b.SetBytes(256 << 20)
	for b.Loop() {
		if _, err := sum(b.Context(), &sizes{left: 256 << 20}); err != nil {
			b.Fatal(err)
		}
	}
}
