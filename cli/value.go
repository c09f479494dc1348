package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A size is the value of a flag for bytes.
type size int64

// Set reads what a user writes.
func (v *size) Set(s string) error {
	n, err := parseSize(s)
	if err == nil && n <= 0 {
		err = errSize
	}
	if err == nil {
		*v = size(n)
	}
	return err
}

func (v *size) String() string { return strconv.FormatInt(int64(*v), 10) }

// A rate is the value of a flag for bytes a second; 0, also when it is given, is as many as come.
type rate int64

// Set reads what a user writes.
func (v *rate) Set(s string) error {
	n, err := parseSize(s)
	if err == nil {
		*v = rate(n)
	}
	return err
}

func (v *rate) String() string { return strconv.FormatInt(int64(*v), 10) }

// A duration is the value of a flag for a time.
type duration time.Duration

// Set reads what a user writes.
func (v *duration) Set(s string) error {
	d, err := parseTime(s)
	if err == nil {
		*v = duration(d)
	}
	return err
}

func (v *duration) String() string { return time.Duration(*v).String() }

// An interval is the value of a flag for how far things are apart that run for years: a small number without a unit may be meant in
// another one than seconds.
type interval time.Duration

// Set reads what a user writes.
func (v *interval) Set(s string) error {
	if x, err := strconv.ParseFloat(s, 64); err == nil && x > 0 && x < 1000 {
		return fmt.Errorf("write it with its unit, as %[1]ss, %[1]sm or %[1]sh", s)
	}
	return (*duration)(v).Set(s)
}

func (v *interval) String() string { return time.Duration(*v).String() }

// A number is the value of a flag that counts something: at least 1.
type number int

// Set reads what a user writes.
func (v *number) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 1_000_000 {
		return fmt.Errorf("write a number from 1 to 1000000")
	}
	*v = number(n)
	return nil
}

func (v *number) String() string { return strconv.Itoa(int(*v)) }

// plenty is the value of a flag that bounds what only costs time: from 1 to a billion.
type plenty int

// Set reads what a user writes.
func (v *plenty) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 1_000_000_000 {
		return fmt.Errorf("write a number from 1 to 1000000000")
	}
	*v = plenty(n)
	return nil
}

func (v *plenty) String() string { return strconv.Itoa(int(*v)) }

// parallel is how many downloads run at once; 0 is "auto".
type parallel int

// mostParallel keeps the open files of a process within what systems allow.
const mostParallel = 1000

// Set reads what a user writes.
func (v *parallel) Set(s string) error {
	n, err := strconv.Atoi(s)
	switch {
	case s == "auto":
		n = 0
	case err != nil || n < 1 || n > mostParallel:
		return fmt.Errorf("write auto, or a number from 1 to %d", mostParallel)
	}
	*v = parallel(n)
	return nil
}

func (v *parallel) String() string { return strconv.Itoa(int(*v)) }

// A choice is the value of a flag that takes one of a few words.
type choice struct {
	words []string
	word  string
}

// Set reads what a user writes.
func (v *choice) Set(s string) error {
	if !slices.Contains(v.words, s) {
		return fmt.Errorf("write one of %s", strings.Join(v.words, ", "))
	}
	v.word = s
	return nil
}

func (v *choice) String() string { return v.word }
