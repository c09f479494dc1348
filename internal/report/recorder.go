package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"braid/byterange"
	"braid/download"
	"braid/internal/option"
	"braid/source"
)

// A Recorder takes down what happens in one download, for whatever shows it. It is used by one goroutine at a time.
type Recorder struct {
	Facts

	now       time.Duration   // of the last event
	ByID      map[int]*Mirror // by the numbers of the running session
	rest      *Mirror         // stands for those beyond maxMirrors
	running   map[int]*fetch
	comparing time.Duration // since when
	ended     bool
}

// Facts are what is known of one download. They are bounded, however long it lasts: times are thinned out, fetches
// merged, and only totals are exact.
type Facts struct {
	// Limit is how many bytes a second the user allows, for all downloads of the page together; 0 is any number, -1
	// several, one after the other.
	Limit int64

	URL, Path string // the URL is masked
	By        string // the document that describes the file, if one does
	NoDigest  bool   // the server named mirrors and gave no digest
	Progress  download.Progress
	Arrived   int64               // bytes, by what Progress says
	Fetched   int64               // bytes, by what Brought says
	Comparing *download.Comparing // nil while nothing is compared
	Seeding   bool                // peers can have the file
	Mirrors   []*Mirror           // in the order in which the events named them

	began   time.Time
	size    int64 // -1 while unknown
	named   int   // mirrors that the server named
	prior   []byterange.Range
	resumed int64

	most      int // fetches at once
	past      fetches
	losses    []*loss
	takeovers map[takeover]int
	reasons   tally

	width   time.Duration // of a column
	total   series        // bytes
	work    series        // seconds of fetches
	picture raster
	void    byterange.Set // was wrong, and has not come again
	silent  gaps          // of fetches that ran
	pauses  gaps          // between the tries of a source
	still   gaps          // nothing came from any source
	checks  gaps          // what came was compared with what other sources have
	log     log

	answer, first, last time.Duration // the first answer, first and last byte; never if there is none
	complete, verified  time.Duration
	restarts            []entry
	restarted           int
	lost                int64 // what was fetched until the last new beginning
	refused             bool  // a source answered, and not with the file

	end    time.Duration
	live   bool // it goes on
	result download.Result
	err    error

	number  int       // on the page
	ranked  []*Mirror // those that were asked; those that brought most are first
	brought []*Mirror // those of them that brought something
}

// NewRecorder makes a recorder for a download that begins now.
func NewRecorder(now time.Time) *Recorder {
	return &Recorder{
		Facts: Facts{
			began: now, size: -1, width: firstColumn, Progress: download.Progress{Size: -1}, takeovers: map[takeover]int{}, reasons: tally{},
			answer: never, first: never, last: never, complete: never, verified: never,
		},
		ByID: map[int]*Mirror{}, running: map[int]*fetch{},
	}
}

// Observe takes down an event of [download.Request.Observe].
func (r *Recorder) Observe(at time.Time, ev download.Event) {
	r.advance(at)
	r.compare(ev)
	switch ev := ev.(type) {
	case download.Started:
		r.URL, r.Path = ev.URL, ev.Path
	case download.Resumed:
		r.resume(ev)
	case download.Offered:
		r.offer(ev)
	case download.SourceUp:
		r.up(ev)
	case download.SourceDown:
		r.down(ev)
	case download.Progress:
		r.Arrived += max(0, ev.Done-r.Progress.Done)
		r.Progress = ev
		r.resize(ev.Size)
	case download.Voided:
		r.void.Add(ev.Range)
	case download.Restarted:
		r.restart(ev)
	case download.Complete:
		r.complete = r.now
		r.say(false, "every byte is here")
	case download.Verified:
		r.verified = r.now
		r.say(false, "checked: %s", ev.Proof)
	case download.Seeding:
		if !r.Seeding {
			r.Seeding = true
			r.say(false, "the file is in place; peers can have it")
		}
	case download.Note:
		r.say(false, "%s", ev.Text)
	default:
		r.observeFetch(ev)
	}
}

// End takes down how the download ended. No event may follow.
func (r *Recorder) End(at time.Time, res download.Result, err error) {
	r.advance(at)
	r.endComparison()
	for _, number := range slices.Sorted(maps.Keys(r.running)) {
		r.finish(r.running[number], nil)
	}
	for _, m := range r.Mirrors {
		r.endPause(m)
	}
	if r.first != never && r.complete == never {
		r.stood(r.last)
	}
	r.end, r.result, r.err, r.ended = r.now, res, err, true
	r.resize(res.Size)
	r.Path = cmp.Or(r.Path, res.Path)
	r.settle()
}

// advance moves the time on. It never goes back, whatever the clock says.
func (r *Recorder) advance(at time.Time) {
	r.now = max(r.now, at.Sub(r.began))
	for r.now >= r.width*maxColumns {
		r.width *= 2
		r.total.halve()
		r.work.halve()
		r.picture.halve()
		for _, m := range r.Mirrors {
			m.flow.halve()
		}
	}
}

