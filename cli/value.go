package cli

import (
	"braid/internal/option"
	"fmt"
	"strconv"
)

// The values of options that several commands have.
type (
	size     = option.SizeValue
	rate     = option.RateValue
	duration = option.TimeValue
	interval = option.PeriodValue
	number   = option.NumberValue
	plenty   = option.EntriesValue
	choice   = option.ChoiceValue
)

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
