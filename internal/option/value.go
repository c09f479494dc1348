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

// Values of options, as flags and configurations read them: each has a Set for what a user writes, and a String.

// A SizeValue is a number of bytes, at least 1.
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

// A BulkValue is a SizeValue of which a few bytes make no sense.
type BulkValue int64

// UnmarshalText reads "500K".
func (v *BulkValue) UnmarshalText(text []byte) error {
	if isBare(string(text), 1024) {
		return fmt.Errorf(`write bytes with their unit, as "%[1]sK", "%[1]sM" or "%[1]sB"`, text)
	}
	return (*SizeValue)(v).UnmarshalText(text)
}

// isBare reports whether word is a number without a unit that is less than some other: another unit may be meant. Zero is zero.
func isBare(word string, less float64) bool {
	x, err := strconv.ParseFloat(word, 64)
	return err == nil && x > 0 && x < less
}

// A RateValue is bytes a second; 0, also when it is given, is no limit.
type RateValue int64

func (v *RateValue) Set(s string) error {
	n, err := ParseSize(s)
	if err == nil {
		*v = RateValue(n)
	}
	return err
}

func (v *RateValue) String() string { return strconv.FormatInt(int64(*v), 10) }

// A TimeValue is a duration.
type TimeValue time.Duration

func (v *TimeValue) Set(s string) error {
	d, err := ParseTime(s)
	if err == nil {
		*v = TimeValue(d)
	}
	return err
}

func (v *TimeValue) String() string { return time.Duration(*v).String() }

// A PeriodValue is a duration between things that happen for years: of a small number without a unit, another one than
// seconds may be meant.
type PeriodValue time.Duration

func (v *PeriodValue) Set(s string) error {
	if isBare(s, 1000) {
		return fmt.Errorf("write it with its unit, as %[1]ss, %[1]sm or %[1]sh", s)
	}
	return (*TimeValue)(v).Set(s)
}

// UnmarshalText reads "1h30m" of a file, where it stands in quotes.
func (v *PeriodValue) UnmarshalText(text []byte) error {
	if isBare(string(text), 1000) {
		return fmt.Errorf(`write a time with its unit, as "%[1]ss", "%[1]sm" or "%[1]sh"`, text)
	}
	return v.Set(string(text))
}

func (v *PeriodValue) String() string { return time.Duration(*v).String() }

// A NumberValue is a number from 1 to a million.
type NumberValue int

func (v *NumberValue) Set(s string) error { return setNumber((*int)(v), s, 1_000_000) }

func (v *NumberValue) UnmarshalText(text []byte) error { return v.Set(string(text)) }

func (v *NumberValue) String() string { return strconv.Itoa(int(*v)) }

// An EntriesValue bounds what only costs time: a number from 1 to a billion.
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

// A ChoiceValue is one of a few words.
type ChoiceValue struct {
	Words []string
	Word  string
}

// Set reads one of the words.
func (v *ChoiceValue) Set(s string) error {
	if !slices.Contains(v.Words, s) {
		return fmt.Errorf("write one of %s", strings.Join(v.Words, ", "))
	}
	v.Word = s
	return nil
}

func (v *ChoiceValue) String() string { return v.Word }

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
