package antenna

import (
	"math"
	"testing"
	"time"
)

var (
	start  = time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC)
	bounds = paceBounds{First: 15 * time.Minute, Min: 5 * time.Minute, Max: time.Hour}
)

// pollTimes simulates polls of a feed with the given times between changes. It returns the last interval between polls
// and the average delay before a change was seen.
func pollTimes(r rhythm, changes []time.Duration) (interval, late time.Duration) {
	now, next := start, start
	var sum time.Duration
	for _, gap := range changes {
		next = next.Add(gap)
		for now.Before(next) {
			interval = r.interval(now, bounds)
			now = now.Add(interval)
			r = r.saw(!now.Before(next), now)
		}
		sum += now.Sub(next)
	}
	return interval, sum / time.Duration(len(changes))
}

func every(d time.Duration, n int) (list []time.Duration) {
	for range n {
		list = append(list, d)
	}
	return list
}

func TestInterval(t *testing.T) {
	month := 30 * 24 * time.Hour
	for _, tt := range []struct {
		name       string
		changes    []time.Duration
		from, to   time.Duration // the last interval
		atMostLate time.Duration
	}{
		{"each minute", every(time.Minute, 200), 5 * time.Minute, 5 * time.Minute, 5 * time.Minute},
		{"each hour", every(time.Hour, 50), 10 * time.Minute, 20 * time.Minute, 15 * time.Minute},
		{"each day", every(24*time.Hour, 10), time.Hour, time.Hour, time.Hour},
		{"each month", every(month, 3), time.Hour, time.Hour, time.Hour},
		{"a burst after a month", append(every(month, 2), every(10*time.Minute, 30)...), 5 * time.Minute,
			5 * time.Minute, time.Hour},
		{"silence after a burst", append(every(10*time.Minute, 20), month), time.Hour, time.Hour, time.Hour},
	} {
		got, late := pollTimes(firstRhythm(time.Time{}, start), tt.changes)
		if got < tt.from || got > tt.to || late > tt.atMostLate {
			t.Errorf("%s: pollTimes are %v apart, news %v old, want %v to %v, at most %v", tt.name, got, late, tt.from,
				tt.to, tt.atMostLate)
		}
	}
}

func TestIntervalOfWhatIsNew(t *testing.T) {
	if got := (rhythm{}).interval(start, bounds); got != bounds.First {
		t.Errorf("unseen: %v", got)
	}
	if got := (rhythm{}).interval(start, paceBounds{First: time.Second, Min: time.Minute, Max: time.Hour}); got != time.Minute {
		t.Errorf("unseen, within bounds: %v", got)
	}
	// The Last-Modified of the first response counts at once.
	if got := firstRhythm(start.Add(-2*time.Hour), start).interval(start, bounds); got != 30*time.Minute {
		t.Errorf("two hours old: %v", got)
	}
	if got := firstRhythm(start.Add(time.Hour), start).interval(start, bounds); got != bounds.Min {
		t.Errorf("from the future: %v", got)
	}
	if got := (rhythm{}).saw(true, start); got != (rhythm{Changed: start}) {
		t.Errorf("a first change: %+v", got)
	}
}

// TestUnchanged_Rule57 checks that the interval for a feed that never changes grows to an hour and no further (rule
// 57).
func TestUnchanged_Rule57(t *testing.T) {
	r, now := firstRhythm(time.Time{}, start), start
	last := time.Duration(0)
	for range 100 {
		d := r.interval(now, bounds)
		if d < last {
			t.Fatalf("asked more often: %v after %v", d, last)
		}
		last, now = d, now.Add(d)
		r = r.saw(false, now)
	}
	if last != time.Hour {
		t.Errorf("asked every %v", last)
	}
}

func TestBackoffTimes_Rule57(t *testing.T) {
	for _, tt := range []struct {
		base     time.Duration
		failures int
		chance   float64
		want     time.Duration
	}{
		{5 * time.Minute, 0, 0, 10 * time.Minute},
		{5 * time.Minute, 1, 0, 10 * time.Minute},
		{5 * time.Minute, 1, 1, 12*time.Minute + 30*time.Second},
		{5 * time.Minute, 3, 0, 40 * time.Minute},
		{5 * time.Minute, 4, 0, time.Hour},
		{5 * time.Minute, 4, 1, 75 * time.Minute},
		{5 * time.Minute, math.MaxInt, 0, time.Hour},
		{2 * time.Hour, 1, 0, time.Hour},
		{0, 5, 1, 0},
	} {
		if got := backoff(tt.base, time.Hour, tt.failures, tt.chance); got != tt.want {
			t.Errorf("%v, %d failures, %v: %v, want %v", tt.base, tt.failures, tt.chance, got, tt.want)
		}
	}
}

func TestJitter(t *testing.T) {
	for chance, want := range map[float64]time.Duration{0: time.Hour, 0.5: 63 * time.Minute, 1: 66 * time.Minute} {
		if got := jitter(time.Hour, chance); got != want {
			t.Errorf("%v: %v, want %v", chance, got, want)
		}
	}
}

func TestSpread(t *testing.T) {
	if got := spread(2, 3, 10*time.Minute); got != 2*time.Second {
		t.Errorf("the last of three: %v", got)
	}
	if got := spread(4999, 5000, 10*time.Minute); got != 4999*120*time.Millisecond {
		t.Errorf("the last of 5000: %v", got)
	}
	if got := spread(0, 0, time.Minute); got != 0 {
		t.Errorf("none: %v", got)
	}
}

func TestDay_Rule56(t *testing.T) {
	day := dayCount{}.at(start)
	if day.Updates != 0 || !day.end().Equal(start.Add(24*time.Hour)) {
		t.Errorf("a new day: %+v until %v", day, day.end())
	}
	day.Updates, day.Bytes = 3, 1000
	if got := day.at(start.Add(24*time.Hour - time.Second)); got != day {
		t.Errorf("the same day: %+v", got)
	}
	if got := day.at(start.Add(24 * time.Hour)); got.Updates != 0 || got.Bytes != 0 || got.Number != day.Number+1 {
		t.Errorf("the next day: %+v", got)
	}
	for _, tt := range []struct {
		updates int
		bytes   int64
		left    int64
		ok      bool
	}{
		{4, 1001, 1, true}, {3, 1001, 0, false}, {4, 1000, 0, false}, {-1, 5000, 4000, true}, {4, -1, 0, true}, {0, -1, 0, false},
	} {
		if left, ok := day.left(tt.updates, tt.bytes); left != tt.left || ok != tt.ok {
			t.Errorf("limits %d, %d: %d, %v", tt.updates, tt.bytes, left, ok)
		}
	}
}

// TestSaw checks the logarithmic average of the gaps between changes: the last gap counts for half, or for three
// quarters if changes have become more frequent.
func TestSaw(t *testing.T) {
	for _, tt := range []struct{ known, last, want time.Duration }{
		{0, time.Hour, time.Hour},
		{time.Hour, time.Hour, time.Hour},
		{time.Hour, 16 * time.Hour, 4 * time.Hour},
		{16 * time.Hour, time.Hour, 2 * time.Hour},
		{time.Hour, 0, time.Hour / 465}, // a gap counts as a second at least: 3600^0.25 * 1
	} {
		r := rhythm{Changed: start, Gap: tt.known}.saw(true, start.Add(tt.last))
		if off := r.Gap - tt.want; off < -time.Second || off > time.Second || !r.Changed.Equal(start.Add(tt.last)) {
			t.Errorf("%v after %v: %v, want %v", tt.last, tt.known, r.Gap, tt.want)
		}
	}
}
