package feed

import (
	"cmp"
	"slices"
)

const (
	// Skew is how far clocks may differ: what is further in the future is not believed.
	Skew = 3600
	// Validity is how long a record is good for after its detection, if it does not say: the expiresCount of LIRS, which
	// its specification fixes. Nothing that this old is past it yet.
	Validity = 28800

	// earliest is 1990, before which no date is believed.
	earliest Time = 631152000
)

// believable returns t, or no moment if it is from before there was a web to watch.
func believable(t Time) Time {
	if t < earliest {
		return 0
	}
	return t
}

// detected returns when the metadata of r was obtained, or the best that is known of it. Where the record and its feed
// do not say, it is not own.
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

// GoodUntil returns the last moment at which r may be used and passed on, if there is one (hina-di, section 5.9; LIRS,
// 28800 seconds). A SOIF summary without Time-to-Live does not expire, nor does what a site says of itself: its feed
// and its map stay as they are until something changes.
func (r Record) GoodUntil(now Time) (t Time, ok bool) {
	if r.Expires != 0 {
		return r.Expires, true
	}
	switch r.Format {
	case SOIF, News, Sitemap:
		return 0, false
	}
	t, _ = r.detected(now)
	return t + Validity, true
}

// Choose returns the index of the one record to use of several about the same URL: that with the latest detection, then
// that which passed the fewest agents, then that with the latest Last-Modified, then the first. A detection ahead of
// now is one of now. News of a day count for nothing beside news that say when on that day. Without records it is -1.
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

const day = 24 * 60 * 60

// isNews reports whether r is what a site says of itself, without a detection.
func (r *Record) isNews() bool { return r.Format == News || r.Format == Sitemap }

// outdoes reports whether r says when on the day of other something happened, of which other names the day only.
func (r *Record) outdoes(other *Record) bool {
	return other.isDay() && r.isNews() && other.LastModified < r.LastModified && r.LastModified < other.LastModified+day
}

// isDay reports whether the date of r is that of a day, as most sitemaps have it: it may be any time of that day.
func (r *Record) isDay() bool {
	return r.isNews() && believable(r.LastModified) != 0 && r.LastModified%day == 0
}

// DayOver returns, of a record with the date of a day, when that day is over wherever it was written.
func (r Record) DayOver() (end Time, ok bool) {
	const zones = 12 * 60 * 60 // that of the westernmost zone is over so long after that of UTC
	return r.LastModified + day + zones, r.isDay()
}

// spokeOf returns the moment up to which r knows of its URL, for ranking. News and sitemaps detect nothing: they know of what
// happened up to their own date, and the site was asked after that if another record was detected later.
func (r *Record) spokeOf(now Time) (t Time, own bool) {
	t = believable(r.LastModified)
	switch {
	case t == 0 || !r.isNews():
		return r.detected(now)
	case r.isDay():
		return max(t, min(t+day-1, r.Received)), true
	}
	return t, true
}

// compare is positive if a is to be preferred to b. What stands in for a detection ranks behind every detection, and behind
// every date of news.
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
	return cmp.Or(cmp.Compare(ta, tb), cmp.Compare(b.Hops(), a.Hops()), cmp.Compare(believable(a.LastModified), believable(b.LastModified)))
}
