package daemon

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"braid/daemon/queue"
	"braid/download"
)

// A site is a server with files of any size: /SIZE/NAME.
type site struct {
	*httptest.Server
	bare   bool          // it sends no digests
	hold   chan struct{} // if not nil, only the first half of a body is sent until it is closed
	sent   atomic.Int64  // bytes of bodies
	mu     sync.Mutex
	asked  []string
	active atomic.Int64
	most   atomic.Int64
}

func newSite(t *testing.T) *site {
	s := &site{}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func body(path string) []byte {
	var size int
	fmt.Sscanf(path, "/%d/", &size)
	b := make([]byte, size)
	rand.NewChaCha8(sha256.Sum256([]byte(path))).Read(b)
	return b
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.active.Add(1)
	defer s.active.Add(-1)
	for most := s.most.Load(); n > most && !s.most.CompareAndSwap(most, n); most = s.most.Load() {
	}
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.Path)
	hold := s.hold
	s.mu.Unlock()
	if strings.Contains(r.URL.Path, "absent") {
		http.NotFound(w, r)
		return
	}
	data := body(r.URL.Path)
	if sum := sha256.Sum256(data); !s.bare {
		w.Header().Set("Digest", "sha-256="+base64.StdEncoding.EncodeToString(sum[:]))
	}
	w.Header().Set("ETag", `"1"`)
	from := 0
	fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from)
	http.ServeContent(&slowWriter{w, r, s, hold, max(len(data)/2-from, 0)}, r, "", time.Time{}, bytes.NewReader(data))
}

// A slowWriter counts the bytes that are sent, and may hold the second half back.
type slowWriter struct {
	http.ResponseWriter
	r    *http.Request
	s    *site
	hold chan struct{}
	left int
}

func (w *slowWriter) Write(b []byte) (n int, err error) {
	for len(b) > 0 {
		k := min(len(b), 16<<10)
		if w.hold != nil {
			if k = min(k, w.left); k == 0 {
				w.ResponseWriter.(http.Flusher).Flush()
				select {
				case <-w.hold:
					w.hold = nil
				case <-w.r.Context().Done():
					return n, io.ErrClosedPipe
				}
				continue
			}
			w.left -= k
		}
		m, err := w.ResponseWriter.Write(b[:k])
		w.s.sent.Add(int64(m))
		if n += m; err != nil {
			return n, err
		}
		b = b[k:]
	}
	return n, nil
}

func (s *site) holdAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold = make(chan struct{})
}

func (s *site) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.hold)
	s.hold = nil
}

// A bench is a daemon with temporary folders.
type bench struct {
	*Daemon
	t      *testing.T
	config Config
	files  string // folder of the files
	log    *bytes.Buffer
	stop   func() // stops it and waits
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, files: t.TempDir(), log: &bytes.Buffer{}}
	state := t.TempDir()
	b.config = Config{
		Dir: state, Log: slog.New(slog.NewTextHandler(b.log, nil)), Request: b.request,
		Client: &download.Client{JournalKey: filepath.Join(state, "key"), RetryWait: time.Millisecond, Tries: 2},
	}
	return b
}

func (b *bench) request(_ context.Context, e queue.Entry) (download.Request, error) {
	u, err := url.Parse(e.URIs[0])
	if e.Options["bad"] != "" {
		err = errors.New("no such option")
	}
	return download.Request{URL: u, Dir: b.files}, err
}

func (b *bench) start() {
	b.t.Helper()
	var err error
	if b.Daemon, err = Open(b.config); err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan error, 1)
	d := b.Daemon
	go func() { ended <- d.Run(ctx) }()
	b.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Error(err)
		}
	})
	b.t.Cleanup(b.stop)
}

// do calls a function, which must succeed.
func (b *bench) do(f func(q *queue.Queue) error) {
	b.t.Helper()
	if err := b.Do(b.t.Context(), f); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) add(urls ...string) (gids []queue.GID) {
	b.t.Helper()
	b.do(func(q *queue.Queue) error {
		for _, u := range urls {
			g, err := q.Add(time.Now(), queue.Entry{URIs: []string{u}}, -1)
			if err != nil {
				return err
			}
			gids = append(gids, g)
		}
		return nil
	})
	return gids
}

// await waits until a condition of the queue holds.
func (b *bench) await(what string, holds func(q *queue.Queue) bool) {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); ; {
		ok := false
		b.do(func(q *queue.Queue) error { ok = holds(q); return nil })
		if ok {
			return
		}
		if time.Now().After(end) {
			b.do(func(q *queue.Queue) error {
				b.t.Errorf("active %+v\nwaiting %+v\nstopped %+v", q.Active(), q.Waiting(0, 9), q.Stopped(0, 9))
				return nil
			})
			b.t.Fatalf("not in time: %s\n%s", what, b.log)
		}
		time.Sleep(5 * time.Millisecond) // between two looks
	}
}

func (b *bench) awaitStatus(g queue.GID, s queue.Status) {
	b.t.Helper()
	b.await(fmt.Sprintf("%s is %s", g, s), func(q *queue.Queue) bool { e, _ := q.Entry(g); return e.Status == s })
}

// half waits until the first half of a held file was received.
func (b *bench) half(g queue.GID) {
	b.t.Helper()
	b.await("half of it", func(q *queue.Queue) bool {
		l, _ := q.Live(g)
		return l.Size > 0 && l.Done >= l.Size/2-32<<10 && l.Done > 0
	})
}

// right checks that the folder has the files and nothing else.
func (b *bench) right(urls ...string) {
	b.t.Helper()
	for _, u := range urls {
		at, _ := url.Parse(u)
		if got, err := os.ReadFile(filepath.Join(b.files, filepath.Base(at.Path))); err != nil ||
			!bytes.Equal(got, body(at.Path)) {
			b.t.Errorf("%s: %d bytes, %v", u, len(got), err)
		}
	}
	if names, _ := filepath.Glob(filepath.Join(b.files, "*.part*")); len(names) > 0 {
		b.t.Errorf("left over: %v", names)
	}
}

func (s *site) urls(n, size int) (urls []string) {
	for i := range n {
		urls = append(urls, fmt.Sprintf("%s/%d/%03d", s.URL, size, i))
	}
	return urls
}
