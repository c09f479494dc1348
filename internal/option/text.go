package option

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

var units = []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

// SizeText formats n bytes, such as 1.5 KiB.
func SizeText(n int64) string { return scaled(float64(n)) }

// RateText formats r bytes per second.
func RateText(r float64) string {
	if math.IsNaN(r) || math.IsInf(r, 0) || r < 0 {
		r = 0
	}
	return scaled(r) + "/s"
}

func scaled(x float64) string {
	unit := 0
	for x >= 1023.5 && unit < len(units)-1 { // 1023.5 would be rounded to 1024
		x /= 1024
		unit++
	}
	decimals := 1
	if unit == 0 || x >= 99.95 {
		decimals = 0
	}
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', decimals, 64), ".0") + " " + units[unit]
}

// TimeText formats d, such as 40 ms, 3.2 s, 4 min 10 s, or 2 h 5 min.
func TimeText(d time.Duration) string {
	switch s := d.Round(time.Second); {
	case d < 0:
		return "0 s"
	case d > 0 && d < time.Millisecond:
		return "under 1 ms"
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 9950*time.Millisecond:
		return strings.TrimSuffix(strconv.FormatFloat(d.Seconds(), 'f', 1, 64), ".0") + " s"
	case s < time.Minute:
		return fmt.Sprintf("%d s", s/time.Second)
	case s < time.Hour:
		return fmt.Sprintf("%d min %d s", s/time.Minute, s%time.Minute/time.Second)
	case s < 100*time.Hour:
		return fmt.Sprintf("%d h %d min", s/time.Hour, s%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

// Percent returns part as a percentage of whole, rounded down, so that 100 means all of it.
func Percent(part, whole int64) int {
	if whole <= 0 {
		return 0
	}
	return int(float64(part) / float64(whole) * 100)
}

// Count formats n with a noun: "1 mirror", "4 mirrors".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Shorten cuts s, a text from outside, to a maximum number of runes. A text that was cut ends with "...".
func Shorten(s string, runes int) string {
	r := []rune(s)
	if len(r) <= runes {
		return s
	}
	return string(r[:runes-3]) + "..."
}

// Nearest returns the word in known that the user probably meant by word, or "". It accepts only small differences,
// because a wrong suggestion is worse than none.
func Nearest(word string, known []string) string {
	best, bestDistance, edits := "", max(1, (len(word)+1)/3)+1, 0
	for _, k := range known {
		e := distance(word, k)
		d := e
		if short := min(len(word), len(k)); short >= 3 && (strings.HasPrefix(word, k) || strings.HasPrefix(k, word)) {
			d = min(d, 1)
		}
		if d < bestDistance || d == bestDistance && best != "" && (e < edits || e == edits && k < best) {
			best, bestDistance, edits = k, d, e
		}
	}
	return best
}

// distance returns the number of insertions, deletions, changes and swaps of adjacent letters between a and b.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	older, old, now := rows[0], rows[1], rows[2]
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			change := 0
			if a[i-1] != b[j-1] {
				change = 1
			}
			now[j] = min(old[j]+1, now[j-1]+1, old[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], older[j-2]+1)
			}
		}
		older, old, now = old, now, older
	}
	return old[len(b)]
}

// Grouped formats n with a comma between each three digits, such as 2,000.
func Grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Stamp formats t for logs. It returns "" for the zero time.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
