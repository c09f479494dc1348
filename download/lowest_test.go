package download

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"braid/download/limit"
	"braid/internal/test/mirrortest"
	"braid/internal/test/pipes"
	"braid/source/httpsource"
)

// A download is too slow if less than the least speed came for the whole time, and never while nothing is
// waited for.
func TestPulse(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	var p pulse
	for i, tt := range []struct {
		after   int // seconds
		waits   bool
		least   int64
		arrived int64
		want    bool
	}{
		{0, true, 1000, 5000, false},
		{29, true, 1000, 5000, false},
		{30, true, 1000, 35_000, false},
		{59, true, 1000, 64_999, false},
		{60, true, 1000, 64_999, true},
		{60, false, 1000, 64_999, false}, // hashing
		{120, true, 1000, 64_999, false},
		{150, true, 0, 64_999, false},
		{200, true, 1000, 64_999, false},
		{230, true, 1000, 64_999, true},
	} {
		if got := p.tooSlow(start.Add(time.Duration(tt.after)*time.Second), tt.waits, tt.least, tt.arrived); got != tt.want {
			t.Errorf("%d: after %d s: %v", i, tt.after, got)
		}
	}
}

// A download that drips ends and keeps its bytes, and the next one resumes. A download that its own limit
// holds back does not end.
func TestLowestSpeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, first = 64 << 10, 16 << 10
		body := mirrortest.Generate(size, 1).Bytes()
		l := make(pipes.Listener)
		drips := true
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"1"`)
			if !drips {
				http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
				return
			}
			w.Header().Set("Content-Length", strconv.Itoa(size))
			for rest, n := body, first; len(rest) > 0 && r.Context().Err() == nil; rest, n = rest[n:], 100 {
				w.Write(rest[:n])
				http.NewResponseController(w).Flush()
				time.Sleep(time.Second)
			}
		})}
		go s.Serve(l)
		defer s.Close()
		hc := &httpsource.Client{Dial: l.Dial}
		defer hc.CloseIdle()
		u, err := url.Parse("http://127.0.0.1/")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		c := &Client{HTTP: hc, LowestSpeed: 1, Timeout: time.Minute}
		least := func() int64 { return 10_000 } // not the client's
		_, err = c.Get(t.Context(), Request{URL: u, Dir: dir, Name: "a", Limits: Limits{Lowest: least}})
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Kind != Budget || e.Kept < first || !errors.Is(err, ErrTooSlow) ||
			!strings.Contains(e.Error(), "slower than 10000 bytes a second for 30s") {
			t.Fatalf("%+v", err)
		}
		hc.CloseIdle()
		synctest.Wait() // until the server has finished
		drips = false
		c.Limit = limit.New(512)
		c.LowestSpeed = 1 << 20
		began := time.Now()
		result, err := c.Get(t.Context(), Request{URL: u, Dir: dir, Name: "a"})
		if took := time.Since(began); err != nil || result.Fetched >= size || took < 2*lowestTime {
			t.Fatalf("%d bytes in %v, %v", result.Fetched, took, err)
		}
		if data, err := os.ReadFile(result.Path); err != nil || !bytes.Equal(data, body) {
			t.Errorf("the file is wrong, %v", err)
		}
	})
}
