package feed

import "math"

// SeenUntil returns until when r spares its site a further look (LIRS: so that not every agent asks the sites):
// Validity after its detection, or until it expires if that is sooner. It is no spare if r does not say when it was
// obtained, or is of no use; news and sitemaps say when something was written, not that the site was looked at. A
// record that is good for months keeps no agent from looking for months, and one that was detected ahead of now was
// detected now.
func (r Record) SeenUntil(now Time) (until Time, ok bool) {
	detected, own := r.detected(now)
	if _, ok := r.Usable(now); !own || r.isNews() || !ok {
		return 0, false
	}
	until = min(detected, now) + Validity
	if good, ends := r.GoodUntil(now); ends {
		until = min(until, good)
	}
	return until, until >= now
}

// Before reports whether r is to be preferred to other, a record of the same feed, as Choose does.
func (r Record) Before(other Record) bool {
	if r.outdoes(&other) || other.outdoes(&r) {
		return r.outdoes(&other)
	}
	return compare(&r, &other, math.MaxInt64) > 0
}
