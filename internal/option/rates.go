package option

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// RatesValue is a limit in bytes per second that depends on the time of day, such as "09:00-17:00 2M, 20M". The first
// range that contains the local time applies. A rate without a range is for the rest of the day. 0 means no limit, and
// so does a time that is in no range.
type RatesValue struct{ spans []rateSpan }

// rateSpan is a rate for a range of the day. If to is not later than from, the range ends on the next day. The range
// from 0 to day is the whole day.
type rateSpan struct {
	from, to time.Duration
	rate     int64
}

const day = 24 * time.Hour

// errRates describes the format of rates.
var errRates = errors.New(`write a rate such as 2M, or several by the time of day as "09:00-17:00 2M, 20M"`)

// Set implements flag.Value.
func (v *RatesValue) Set(s string) error {
	var spans []rateSpan
	for item := range strings.SplitSeq(s, ",") {
		span, err := parseSpan(strings.Fields(item))
		if err == nil && len(spans) > 0 && spans[len(spans)-1].always() {
			err = errors.New("times after a rate for the whole day have no effect")
		}
		if err == nil && !span.always() && !span.counts(spans) {
			err = errors.New("earlier ranges cover all of these times, so this one has no effect")
		}
		if err != nil && strings.Contains(s, ",") {
			err = fmt.Errorf("%s: %w", strings.TrimSpace(item), err)
		}
		if err != nil {
			return err
		}
		spans = append(spans, span)
	}
	v.spans = spans
	return nil
}

func parseSpan(words []string) (s rateSpan, err error) {
	s.to = day
	switch len(words) {
	case 1:
	case 2:
		from, to, _ := strings.Cut(words[0], "-")
		var begins, end bool
		if s.from, begins = parseClock(from); begins && s.from < day {
			s.to, end = parseClock(to)
		}
		switch {
		case !end:
			return s, errors.New("write times of day such as 09:00-17:00; the last is 24:00")
		case s.from == s.to:
			return s, errors.New("the range ends when it begins; a whole day is 00:00-24:00")
		}
	default:
		return s, errRates
	}
	s.rate, err = ParseSize(words[len(words)-1])
	return s, err
}

// parseClock parses a time of day such as 09:00, up to 24:00.
func parseClock(s string) (time.Duration, bool) {
	hour, minute, ok := strings.Cut(s, ":")
	h, err := strconv.ParseUint(hour, 10, 8)
	m, wrong := strconv.ParseUint(minute, 10, 8)
	t := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
	return t, ok && err == nil && wrong == nil && len(hour) <= 2 && len(minute) == 2 && m < 60 && t <= day
}

// counts reports whether s contains a minute that no range in before contains.
func (s rateSpan) counts(before []rateSpan) bool {
	for t := time.Duration(0); t < day; t += time.Minute {
		if s.has(t) && !slices.ContainsFunc(before, func(b rateSpan) bool { return b.has(t) }) {
			return true
		}
	}
	return false
}

// UnmarshalTOML accepts a string or a list of strings.
func (v *RatesValue) UnmarshalTOML(value any) error {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	var words []string
	for _, value := range list {
		word, is := wordOf(value)
		switch bare := bareRate(word); {
		case is == "" || is == "boolean" || isList && is != "string" || word == "":
			return errRates
		case bare != "":
			return fmt.Errorf(`write bytes with a unit, such as "%[1]sK", "%[1]sM" or "%[1]sB"`, bare)
		}
		words = append(words, word)
	}
	return v.Set(strings.Join(words, ", "))
}

// bareRate returns the first rate in word that is a small number without a unit, or "". The user may have meant a unit
// other than bytes.
func bareRate(word string) string {
	for item := range strings.SplitSeq(word, ",") {
		if words := strings.Fields(item); len(words) > 0 && isBare(words[len(words)-1], 1024) {
			return words[len(words)-1]
		}
	}
	return ""
}

func (v RatesValue) String() string {
	var items []string
	for _, s := range v.spans {
		item := strconv.FormatInt(s.rate, 10)
		if !s.always() {
			item = clockText(s.from) + "-" + clockText(s.to) + " " + item
		}
		items = append(items, item)
	}
	if len(items) == 0 {
		return "0"
	}
	return strings.Join(items, ", ")
}

func clockText(d time.Duration) string {
	return fmt.Sprintf("%02d:%02d", d/time.Hour, d%time.Hour/time.Minute)
}

// Any reports whether there is a limit at any time of day.
func (v RatesValue) Any() bool {
	return slices.ContainsFunc(v.spans, func(s rateSpan) bool { return s.rate > 0 })
}

// At returns the rate at t, by the clock of t's location, and when that rate changes. until is zero if the rate never
// changes. Changes of the clock, as for daylight saving time, are taken into account.
func (v RatesValue) At(t time.Time) (rate int64, until time.Time) {
	t = t.Round(0)
	rate = v.rate(t)
	for at := v.next(t); !at.IsZero() && at.Sub(t) < 3*day; at = v.next(at) {
		if v.rate(at) != rate {
			return rate, at
		}
	}
	return rate, time.Time{}
}

func (v RatesValue) rate(t time.Time) int64 {
	now := clockOf(t)
	for _, s := range v.spans {
		if s.has(now) {
			return s.rate
		}
	}
	return 0
}

// next returns the first time after t when a range begins or ends, or the clock changes. It returns the zero time if no
// rate has a range.
func (v RatesValue) next(t time.Time) (at time.Time) {
	now := clockOf(t)
	for _, s := range v.spans {
		for _, edge := range []time.Duration{s.from, s.to} {
			to := edge - now
			if to <= 0 {
				to += day
			}
			if next := t.Add(to); !s.always() && (at.IsZero() || next.Before(at)) {
				at = next
			}
		}
	}
	if _, end := t.ZoneBounds(); !at.IsZero() && !end.IsZero() && end.Before(at) {
		return end
	}
	return at
}

// clockOf returns the time of day at t, by the clock of t's location.
func clockOf(t time.Time) time.Duration {
	h, m, s := t.Clock()
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second +
		time.Duration(t.Nanosecond())
}

func (s rateSpan) always() bool { return s.from == 0 && s.to == day }

// has reports whether s contains now, a time of day.
func (s rateSpan) has(now time.Duration) bool {
	if s.from < s.to {
		return s.from <= now && now < s.to
	}
	return now >= s.from || now < s.to
}
