package cli

import (
	"fmt"
	"strconv"

	"braid/internal/option"
)

// Types of the values of options that several commands have.
type (
	size     = option.SizeValue
	rate     = option.RateValue
	rates    = option.RatesValue
	duration = option.TimeValue
	interval = option.PeriodValue
	number   = option.NumberValue
	plenty   = option.EntriesValue
	choice   = option.ChoiceValue
)

// parallel is the number of concurrent downloads; 0 is "auto".
type parallel int

// mostParallel keeps the number of open files within the limits of systems.
const mostParallel = 1000

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
