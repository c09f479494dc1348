package report

import (
	"cmp"
	"slices"
	"time"

	"braid/byterange"
	"braid/download"
)

const never = -1

// course records when the download reached its milestones, and when it did not advance.
type course struct {
	answer, first, last time.Duration // first answer, first and last byte; never, if they have not come yet
	complete, verified  time.Duration
	still               gaps // times in which no source sent bytes
	refused             bool // a source answered, but sent no file
}

func newCourse() course {
	return course{answer: never, first: never, last: never, complete: never, verified: never}
}

// answered records an answer of a source.
func (c *course) answered(now time.Duration) {
	if c.answer == never {
		c.answer = now
	}
}

// failed records the error of a source.
func (c *course) failed(err error) { c.refused = c.refused || answered(err) }

// came records that bytes arrived. checks has the comparisons until now.
func (c *course) came(now time.Duration, checks gaps) {
	if c.first == never {
		c.first = now
	} else {
		c.stood(max(c.last, 0), now, checks)
	}
	c.last = now
}

// finish records the end of the download.
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

// offer has facts about the file from servers and documents.
type offer struct {
	By       string // the document that describes the file, if any
	NoDigest bool   // the server named mirrors but sent no digest
	named    int    // number of mirrors that the server named
}

func (o *offer) add(ev download.Offered) {
	o.named, o.NoDigest, o.By = max(o.named, len(ev.File.Mirrors)), ev.File.NoDigest, cmp.Or(ev.By, o.By)
}

// amounts are the bytes of the file and of the download.
type amounts struct {
	Progress download.Progress
	Arrived  int64 // bytes, according to Progress events
	Fetched  int64 // bytes, according to Brought events

	size int64         // -1 while unknown
	lost int64         // bytes fetched before the last restart
	void byterange.Set // was wrong and has not been fetched again
}

func newAmounts() amounts { return amounts{size: -1, Progress: download.Progress{Size: -1}} }

// advance replaces the progress.
func (a *amounts) advance(p download.Progress) {
	a.Arrived += max(0, p.Done-a.Progress.Done)
	a.Progress = p
}

// came records received bytes.
func (a *amounts) came(r byterange.Range) {
	a.void.Remove(r)
	a.Fetched += r.Len()
}

// restart resets the amounts for a new start from zero, and reports whether any bytes had been received.
func (a *amounts) restart() (had bool) {
	had = a.Progress.Done > 0 || a.Fetched > a.lost
	a.lost, a.Progress.Done, a.void = a.Fetched, 0, byterange.Set{}
	return had
}

// earlier has the bytes that an earlier run received.
type earlier struct {
	bytes  int64
	ranges []byterange.Range // the maxRows longest
}

func newEarlier(ev download.Resumed) earlier {
	e := earlier{ev.Bytes, slices.Collect(ev.Have.All())}
	if len(e.ranges) > maxRows { // keep the ranges that are long enough to be visible
		slices.SortStableFunc(e.ranges, func(a, b byterange.Range) int { return cmp.Compare(b.Len(), a.Len()) })
		e.ranges = slices.Clone(e.ranges[:maxRows])
	}
	return e
}

// restarts are the times at which bytes were discarded and the download began again.
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

// comparison records the periods during which received bytes are compared with bytes of other sources. Such a period
// lasts from the first Comparing event to the first event about something else. No source is at fault if no bytes
// arrive meanwhile.
type comparison struct {
	Comparing *download.Comparing // nil unless a comparison is running
	since     time.Duration       // start of the comparison
	checks    gaps                // past comparisons
}

// advance replaces the progress of the comparison, and reports whether the comparison has just begun.
func (c *comparison) advance(now time.Duration, p download.Comparing) (began bool) {
	if began = c.Comparing == nil; began {
		c.since = now
	}
	c.Comparing = &p
	return began
}

// finish ends the comparison, if one is running, and returns the number of compared bytes.
func (c *comparison) finish(now time.Duration) (bytes int64, ended bool) {
	if c.Comparing == nil {
		return 0, false
	}
	bytes = c.Comparing.Done
	c.checks.add(gap{nil, c.since, now})
	c.Comparing = nil
	return bytes, true
}

// within returns the time within a period that was spent on comparisons.
func (c *comparison) within(from, to time.Duration) (sum time.Duration) {
	for _, g := range c.checks {
		sum += max(0, min(g.to, to)-max(g.from, from))
	}
	return sum
}
