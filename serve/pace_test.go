package serve

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// discard is an http.ResponseWriter that records when bytes are sent: at Flush, if there is a rate.
type discard struct {
	header  http.Header
	status  int
	waiting int
	left    []departure
}

type departure struct {
	at    time.Time
	bytes int
}

func (d *discard) Header() http.Header { return d.header }

func (d *discard) WriteHeader(status int) { d.status = status }

func (d *discard) Write(p []byte) (int, error) { d.waiting += len(p); return len(p), nil }

func (d *discard) Flush() {
	d.left = append(d.left, departure{time.Now(), d.waiting})
	d.waiting = 0
}

func mustRequest(t *testing.T, path string) *http.Request {
	return httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
}

// serveOn serves h on loopback until the end of the test.
func serveOn(t *testing.T, h http.Handler) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := HTTPServer(h)
	var wg sync.WaitGroup
	wg.Go(func() { web.Serve(l) })
	t.Cleanup(func() {
		web.Close()
		wg.Wait()
	})
	return "http://" + l.Addr().String()
}

// All responses together keep the rate, each one progresses smoothly, and all end together.
func TestRate(t *testing.T) {
	for _, rate := range []int64{100, 3000, 300 << 10, 12 << 20, 1 << 40} {
		for _, responses := range []int{1, 2, 5, 20} {
			testRate(t, rate, responses)
		}
	}
}

// testRate simulates responses of four seconds in total that take turns, in virtual time.
func testRate(t *testing.T, rate int64, responses int) {
	p := &pacer{rate: rate}
	size := min(4*rate/int64(responses), 64<<20)
	began := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	// At 100 B/s, single bytes are farther apart than any step.
	most := max(50*time.Millisecond, time.Duration(responses+2)*time.Second/time.Duration(rate))
	at, left := make([]time.Time, responses), make([]int64, responses)
	for i := range at {
		p.join()
		at[i], left[i] = began, size
	}
	var end time.Time
	var early int64
	for range responses * int(size) {
		i := nextResponse(at, left)
		if left[i] == 0 {
			break
		}
		n := min(int64(p.chunk()), left[i])
		gap := max(0, p.reserve(at[i], int(n)))
		if gap > most {
			t.Fatalf("%d responses at %d: nothing for %v", responses, rate, gap)
		}
		at[i], left[i] = at[i].Add(gap), left[i]-n
		if end = at[i]; end.Sub(began) <= time.Second {
			early += n
		}
	}
	total := size * int64(responses)
	want := time.Duration(float64(total) / float64(rate) * float64(time.Second))
	if took := end.Sub(began); took < want-2*paceSlack || took > want+2*paceSlack {
		t.Errorf("%d responses at %d: %d bytes in %v, want %v", responses, rate, total, took, want)
	}
	if limit := rate + rate/20 + int64(responses); early > limit {
		t.Errorf("%d responses at %d: %d bytes in the first second", responses, rate, early)
	}
}

// nextResponse returns the response with remaining bytes that is ready first.
func nextResponse(at []time.Time, left []int64) (next int) {
	for i := range at {
		if left[i] > 0 && (left[next] == 0 || at[i].Before(at[next])) {
			next = i
		}
	}
	return next
}

// A response is sent in chunks, each at its time, and is not buffered.
func TestRateOfResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate, size = 300 << 10, 4 * 300 << 10
		w := &discard{header: http.Header{}}
		res := newResponse(w, mustRequest(t, "/"), &pacer{rate: rate}, time.Minute)
		began := time.Now()
		if n, err := res.ReadFrom(&zeros{size}); n != size || err != nil {
			t.Errorf("sent %d, %v", n, err)
		}
		flushed, last := 0, began
		for _, d := range w.left {
			if gap := d.at.Sub(last); gap > 50*time.Millisecond {
				t.Errorf("nothing for %v", gap)
			}
			flushed, last = flushed+d.bytes, d.at
		}
		if took := last.Sub(began); flushed != size || took < 4*time.Second-2*paceSlack || took > 4*time.Second {
			t.Errorf("%d bytes left in %v, want %d in 4 s", flushed, took, size)
		}
	})
}

