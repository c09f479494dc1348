package option

import (
	"math"
	"testing"
	"time"
)

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1: "1 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 10 << 10: "10 KiB", 102348: "99.9 KiB",
		102399: "100 KiB", 1<<20 - 1: "1 MiB", 1 << 20: "1 MiB", 256 << 20: "256 MiB", 3 << 29: "1.5 GiB",
		1 << 40: "1 TiB", math.MaxInt64: "8 EiB",
	} {
		if got := SizeText(n); got != want {
			t.Errorf("SizeText(%d) is %q, want %q", n, got, want)
		}
	}
	for r, want := range map[float64]string{0: "0 B/s", 83886080: "80 MiB/s", -1: "0 B/s", math.Inf(1): "0 B/s"} {
		if got := RateText(r); got != want {
			t.Errorf("RateText(%g) is %q, want %q", r, got, want)
		}
	}
	if got := RateText(math.NaN()); got != "0 B/s" {
		t.Errorf("RateText(NaN) is %q", got)
	}
}

func TestTime(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-1: "0 s", 0: "0 ms", 117 * time.Microsecond: "under 1 ms", 40 * time.Millisecond: "40 ms",
		100 * time.Millisecond:  "0.1 s",
		3210 * time.Millisecond: "3.2 s", 9949 * time.Millisecond: "9.9 s", 9950 * time.Millisecond: "10 s",
		59*time.Second + 499*time.Millisecond: "59 s", 59*time.Second + 500*time.Millisecond: "1 min 0 s",
		250 * time.Second: "4 min 10 s", 3599500 * time.Millisecond: "1 h 0 min", 125 * time.Minute: "2 h 5 min",
		240 * time.Hour: "10 days",
	} {
		if got := TimeText(d); got != want {
			t.Errorf("TimeText(%v) is %q, want %q", d, got, want)
		}
	}
}

func TestShortenAndCount(t *testing.T) {
	for _, tt := range [][2]string{{"abcdef", "abcdef"}, {"abcdefg", "abc..."}, {"äöüßäöü", "äöü..."}} {
		if got := Shorten(tt[0], 6); got != tt[1] {
			t.Errorf("Shorten(%q) is %q, want %q", tt[0], got, tt[1])
		}
	}
	if got := Count(1, "mirror") + ", " + Count(0, "mirror") + ", " + Count(12,
		"mirror"); got != "1 mirror, 0 mirrors, 12 mirrors" {
		t.Error(got)
	}
	if Percent(0, 0) != 0 || Percent(999, 1000) != 99 || Percent(1000, 1000) != 100 || Percent(5, -1) != 0 {
		t.Error("percent")
	}
}
