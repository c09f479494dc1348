package cli

import (
	"fmt"
	"strconv"

	"braid/internal/option"
)

// The values of options that several commands have.
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

// parallel is how many downloads run at once; 0 is "auto".
type parallel int

// mostParallel keeps the open files of a process within what systems allow.
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

// How quantities are written and read, under the names that fit a sentence here.
var (
	sizeText = option.SizeText
	rateText = option.RateText
	timeText = option.TimeText
	percent  = option.Percent
	count    = option.Count
	shorten  = option.Shorten
	grouped  = option.Grouped

	errSize = option.ErrSize
	errTime = option.ErrTime
)

// nearestWord finds the word that was probably meant, or "".
var nearestWord = option.Nearest
