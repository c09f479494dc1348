package report

import (
	"cmp"
	"slices"
	"time"

	"braid/byterange"
	"braid/download"
)

const never = -1

// course records when the download reached its milestones, and when it made no progress.
type course struct {
	answer, first, last time.Duration // first answer, first byte and last byte; never until it has come
	complete, verified  time.Duration
	still               gaps // periods without data from any source
	refused             bool // a source answered, but did not send the file
}

func newCourse() course {
	return course{answer: never, first: never, last: never, complete: never, verified: never}
}

// answered records that a source has answered.
func (c *course) answered(now time.Duration) {
	if c.answer == never {
		c.answer = now
	}
}

// failed records err, the error of a source.
func (c *course) failed(err error) { c.refused = c.refused || answered(err) }

// came records that data has arrived. checks are the comparisons so far.
func (c *course) came(now time.Duration, checks gaps) {
	if c.first == never {
		c.first = now
	} else {
		c.stood(max(c.last, 0), now, checks)
	}
	c.last = now
}

// finish records that the download has ended. checks are the comparisons so far.
func (c *course) finish(now time.Duration, checks gaps) {
	if c.first != never && c.complete == never {
		c.stood(c.last, now, checks)
	}
}

// stood records the periods without bytes from any source, between since and now. Comparisons do not count.
func (c *course) stood(since, now time.Duration, checks gaps) {
	for _, g := range append(slices.Clone(checks), gap{nil, now, now}) { // in ascending order
		if g.from-since > quietAfter {
			c.still.add(gap{nil, since, g.from})
		}
		since = max(since, g.to)
	}
}

// offer has the statements of servers and documents about the file.
type offer struct {
	By       string // name of the document that describes the file, if any
	NoDigest bool   // the server named mirrors but sent no digest
	named    int    // number of mirrors that the server named
}

func (o *offer) add(ev download.Offered) {
	o.named, o.NoDigest, o.By = max(o.named, len(ev.File.Mirrors)), ev.File.NoDigest, cmp.Or(ev.By, o.By)
}

// amounts counts the bytes of the file that are complete and that were received.
type amounts struct {
	Progress download.Progress
	Arrived  int64 // bytes received according to Progress events
	Fetched  int64 // bytes received according to Brought events

	size int64         // size of the file; -1 while it is unknown
	lost int64         // bytes received before the last restart
	void byterange.Set // ranges that were wrong and have not been received again
}

func newAmounts() amounts { return amounts{size: -1, Progress: download.Progress{Size: -1}} }

// advance sets Progress to p.
func (a *amounts) advance(p download.Progress) {
	a.Arrived += max(0, p.Done-a.Progress.Done)
	a.Progress = p
}

// came records that the range r was received.
func (a *amounts) came(r byterange.Range) {
	a.void.Remove(r)
	a.Fetched += r.Len()
}

// restart records that the download begins again from zero. It reports whether any bytes had been received.
func (a *amounts) restart() (had bool) {
	had = a.Progress.Done > 0 || a.Fetched > a.lost
	a.lost, a.Progress.Done, a.void = a.Fetched, 0, byterange.Set{}
	return had
}

// earlier has the bytes that an earlier run received.
type earlier struct {
	bytes  int64
	ranges []byterange.Range // at most maxRows, the longest
}

func newEarlier(ev download.Resumed) earlier {
	e := earlier{ev.Bytes, slices.Collect(ev.Have.All())}
	if len(e.ranges) > maxRows { // short ranges would be invisible
		slices.SortStableFunc(e.ranges, func(a, b byterange.Range) int { return cmp.Compare(b.Len(), a.Len()) })
		e.ranges = slices.Clone(e.ranges[:maxRows])
	}
	return e
}

// restarts records when received bytes were discarded and the download began again.
type restarts struct {
	first []entry // at most maxMarks
	count int
}

// maxMarks is the maximum of vertical lines across all charts.
const maxMarks = 8

func (r *restarts) add(e entry) {
	r.count++
	if len(r.first) < maxMarks {
		r.first = append(r.first, e)
	}
}

// comparison records the periods of comparing received bytes with bytes of other sources. Such a period begins with the first
// Comparing event, and ends with the first event about something else. If no data arrives in it, no source is at fault.
type comparison struct {
	Comparing *download.Comparing // nil unless a comparison is in progress
	since     time.Duration       // when that comparison began
	checks    gaps                // earlier comparisons
}

// advance sets the progress of the comparison to p. began reports whether the comparison has just begun.
func (c *comparison) advance(now time.Duration, p download.Comparing) (began bool) {
	if began = c.Comparing == nil; began {
		c.since = now
	}
	c.Comparing = &p
	return began
}

// finish ends the comparison, if one is in progress. bytes is the number of bytes that it compared.
func (c *comparison) finish(now time.Duration) (bytes int64, ended bool) {
	if c.Comparing == nil {
		return 0, false
	}
	bytes = c.Comparing.Done
	c.checks.add(gap{nil, c.since, now})
	c.Comparing = nil
	return bytes, true
}

// within returns how much of the time between from and to was spent on comparisons.
func (c *comparison) within(from, to time.Duration) (sum time.Duration) {
	for _, g := range c.checks {
		sum += max(0, min(g.to, to)-max(g.from, from))
	}
	return sum
}
