package option

import (
	"math"
	"testing"
	"time"
)

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "65536": 65536, "12B": 12, "64K": 64 << 10, "64k": 64 << 10, "64KiB": 64 << 10, "2M": 2 << 20, "1.5G": 3 << 29,
		"64G": 64 << 30, "1T": 1 << 40, "9223372036854775807": math.MaxInt64,
	} {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("ParseSize(%q) is %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{
		"", "K", "MB", "2MB", "2KB", "5iB", "5i", "-1", "+1", " 1", "1 K", "1e3", "0x10", "1.5", "1..5K", "9223372036854775808",
		"99999999999T", "Inf", "NaN", "1K1", "٣",
	} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("ParseSize(%q) is %d, want an error", s, got)
		}
	}
}

// FuzzParseSize: results are never negative, and whole numbers are parsed exactly.
func FuzzParseSize(f *testing.F) {
	f.Add("1.5G")
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := ParseSize(s); err == nil && n < 0 {
			t.Fatalf("ParseSize(%q) is %d", s, n)
		}
	})
}

func TestParseTime(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"30": 30 * time.Second, "0.5": 500 * time.Millisecond, "30s": 30 * time.Second, "1m30s": 90 * time.Second,
		"500ms": 500 * time.Millisecond,
	} {
		if got, err := ParseTime(s); err != nil || got != want {
			t.Errorf("ParseTime(%q) is %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "0", "0s", "-1", "-1s", "1x", "Inf", "nan", "1e3", "99999999999999"} {
		if got, err := ParseTime(s); err == nil {
			t.Errorf("ParseTime(%q) is %v, want an error", s, got)
		}
	}
}
