package download_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"braid/download"
)

// A site is a server with several files, by path.
type site struct {
	*httptest.Server
	files   sync.Map // path -> version
	header  func(path string, h http.Header)
	delay   time.Duration
	pace    time.Duration // for each 64 KiB
	dry     int           // bytes of an answer after which nothing comes; 0: it is complete
	slow    func(path string) bool
	opened  atomic.Int64 // connections
	now     atomic.Int64 // requests
	most    atomic.Int64
	mu      sync.Mutex
	asked   []string
	brought map[string]int // bytes by path
	hurried chan struct{}  // closed: delays end
}

func newSite(t *testing.T) *site {
	s := &site{hurried: make(chan struct{}), brought: map[string]int{}}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.opened.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *site) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.hurried:
	}
}

func (s *site) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	n := s.now.Add(1)
	defer s.now.Add(-1)
	for most := s.most.Load(); n > most && !s.most.CompareAndSwap(most, n); most = s.most.Load() {
	}
	s.mu.Lock()
	s.asked = append(s.asked, req.URL.Path)
	s.mu.Unlock()
	s.wait(s.delay)
	f, ok := s.files.Load(req.URL.Path)
	if !ok {
		http.NotFound(w, req)
		return
	}
	v := f.(version)
	if v.digest != "" {
		w.Header().Set("Digest", v.digest)
	}
	if s.header != nil {
		s.header(req.URL.Path, w.Header())
	}
	http.ServeContent(&pacer{w, s, req, 0}, req, "", time.Time{}, bytes.NewReader(v.body))
}

// A pacer waits after each write, and longer while the site is slow.
type pacer struct {
	http.ResponseWriter
	s    *site
	req  *http.Request
	sent int
}

func (p *pacer) Write(b []byte) (n int, err error) {
	for chunk := range slices.Chunk(b, 64<<10) {
		m, err := p.ResponseWriter.Write(chunk)
		if n += m; err != nil {
			return n, err
		}
		p.ResponseWriter.(http.Flusher).Flush()
		p.s.mu.Lock()
		p.s.brought[p.req.URL.Path] += m
		p.s.mu.Unlock()
		if p.sent += m; p.s.dry > 0 && p.sent >= p.s.dry {
			<-p.req.Context().Done()
			return n, p.req.Context().Err()
		}
		pace := p.s.pace
		if p.s.slow != nil && p.s.slow(p.req.URL.Path) {
			pace *= 16
		}
		if pace > 0 {
			p.s.wait(pace)
		}
	}
	return n, nil
}

// sent returns how many bytes of a file the site has sent.
func (s *site) sent(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.brought[path]
}

func (s *site) requests(path string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.asked {
		if p == path {
			n++
		}
	}
	return n
}

// A batchRun is a batch into a folder of its own.
type batchRun struct {
	t       *testing.T
	dir     string
	begun   int
	results map[int]download.Result
	errs    map[int]error
	ahead   int // the largest number of requests taken and not yet over
}

// batch downloads urls into a folder of its own.
func batch(ctx context.Context, t *testing.T, o download.Batch, change func(i int, r *download.Request),
	urls ...string) *batchRun {
	t.Helper()
	b := &batchRun{t: t, dir: t.TempDir(), results: map[int]download.Result{}, errs: map[int]error{}}
	taken := 0
	o.Ended = func(i int, req download.Request, res download.Result, err error) {
		if req.URL.String() != urls[i] {
			t.Errorf("file %d is %v, want %s", i, req.URL, urls[i])
		}
		if err != nil {
			b.errs[i] = err
		} else {
			b.results[i] = res
		}
	}
	c := download.Client{RetryWait: 10 * time.Millisecond}
	b.begun = c.GetAll(ctx, func(yield func(download.Request) bool) {
		for i, u := range urls {
			r := download.Request{URL: parse(t, u), Dir: b.dir}
			if change != nil {
				change(i, &r)
			}
			taken++
			b.ahead = max(b.ahead, taken-len(b.results)-len(b.errs))
			if !yield(r) {
				return
			}
		}
	}, o)
	return b
}

// right checks that a file exists and is verified.
func (b *batchRun) right(i int, name string, want []byte) {
	b.t.Helper()
	if err := b.errs[i]; err != nil {
		b.t.Errorf("%s: %v", name, err)
		return
	}
	got, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil || !bytes.Equal(got, want) {
		b.t.Errorf("%s: another file (%v)", name, err)
	}
	if !b.results[i].Proof.Verified() {
		b.t.Errorf("%s: %v", name, b.results[i].Proof)
	}
}

// clean checks that the folder has only these files.
func (b *batchRun) clean() {
	b.t.Helper()
	if left, _ := filepath.Glob(filepath.Join(b.dir, "*.part*")); len(left) > 0 {
		b.t.Errorf("left over: %v", left)
	}
}

// many puts n small files on a site and returns their URLs.
func many(s *site, n int) (urls []string) {
	for i := range n {
		p := fmt.Sprintf("/d/%03d", i)
		s.files.Store(p, file(int64(100+i), uint64(i)))
		urls = append(urls, s.URL+p)
	}
	return urls
}