// zeros is a reader of a number of zero bytes.
type zeros struct{ left int64 }

func (z *zeros) Read(p []byte) (int, error) {
	n := min(int64(len(p)), z.left)
	z.left -= n
	if n == 0 {
		return 0, io.EOF
	}
	return int(n), nil
}

// A response may not exceed the rate after a pause.
func TestRateAfterPause(t *testing.T) {
	p := &pacer{rate: 1000}
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for range 3 {
		now = now.Add(time.Hour)
		if d := p.reserve(now, 500); d > 0 {
			t.Errorf("the first chunk waits %v", d)
		}
		if d, want := p.reserve(now, 500), 500*time.Millisecond-paceSlack; d != want {
			t.Errorf("the second chunk waits %v, want %v", d, want)
		}
	}
}

// A response that waits for its turn ends with the context of the request.
func TestRateCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pacer{rate: 1}
		ctx, cancel := context.WithCancel(t.Context())
		res := newResponse(&discard{header: http.Header{}}, mustRequest(t, "/").WithContext(ctx), p, time.Minute)
		began := time.Now()
		time.AfterFunc(100*time.Second+time.Millisecond, cancel)
		n, err := res.Write(make([]byte, 1000))
		if !errors.Is(err, context.Canceled) || n < 99 || n > 101 {
			t.Errorf("sent %d, %v", n, err)
		}
		if took := time.Since(began); took != 100*time.Second+time.Millisecond {
			t.Errorf("took %v", took)
		}
		if p.active != 0 {
			t.Errorf("%d responses are active", p.active)
		}
	})
}

// The rate holds for several downloads together over real connections.
func TestRateOverNetwork(t *testing.T) {
	const rate, each, n = 400_000, 50_000, 4
	body := strings.Repeat("x", each)
	w := start(t, map[string]string{"a": body}, Options{Rate: rate})
	began := time.Now()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { w.get("/a").want(t, 200, body) })
	}
	wg.Wait()
	if took, least := time.Since(began), time.Second*n*each/rate-2*paceSlack; took < least {
		t.Errorf("took %v, want at least %v", took, least)
	}
}

// The connection of a client that does not read is closed.
func TestStalledClient_V9(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a", "")
	if err := os.Truncate(filepath.Join(dir, "a"), 64<<20); err != nil {
		t.Fatal(err)
	}
	w := open(t, dir, Options{}, func(s *Server) { s.stall = 100 * time.Millisecond })
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /a HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if l := w.log.next(t, "request"); l["bytes"] == "67108864" {
		t.Errorf("all was sent to nobody: %v", l)
	}
}

// dialled is a discard with a connection that has a deadline.
type dialled struct {
	discard
	deadlines []time.Time
}

func (d *dialled) SetWriteDeadline(t time.Time) error {
	d.deadlines = append(d.deadlines, t)
	return nil
}

// The deadline of a response does not apply to the next one on the same connection, and each chunk has its own.
func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &dialled{discard: discard{header: http.Header{}}}
		res := newResponse(w, mustRequest(t, "/"), &pacer{rate: 1}, time.Minute)
		began := time.Now()
		if _, err := res.Write(make([]byte, 200)); err != nil {
			t.Fatal(err)
		}
		first, last := w.deadlines[0], w.deadlines[len(w.deadlines)-1]
		if !first.IsZero() || len(w.deadlines) != 202 {
			t.Errorf("%d deadlines, first %v, want none at first", len(w.deadlines), first)
		}
		if took := last.Sub(began); took < 258*time.Second || took > 260*time.Second {
			t.Errorf("last deadline is %v after the beginning", took)
		}
	})
}
