package option

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The types of option values, for flags and configuration files. Most of them implement flag.Value.

// SizeValue is a number of bytes, at least 1.
type SizeValue int64

func (v *SizeValue) Set(s string) error {
	n, err := ParseSize(s)
	if err == nil && n <= 0 {
		err = ErrSize
	}
	if err == nil {
		*v = SizeValue(n)
	}
	return err
}

func (v *SizeValue) UnmarshalText(text []byte) error { return v.Set(string(text)) }

func (v *SizeValue) String() string { return strconv.FormatInt(int64(*v), 10) }

// BulkValue is a SizeValue that must have a unit if it is small, because a small number without one is probably a mistake.
type BulkValue int64

// UnmarshalText parses a value such as "500K".
func (v *BulkValue) UnmarshalText(text []byte) error {
	if isBare(string(text), 1024) {
		return fmt.Errorf(`write bytes with a unit, such as "%[1]sK", "%[1]sM" or "%[1]sB"`, text)
	}
	return (*SizeValue)(v).UnmarshalText(text)
}

// isBare reports whether word is a number without a unit, above 0 and below the limit less. The user may have meant
// another unit.
func isBare(word string, less float64) bool {
	x, err := strconv.ParseFloat(word, 64)
	return err == nil && x > 0 && x < less
}

// RateValue is a number of bytes a second; 0 means no limit.
type RateValue int64

func (v *RateValue) Set(s string) error {
	n, err := ParseSize(s)
	if err == nil {
		*v = RateValue(n)
	}
	return err
}

func (v *RateValue) String() string { return strconv.FormatInt(int64(*v), 10) }

// TimeValue is a duration.
type TimeValue time.Duration

func (v *TimeValue) Set(s string) error {
	d, err := ParseTime(s)
	if err == nil {
		*v = TimeValue(d)
	}
	return err
}

func (v *TimeValue) String() string { return time.Duration(*v).String() }

// PeriodValue is the interval of something that recurs. It must have a unit, because a small number without one may not
// mean seconds.
type PeriodValue time.Duration

func (v *PeriodValue) Set(s string) error {
	if isBare(s, 1000) {
		return fmt.Errorf("write it with a unit, such as %[1]ss, %[1]sm or %[1]sh", s)
	}
	return (*TimeValue)(v).Set(s)
}

// UnmarshalText parses a value such as "1h30m". Its errors quote the value as a configuration file does.
func (v *PeriodValue) UnmarshalText(text []byte) error {
	if isBare(string(text), 1000) {
		return fmt.Errorf(`write a time with a unit, such as "%[1]ss", "%[1]sm" or "%[1]sh"`, text)
	}
	return v.Set(string(text))
}

func (v *PeriodValue) String() string { return time.Duration(*v).String() }

// NumberValue is a number from 1 to a million.
type NumberValue int

func (v *NumberValue) Set(s string) error { return setNumber((*int)(v), s, 1_000_000) }

func (v *NumberValue) UnmarshalText(text []byte) error { return v.Set(string(text)) }

func (v *NumberValue) String() string { return strconv.Itoa(int(*v)) }

// EntriesValue is a number from 1 to a billion. It limits work that only costs time.
type EntriesValue int

func (v *EntriesValue) Set(s string) error { return setNumber((*int)(v), s, 1_000_000_000) }

func (v *EntriesValue) UnmarshalText(text []byte) error { return v.Set(string(text)) }

func (v *EntriesValue) String() string { return strconv.Itoa(int(*v)) }

func setNumber(to *int, s string, most int) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > most {
		return fmt.Errorf("write a number from 1 to %d", most)
	}
	*to = n
	return nil
}

// ChoiceValue is one of several words.
type ChoiceValue struct {
	Words []string
	Word  string
}

// Set implements flag.Value.
func (v *ChoiceValue) Set(s string) error {
	if !slices.Contains(v.Words, s) {
		return fmt.Errorf("write one of %s", strings.Join(v.Words, ", "))
	}
	v.Word = s
	return nil
}

func (v *ChoiceValue) String() string { return v.Word }

// WordsValue is a list of words. Each call of Set adds one.
type WordsValue []string

// Set implements flag.Value.
func (v *WordsValue) Set(s string) error {
	*v = append(*v, strings.TrimSpace(s))
	return nil
}

func (v *WordsValue) String() string { return strings.Join(*v, ",") }

// ErrSize describes to the user how sizes are written.
var ErrSize = errors.New("write a number of bytes, with K, M, G or T for powers of 1024")

var sizeFactors = map[string]float64{
	"": 1, "B": 1, "K": 1 << 10, "KIB": 1 << 10, "M": 1 << 20, "MIB": 1 << 20,
	"G": 1 << 30, "GIB": 1 << 30, "T": 1 << 40, "TIB": 1 << 40,
}

// ParseSize parses a size such as 65536, 64K, 64KiB or 1.5G, in bytes. It refuses MB, which is ambiguous.
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

// ErrTime describes to the user how times are written.
var ErrTime = errors.New("write a time such as 30s, 1m30s or 500ms; a bare number is seconds")

// ParseTime parses a duration. A bare number is a number of seconds, as in other tools.
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