// TestBatch: small files come on connections that are kept, an increasing number of them at once, and no
// request is taken from the list before it can run.
func TestBatch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.delay = 10 * time.Millisecond
	urls := many(s, 300)
	b := batch(t.Context(), t, download.Batch{}, nil, urls...)
	if b.begun != 300 || len(b.results) != 300 {
		t.Fatalf("%d begun, %d done; %v", b.begun, len(b.results), b.errs)
	}
	for i := range urls {
		b.right(i, path.Base(urls[i]), made(int64(100+i), uint64(i)))
	}
	b.clean()
	// A connection that is dialled for a request which then finds a free one is kept, too: hence some more.
	if n := s.opened.Load(); n > 2*download.MostAtOnce {
		t.Errorf("%d connections for at most %d requests at once", n, s.most.Load())
	}
	if n := s.most.Load(); n < 3 || n > download.MostAtOnce {
		t.Errorf("%d requests at once", n)
	}
	if b.ahead > download.MostAtOnce+1 {
		t.Errorf("%d requests were taken ahead", b.ahead)
	}
}

// TestBatchOneName: if the server gives two files of a batch the same name, the second does not replace the first, whether
// this batch or an earlier one put the first in place.
func TestBatchOneName(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.header = func(_ string, h http.Header) { h.Set("Content-Disposition", "attachment; filename=same") }
	urls, dir := many(s, 2), t.TempDir()
	for _, newer := range []bool{false, true, false} {
		b := batch(t.Context(), t, download.Batch{AtOnce: 1}, func(_ int, r *download.Request) {
			r.Dir, r.RemoteName, r.IfExists.Overwrite, r.IfExists.IfNewer = dir, true, !newer, newer
		}, urls...)
		b.dir = dir
		b.right(0, "same", made(100, 0))
		if !errors.Is(b.errs[1], fs.ErrExist) {
			t.Errorf("newer %v: %v", newer, b.errs[1])
		}
		b.clean()
	}
}

// TestBatchAtOnce: the user's number is kept, and a file that fails does not stop the others.
func TestBatchAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.delay = 5 * time.Millisecond
	urls := many(s, 40)
	urls[7] = s.URL + "/absent"
	b := batch(t.Context(), t, download.Batch{AtOnce: 4}, nil, urls...)
	var e *download.Error
	if len(b.results) != 39 || !errors.As(b.errs[7], &e) || e.Kind != download.Refused {
		t.Errorf("%d done; %v", len(b.results), b.errs)
	}
	if n := s.most.Load(); n > 4 || n < 2 {
		t.Errorf("%d requests at once", n)
	}
	b.clean()
}

// TestBatchInterrupted: when the context ends, running downloads end and keep their work, and no other
// begins.
func TestBatchInterrupted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pace, s.dry = 10*time.Millisecond, 2*mib // none ends, however late it is cancelled
	var urls []string
	for i := range 20 {
		p := fmt.Sprintf("/%02d", i)
		s.files.Store(p, file(8*mib, 3))
		urls = append(urls, s.URL+p)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := batch(ctx, t, download.Batch{AtOnce: 3}, func(_ int, r *download.Request) {
		r.Observe = func(ev download.Event) {
			if p, ok := ev.(download.Progress); ok && p.Done > mib {
				cancel()
			}
		}
	}, urls...)
	if b.begun != 3 || len(b.errs) != 3 {
		t.Fatalf("%d begun: %v", b.begun, b.errs)
	}
	kept := int64(0)
	for _, err := range b.errs {
		var e *download.Error
		if !errors.As(err, &e) || e.Kind != download.Interrupted {
			t.Errorf("%v", err)
			continue
		}
		kept += e.Kept
	}
	if kept < mib {
		t.Errorf("%d bytes are kept", kept)
	}
}

// TestBatchMakesFolders: files may go to folders of their own.
func TestBatchMakesFolders(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	urls := many(s, 4)
	b := batch(t.Context(), t, download.Batch{}, func(i int, r *download.Request) {
		r.Dir, r.MakeDir = filepath.Join(r.Dir, fmt.Sprint(i%2), "deep"), i != 3
	}, urls...)
	for i := range 3 {
		b.right(i, filepath.Join(fmt.Sprint(i%2), "deep", path.Base(urls[i])), made(int64(100+i), uint64(i)))
	}
}

// TestRequestPath: the path of a file is known before any request.
func TestRequestPath_Rule12(t *testing.T) {
	for _, tt := range []struct{ u, dir, name, want string }{
		{"http://h/a/b%20c?q", "", "", "b c"}, {"http://h/a", "d", "", "d/a"}, {"http://h/", "d", "x", "d/x"},
		{"http://h/a/", "", "", "!"}, {"http://h/..", "", "", "!"},
	} {
		u, err := url.Parse(tt.u)
		if err != nil {
			t.Fatal(err)
		}
		r := download.Request{URL: u, Dir: tt.dir, Name: tt.name}
		got, err := r.Path()
		if err != nil {
			got = "!"
		}
		if got != tt.want {
			t.Errorf("%+v: %q, %v", tt, got, err)
		}
	}
}
