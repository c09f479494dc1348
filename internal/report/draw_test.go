package report

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

func texts(ticks []tick) string {
	var out []string
	for _, t := range ticks {
		out = append(out, t.Text)
	}
	return strings.Join(out, ", ")
}

func TestTimeTicks(t *testing.T) {
	for end, want := range map[time.Duration]string{
		1:                       "0",
		6 * ms:                  "0, 1 ms, 2 ms, 3 ms, 4 ms, 5 ms, 6 ms",
		900 * ms:                "0, 0.2 s, 0.4 s, 0.6 s, 0.8 s",
		7700 * ms:               "0, 1 s, 2 s, 3 s, 4 s, 5 s, 6 s, 7 s",
		100 * time.Second:       "0, 15 s, 30 s, 45 s, 1 min, 1 min 15 s, 1 min 30 s",
		10 * time.Hour:          "0, 2 h, 4 h, 6 h, 8 h, 10 h",
		90 * time.Minute:        "0, 15 min, 30 min, 45 min, 1 h, 1 h 15 min, 1 h 30 min",
		10 * 24 * time.Hour:     "0, 48 h, 96 h, 6 days, 8 days, 10 days",
		math.MaxInt64 / 2:       "",
		3*time.Second + 600*ms:  "0, 0.5 s, 1 s, 1.5 s, 2 s, 2.5 s, 3 s, 3.5 s",
		4 * time.Minute:         "0, 30 s, 1 min, 1 min 30 s, 2 min, 2 min 30 s, 3 min, 3 min 30 s, 4 min",
		61*time.Minute + 5*ms/2: "0, 10 min, 20 min, 30 min, 40 min, 50 min, 1 h",
	} {
		ticks := timeTicks(end)
		if got := texts(ticks); got != want && want != "" || len(ticks) > mostTicks+1 {
			t.Errorf("%v: %s, want %s", end, got, want)
		}
	}
}

func TestByteTicks(t *testing.T) {
	for top, want := range map[float64]string{
		1: "0, 1 B", 3: "0, 1 B, 2 B, 3 B", 700: "0, 200 B, 400 B, 600 B", 1024: "0, 0.25 KiB, 0.5 KiB, 0.75 KiB, 1 KiB",
		7.8 * mib: "0, 2 MiB, 4 MiB, 6 MiB", 1023 * mib: "0, 250 MiB, 500 MiB, 750 MiB, 1000 MiB", 1.3 * mib: "0, 0.5 MiB, 1 MiB",
	} {
		ticks := byteTicks(top, "")
		if got := texts(ticks); got != want {
			t.Errorf("%g: %s, want %s", top, got, want)
		}
		for i, x := range ticks {
			at, err := strconv.ParseFloat(strings.TrimSuffix(x.At, "%"), 64)
			if err != nil || at < 0 || at > 100 || i == 0 && at != 100 {
				t.Errorf("%g: %+v", top, x)
			}
		}
	}
	if got := texts(byteTicks(math.MaxInt64, "/s")); len(strings.Split(got, ",")) > 7 {
		t.Error(got)
	}
}

func TestPercentText(t *testing.T) {
	for x, want := range map[float64]string{0: "0%", 1: "100%", 0.12345: "12.35%", -1: "0%", 7: "100%", 0.5: "50%"} {
		if got := percentText(x); got != want {
			t.Errorf("%g: %s, want %s", x, got, want)
		}
	}
}

func TestMiddle(t *testing.T) {
	for s, want := range map[string]string{"abc": "abc", "abcdefghijk": "abc...ijk", "äöüäöüäöüäö": "äöü...üäö"} {
		if got := middle(s, 10); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
