package cli

import (
	"math"
	"testing"
	"time"
)

func TestSizeText(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1: "1 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 10 << 10: "10 KiB", 102348: "99.9 KiB",
		102399: "100 KiB", 1<<20 - 1: "1 MiB", 1 << 20: "1 MiB", 256 << 20: "256 MiB", 3 << 29: "1.5 GiB",
		1 << 40: "1 TiB", math.MaxInt64: "8 EiB",
	} {
		if got := sizeText(n); got != want {
			t.Errorf("sizeText(%d) is %q, want %q", n, got, want)
		}
	}
	for r, want := range map[float64]string{0: "0 B/s", 83886080: "80 MiB/s", -1: "0 B/s", math.Inf(1): "0 B/s"} {
		if got := rateText(r); got != want {
			t.Errorf("rateText(%g) is %q, want %q", r, got, want)
		}
	}
	if got := rateText(math.NaN()); got != "0 B/s" {
		t.Errorf("rateText(NaN) is %q", got)
	}
}

func TestTimeText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-1: "0 s", 0: "0 ms", 117 * time.Microsecond: "under 1 ms", 40 * time.Millisecond: "40 ms", 100 * time.Millisecond: "0.1 s",
		3210 * time.Millisecond: "3.2 s", 9949 * time.Millisecond: "9.9 s", 9950 * time.Millisecond: "10 s",
		59*time.Second + 499*time.Millisecond: "59 s", 59*time.Second + 500*time.Millisecond: "1 min 0 s",
		250 * time.Second: "4 min 10 s", 3599500 * time.Millisecond: "1 h 0 min", 125 * time.Minute: "2 h 5 min",
		240 * time.Hour: "10 days",
	} {
		if got := timeText(d); got != want {
			t.Errorf("timeText(%v) is %q, want %q", d, got, want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "65536": 65536, "12B": 12, "64K": 64 << 10, "64k": 64 << 10, "64KiB": 64 << 10, "2M": 2 << 20, "1.5G": 3 << 29,
		"64G": 64 << 30, "1T": 1 << 40, "9223372036854775807": math.MaxInt64,
	} {
		if got, err := parseSize(s); err != nil || got != want {
			t.Errorf("parseSize(%q) is %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{
		"", "K", "MB", "2MB", "2KB", "5iB", "5i", "-1", "+1", " 1", "1 K", "1e3", "0x10", "1.5", "1..5K", "9223372036854775808",
		"99999999999T", "Inf", "NaN", "1K1", "٣",
	} {
		if got, err := parseSize(s); err == nil {
			t.Errorf("parseSize(%q) is %d, want an error", s, got)
		}
	}
}

// FuzzParseSize: what is read is never negative, and whole numbers are read exactly.
func FuzzParseSize(f *testing.F) {
	f.Add("1.5G")
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := parseSize(s); err == nil && n < 0 {
			t.Fatalf("parseSize(%q) is %d", s, n)
		}
	})
}

func TestParseTime(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"30": 30 * time.Second, "0.5": 500 * time.Millisecond, "30s": 30 * time.Second, "1m30s": 90 * time.Second, "500ms": 500 * time.Millisecond,
	} {
		if got, err := parseTime(s); err != nil || got != want {
			t.Errorf("parseTime(%q) is %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "0", "0s", "-1", "-1s", "1x", "Inf", "nan", "1e3", "99999999999999"} {
		if got, err := parseTime(s); err == nil {
			t.Errorf("parseTime(%q) is %v, want an error", s, got)
		}
	}
}

func TestShortenAndCount(t *testing.T) {
	for _, tt := range [][2]string{{"abcdef", "abcdef"}, {"abcdefg", "abc..."}, {"äöüßäöü", "äöü..."}} {
		if got := shorten(tt[0], 6); got != tt[1] {
			t.Errorf("shorten(%q) is %q, want %q", tt[0], got, tt[1])
		}
	}
	if got := count(1, "mirror") + ", " + count(0, "mirror") + ", " + count(12, "mirror"); got != "1 mirror, 0 mirrors, 12 mirrors" {
		t.Error(got)
	}
	if percent(0, 0) != 0 || percent(999, 1000) != 99 || percent(1000, 1000) != 100 || percent(5, -1) != 0 {
		t.Error("percent")
	}
}

func TestColumns(t *testing.T) {
	got := columns([][]string{{"a", "bcd", "e"}, {"äöü", "", "f"}, {"g"}})
	for i, want := range []string{"a    bcd  e", "äöü       f", "g"} {
		if got[i] != want {
			t.Errorf("line %d is %q, want %q", i, got[i], want)
		}
	}
}
