package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

var units = []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

// sizeText writes a number of bytes for people: three digits are enough.
func sizeText(n int64) string { return scaled(float64(n)) }

// rateText writes bytes a second.
func rateText(r float64) string {
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

// timeText writes a duration for people: 40 ms, 3.2 s, 4 min 10 s, 2 h 5 min.
func timeText(d time.Duration) string {
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

// percent is a share of a whole, rounded down: 100 means all.
func percent(part, whole int64) int {
	if whole <= 0 {
		return 0
	}
	return int(float64(part) / float64(whole) * 100)
}

// count writes a number with its noun: "1 mirror", "4 mirrors".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// shorten cuts a text of someone else's to what fits in a line of a message.
func shorten(s string, runes int) string {
	r := []rune(s)
	if len(r) <= runes {
		return s
	}
	return string(r[:runes-3]) + "..."
}

var errSize = errors.New("write a number of bytes, with K, M, G or T for powers of 1024")

var sizeFactors = map[string]float64{
	"": 1, "B": 1, "K": 1 << 10, "KIB": 1 << 10, "M": 1 << 20, "MIB": 1 << 20,
	"G": 1 << 30, "GIB": 1 << 30, "T": 1 << 40, "TIB": 1 << 40,
}

// parseSize reads 65536, 64K, 64KiB, 1.5G. There is no MB, which means two things.
func parseSize(s string) (int64, error) {
	number := strings.TrimRight(s, "KMGTkmgtiIBb")
	factor, ok := sizeFactors[strings.ToUpper(s[len(number):])]
	if !ok || strings.Trim(number, "0123456789.") != "" {
		return 0, errSize
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil && factor == 1 {
		return n, nil
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || factor == 1 || x*factor >= math.MaxInt64 {
		return 0, errSize
	}
	return int64(x * factor), nil
}

var errTime = errors.New("write a time as 30s, 1m30s or 500ms; a bare number is seconds")

// parseTime reads a duration; a bare number is seconds, as in other tools.
func parseTime(s string) (time.Duration, error) {
	if x, err := strconv.ParseFloat(s, 64); err == nil && strings.Trim(s, "0123456789.") == "" {
		s = strconv.FormatFloat(x, 'f', -1, 64) + "s"
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, errTime
	}
	return d, nil
}