// say adds a line to the log.
func (r *Recorder) say(bad bool, format string, args ...any) {
	r.log.add(entry{r.now, option.Shorten(source.Escape(fmt.Sprintf(format, args...)), 300), bad})
}

func (r *Recorder) resume(ev download.Resumed) {
	r.resumed, r.Progress.Done = ev.Bytes, ev.Bytes
	r.prior = slices.Collect(ev.Have.All())
	if len(r.prior) > maxRows { // those that can be seen
		slices.SortStableFunc(r.prior, func(a, b byterange.Range) int { return cmp.Compare(b.Len(), a.Len()) })
		r.prior = slices.Clone(r.prior[:maxRows])
	}
	r.say(false, "%s are here from an earlier run", option.SizeText(ev.Bytes))
}

func (r *Recorder) offer(ev download.Offered) {
	r.resize(ev.File.Size)
	r.named, r.NoDigest, r.By = max(r.named, len(ev.File.Mirrors)), ev.File.NoDigest, cmp.Or(ev.By, r.By)
	size := "a file of unknown size"
	if ev.File.Size >= 0 {
		size = option.SizeText(ev.File.Size)
	}
	r.say(false, "the server offers %s, %s, %s", size, option.Count(len(ev.File.Claims), "digest"), option.Count(len(ev.File.Mirrors), "mirror"))
}

// resize takes the size of the file as soon as it is known.
func (r *Recorder) resize(size int64) {
	if size > r.size {
		r.size = size
		r.picture.fit(size)
	}
}

func (r *Recorder) up(ev download.SourceUp) {
	m := r.mirror(ev.ID, ev.URL, ev.Host)
	m.up, m.whole, m.RTT = true, ev.Whole, ev.RTT
	whole := ""
	if ev.Whole {
		whole = "; it sends the whole file in place of a range"
	}
	r.say(false, "%s answers for the first time (%s away)%s", m.Host, option.TimeText(ev.RTT), whole)
}

func (r *Recorder) down(ev download.SourceDown) {
	m := r.mirror(ev.ID, ev.URL, ev.Host)
	m.up, m.failure, r.refused = false, Why(ev.Err, m.Host), r.refused || answered(ev.Err)
	switch {
	case ev.Banned:
		m.banned, m.goneAt = true, r.now
		r.say(true, "%s is dropped for wrong content: %s", m.Host, m.failure)
	case ev.Gone:
		m.gone, m.goneAt = true, r.now
		r.say(true, "%s is given up: %s", m.Host, m.failure)
	default:
		m.pause = &gap{m, r.now, r.now + ev.Back}
		r.say(true, "%s failed and is asked again in %s at the earliest: %s", m.Host, option.TimeText(ev.Back), m.failure)
	}
}

// endPause ends the pause of a source that is asked again, or of a download that ended.
func (r *Recorder) endPause(m *Mirror) {
	if m.pause != nil {
		m.pause.to = min(m.pause.to, r.now)
		r.pauses.add(*m.pause)
		m.pause = nil
	}
}

func (r *Recorder) restart(ev download.Restarted) {
	clear(r.ByID) // the numbers of the sources begin anew
	text := option.Shorten(source.Escape(ev.Reason), 200)
	if r.Progress.Done > 0 || r.Fetched > r.lost { // else nothing is lost, and the failure is that of a source
		r.restarted++
		if len(r.restarts) < maxMarks {
			r.restarts = append(r.restarts, entry{r.now, text, true})
		}
	}
	r.lost = r.Fetched
	r.complete, r.resumed, r.prior, r.Progress.Done, r.void = never, 0, nil, 0, byterange.Set{}
	r.say(true, "it begins again: %s", text)
}

// maxMarks is how many lines across all pictures there are.
const maxMarks = 8

// compare takes down when what came is compared with what other sources have: from the first event that says so to the
// first one that is about something else. Nothing of the file comes in that time, which is no fault of a source.
func (r *Recorder) compare(ev download.Event) {
	switch ev := ev.(type) {
	case download.Comparing:
		if r.Comparing == nil {
			r.comparing = r.now
			r.say(true, "the file is wrong somewhere: what came is compared with what other sources have")
		}
		r.Comparing = &ev
	case download.Note, download.SourceDown:
	default:
		r.endComparison()
	}
}

func (r *Recorder) endComparison() {
	if r.Comparing != nil {
		r.checks.add(gap{nil, r.comparing, r.now})
		r.say(false, "%s were compared", option.SizeText(r.Comparing.Done))
		r.Comparing = nil
	}
}

// stood takes note that nothing came since a time from any source, except for the time of comparisons.
func (r *Recorder) stood(since time.Duration) {
	for _, g := range append(slices.Clone(r.checks), gap{nil, r.now, r.now}) { // in the order of time
		if g.from-since > quietAfter {
			r.still.add(gap{nil, since, g.from})
		}
		since = max(since, g.to)
	}
}
