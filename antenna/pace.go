package antenna

import (
	"math"
	"time"
)

// part is what part of the time between two changes an interval is. With a quarter, news are an eighth of that time old
// on average when they are seen, and of four polls one brings something; half of that delay would cost twice the polls.
const part = 4

// A rhythm is how often something has changed so far. The zero rhythm is that of what was never seen.
type rhythm struct {
	// Changed is when it changed last, as far as is known.
	Changed time.Time
	// Gap is how far changes are apart, those that were last counting most; 0 if there were none.
	Gap time.Duration
}

// firstRhythm is the rhythm of what is seen for the first time, and changed at that time by its own word, if it has one.
func firstRhythm(modified, now time.Time) rhythm {
	if modified.IsZero() || modified.After(now) {
		modified = now
	}
	return rhythm{Changed: modified}
}

// saw returns the rhythm after a look. The gaps are averaged by their logarithms: the last one is half of it, and three
// quarters if it is shorter than those before, as news that are late are worse than a look in vain. A feed that is
// still for a month and then changes by the minute is followed after two changes, and one that falls silent is left
// alone by its age.
func (r rhythm) saw(changed bool, now time.Time) rhythm {
	if !changed {
		return r
	}
	if r.Changed.IsZero() {
		return rhythm{Changed: now}
	}
	gap := float64(max(now.Sub(r.Changed), time.Second))
	if known := float64(r.Gap); known > 0 {
		weight := 0.5
		if gap < known {
			weight = 0.75
		}
		gap = math.Pow(gap, weight) * math.Pow(known, 1-weight)
	}
	return rhythm{Changed: now, Gap: time.Duration(gap)}
}

// paceBounds are between what intervals are.
type paceBounds struct {
	// First is the interval while nothing is known.
	First    time.Duration
	Min, Max time.Duration
}

// interval returns how long to wait before the next look: a quarter of the time in which a change is expected. That is
// the Gap, or the age of the last change if that is more: what does not change is asked ever less often, which is the
// back-off for feeds that answer 304.
func (r rhythm) interval(now time.Time, b paceBounds) time.Duration {
	if r.Changed.IsZero() {
		return min(max(b.First, b.Min), b.Max)
	}
	expected := max(r.Gap, now.Sub(r.Changed))
	return min(max(expected/part, b.Min), b.Max)
}

// jitter returns a time between d and a tenth more, by chance from 0 to 1: what began together does not stay together,
// and nothing is asked sooner than was said.
func jitter(d time.Duration, chance float64) time.Duration {
	return d + time.Duration(chance*float64(d)/10)
}

// backoff returns how long to wait after so many failures in a row: twice base after the first, twice as long after
// each further one, most at most. Chance, from 0 to 1, adds up to a quarter, so that tries that failed together do not
// come back together.
func backoff(base, most time.Duration, failures int, chance float64) time.Duration {
	d := most
	if shift := max(failures, 1); shift < 32 && base <= most>>shift {
		d = base << shift
	}
	return d + time.Duration(chance*float64(d)/4)
}

// burst is the distance of first looks if there are few of them.
const burst = time.Second

// spread returns when the first look at the i-th of n is, after the first one: all within one interval, evenly, and a
// second apart if they are few.
func spread(i, n int, interval time.Duration) time.Duration {
	return time.Duration(i) * min(interval/time.Duration(max(n, 1)), burst)
}
