package cli

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"braid/address"
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

	errSize = option.ErrSize
	errTime = option.ErrTime
)

// nearestWord finds the word that was probably meant, or "".
var nearestWord = option.Nearest

// hosts is the value of a flag that names hosts to connect to whoever names them (rule 63).
type hosts struct {
	address.Hosts
	words []string
}

// Set adds what a user writes: one, or several with commas between, as the environment has them.
func (v *hosts) Set(s string) error {
	for word := range strings.SplitSeq(s, ",") {
		if err := v.Add(strings.TrimSpace(word)); err != nil {
			return err
		}
		v.words = append(v.words, word)
	}
	return nil
}

func (v *hosts) String() string { return strings.Join(v.words, ",") }

// typed are these hosts and those of the URLs among words that are addresses: the user typed them. A name that the user
// typed is not the same as an address: DNS says what it means.
func (v *hosts) typed(words ...string) address.Hosts {
	all := v.Clone()
	for _, word := range words {
		u, err := url.Parse(word)
		if err != nil { // not one to be asked
			continue
		}
		if _, ok := address.ParseHost(u.Hostname()); ok {
			all.Add(u.Hostname())
		}
	}
	return all
}
