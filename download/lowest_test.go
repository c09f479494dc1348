package download

import (
	"errors"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

// A download is too slow when less than the least speed has come for the whole time, and never while nothing is waited for.
func TestPulse(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	p := pulse{patience: 30 * time.Second}
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

// A download that drips ends with what is here kept, and goes on from there; one that its own limit holds back does not end.
func TestLowestSpeed(t *testing.T) {
	t.Parallel()
	const size = 64 << 10
	var fast atomic.Bool
	s := mirrortest.New(t, mirrortest.Generate(size, 1), mirrortest.Digest(), mirrortest.ETag(`"1"`), mirrortest.RateFunc(func(at time.Duration) int64 {
		if fast.Load() || at < 100*time.Millisecond {
			return 256 << 10
		}
		return 100
	}))
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := &Client{LowestSpeed: 1, lowestTime: 2 * time.Second, Timeout: time.Minute}
	_, err = c.Get(t.Context(), Request{URL: u, Dir: dir, Name: "a", Lowest: func() int64 { return 10_000 }}) // and not what the client says
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != Budget || e.Kept == 0 || !errors.Is(err, ErrTooSlow) || !strings.Contains(e.Error(), "slower than 10000 bytes a second") {
		t.Fatalf("%+v", err)
	}
	fast.Store(true)
	c.Limit = NewLimit(8 << 10) // some seconds
	c.LowestSpeed = 1 << 20
	result, err := c.Get(t.Context(), Request{URL: u, Dir: dir, Name: "a"})
	if err != nil || result.Fetched >= size {
		t.Fatalf("%d bytes, %v", result.Fetched, err)
	}
	if data, err := os.ReadFile(result.Path); err != nil || string(data) != string(s.Content.Bytes()) {
		t.Errorf("the file is wrong, %v", err)
	}
}
