package option

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// ErrSize says how sizes are written.
var ErrSize = errors.New("write a number of bytes, with K, M, G or T for powers of 1024")

var sizeFactors = map[string]float64{
	"": 1, "B": 1, "K": 1 << 10, "KIB": 1 << 10, "M": 1 << 20, "MIB": 1 << 20,
	"G": 1 << 30, "GIB": 1 << 30, "T": 1 << 40, "TIB": 1 << 40,
}

// ParseSize reads 65536, 64K, 64KiB, 1.5G. There is no MB, which means two things.
func ParseSize(s string) (int64, error) {
	number := strings.TrimRight(s, "KMGTkmgtiIBb")
	factor, ok := sizeFactors[strings.ToUpper(s[len(number):])]
	if !ok || strings.Trim(number, "0123456789.") != "" {
		return 0, ErrSize
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil && factor == 1 {
		return n, nil
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || factor == 1 || x*factor >= math.MaxInt64 {
		return 0, ErrSize
	}
	return int64(x * factor), nil
}

// ErrTime says how times are written.
var ErrTime = errors.New("write a time as 30s, 1m30s or 500ms; a bare number is seconds")

// ParseTime reads a duration; a bare number is seconds, as in other tools.
func ParseTime(s string) (time.Duration, error) {
	if x, err := strconv.ParseFloat(s, 64); err == nil && strings.Trim(s, "0123456789.") == "" {
		s = strconv.FormatFloat(x, 'f', -1, 64) + "s"
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, ErrTime
	}
	return d, nil
}
