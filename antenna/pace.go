package antenna

import (
	"math"
	"time"
)

// part is the number of polls in the time between two changes. With four, news is on average an eighth of that time
// old, and one of four polls finds a change. To halve the delay, twice the polls would be necessary.
const part = 4

// A rhythm is how often something has changed. The zero rhythm is that of a feed that was never polled.
type rhythm struct {
	// Changed is the time of the last known change.
	Changed time.Time
	// Gap is the average time between changes, with recent times weighted more; 0 without changes.
	Gap time.Duration
}

// firstRhythm returns the rhythm after the first poll. modified is the modification time, if known.
func firstRhythm(modified, now time.Time) rhythm {
	if modified.IsZero() || modified.After(now) {
		modified = now
	}
	return rhythm{Changed: modified}
}

// saw returns the rhythm after a poll. Gaps are averaged by their logarithms. The last gap has half of the weight, and
// three quarters if it is shorter than the average, because late news is worse than a poll without news. So two changes
// are enough to follow a feed that was quiet for a month and then changes every minute. A feed that becomes quiet is
// polled less often because of the age of its last change.
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

type paceBounds struct {
	// First is the interval before anything is known.
	First    time.Duration
	Min, Max time.Duration
}

// interval returns the time until the next poll: a quarter of the time until an expected change. The expected time is
// the Gap, or the age of the last change if it is greater. So a feed that does not change is polled less and less
// often.
func (r rhythm) interval(now time.Time, b paceBounds) time.Duration {
	if r.Changed.IsZero() {
		return min(max(b.First, b.Min), b.Max)
	}
	expected := max(r.Gap, now.Sub(r.Changed))
	return min(max(expected/part, b.Min), b.Max)
}

// jitter returns d plus up to a tenth, depending on chance from 0 to 1. So events that began together drift apart, and
// no event comes earlier than announced.
func jitter(d time.Duration, chance float64) time.Duration {
	return d + time.Duration(chance*float64(d)/10)
}

// backoff returns the time to wait after a number of consecutive failures. The time is twice base after the first
// failure, doubles with each failure, and does not exceed most. chance, from 0 to 1, adds up to a quarter, so that
// attempts that failed together are not repeated together.
func backoff(base, most time.Duration, failures int, chance float64) time.Duration {
	d := most
	if shift := max(failures, 1); shift < 32 && base <= most>>shift {
		d = base << shift
	}
	return d + time.Duration(chance*float64(d)/4)
}

// burst is the maximum time between two first polls.
const burst = time.Second

// spread returns when to poll the i-th of n members for the first time, relative to the first: evenly distributed over
// the interval, but at most burst apart.
func spread(i, n int, interval time.Duration) time.Duration {
	return time.Duration(i) * min(interval/time.Duration(max(n, 1)), burst)
}
