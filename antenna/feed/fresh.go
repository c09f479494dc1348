package feed

import "math"

// SeenUntil returns the time until which the site of r need not be asked again, because another agent asked it (LIRS).
// This is Validity after the detection, or the expiry if it is sooner. A detection in the future is treated as now. ok
// is false if r has no detection of its own or is unusable. It is also false for news and sitemaps, whose date does not
// mean that the site was asked.
func (r Record) SeenUntil(now Time) (until Time, ok bool) {
	detected, own := r.detected(now)
	if _, ok := r.Usable(now); !own || r.IsNews() || !ok {
		return 0, false
	}
	until = min(detected, now) + Validity
	if good, ends := r.GoodUntil(now); ends {
		until = min(until, good)
	}
	return until, until >= now
}

// Before reports whether r is preferred to other, a record of the same feed, by the rules of Choose.
func (r Record) Before(other Record) bool {
	if r.outdoes(&other) || other.outdoes(&r) {
		return r.outdoes(&other)
	}
	return compare(&r, &other, math.MaxInt64) > 0
}
