package feed

import (
	"cmp"
	"slices"
)

const (
	// Skew is how far clocks may differ. A time further in the future is not believed.
	Skew = 3600
	// Validity is how long a record is valid after its detection, if it has no expiry: the expiresCount of LIRS, a
	// constant of its specification. A record of exactly this age is still valid.
	Validity = 28800

	// earliest is 1990. Earlier dates are not believed.
	earliest Time = 631152000
)

// believable returns t, or 0 if t is too early to be true.
func believable(t Time) Time {
	if t < earliest {
		return 0
	}
	return t
}

// detected returns when the metadata of r was obtained, or the best estimate. own reports that the record or its feed
// states the time. Otherwise the time is an estimate.
func (r *Record) detected(now Time) (t Time, own bool) {
	for _, t := range []Time{r.Detected, r.Date, r.FeedDate} {
		if t = believable(t); t != 0 {
			return t, true
		}
	}
	if t = believable(r.Received); t != 0 {
		return t, false
	}
	return now, false
}

// GoodUntil returns the last moment at which r may be used and passed on (hina-di, section 5.9; LIRS, 28800 seconds).
// ok is false if r does not expire. A SOIF summary without Time-to-Live does not expire. A report of the site itself
// does not expire either, because it holds until the site changes.
func (r Record) GoodUntil(now Time) (t Time, ok bool) {
	if r.Expires != 0 {
		return r.Expires, true
	}
	switch r.Format {
	case SOIF, News, Sitemap, IndexPage, ReleaseAPI:
		return 0, false
	}
	t, _ = r.detected(now)
	return t + Validity, true
}

// Choose returns the index of the record to use among several about the same URL. It prefers the latest detection, then
// the fewest agents in between, then the latest Last-Modified, then the first record. A future detection is treated as
// now. News with only a date is ignored if other news has a time on that day. Choose returns -1 without records.
func Choose(records []Record, now Time) int {
	best := -1
	for i := range records {
		if records[i].isDay() && slices.ContainsFunc(records, func(r Record) bool { return r.outdoes(&records[i]) }) {
			continue
		}
		if best < 0 || compare(&records[i], &records[best], now) > 0 {
			best = i
		}
	}
	return best
}

const (
	day          = 24 * 60 * 60
	farthestZone = 14 * 60 * 60
)

// zones returns how far the time of r may be ahead of UTC, because index pages have local times without a zone.
func (r *Record) zones() Time {
	if r.Format == IndexPage {
		return farthestZone
	}
	return 0
}

// SurelyAfter reports whether the modification time of r is later than t in every time zone that it may be in.
func (r *Record) SurelyAfter(t Time) bool { return r.LastModified-r.zones() > t }

// IsNews reports whether r was published by the site itself, without a detection.
func (r *Record) IsNews() bool {
	switch r.Format {
	case News, Sitemap, IndexPage, ReleaseAPI:
		return true
	}
	return false
}

// outdoes reports whether r has a time on the day of other, and other has only the date.
func (r *Record) outdoes(other *Record) bool {
	return other.isDay() && r.IsNews() && other.LastModified < r.LastModified && r.LastModified < other.LastModified+day
}

// isDay reports whether r has only a date, as in most sitemaps. The change may have happened at any time of that day.
func (r *Record) isDay() bool {
	return r.IsNews() && believable(r.LastModified) != 0 && r.LastModified%day == 0
}

// DayOver returns when the day of r is over in every time zone. ok is false if r has a time.
func (r Record) DayOver() (end Time, ok bool) {
	const zones = 12 * 60 * 60 // the day ends last in the westernmost zone
	return r.LastModified + day + zones, r.isDay()
}

// spokeOf returns the time that Choose compares: the detection or, for news, which have no detection, the modification
// time. own is false for an estimate. A record that was detected after the time of news is preferred, because the site
// was asked later.
func (r *Record) spokeOf(now Time) (t Time, own bool) {
	t = believable(r.LastModified)
	switch {
	case t == 0 || !r.IsNews():
		return r.detected(now)
	case r.isDay():
		return max(t, min(t+day-1, r.Received)), true
	}
	return t, true
}

// compare returns a positive number if a is preferred to b. An estimated detection ranks behind every detection and
// behind every date of news.
func compare(a, b *Record, now Time) int {
	ta, owna := a.spokeOf(0)
	tb, ownb := b.spokeOf(0)
	ta, tb = min(ta, now), min(tb, now)
	if owna != ownb {
		if owna {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(ta, tb), cmp.Compare(b.Hops(), a.Hops()),
		cmp.Compare(believable(a.LastModified), believable(b.LastModified)))
}
