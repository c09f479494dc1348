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

// Recorder records the events of one download. It is not safe for concurrent use.
type Recorder struct {
	Facts

	now       time.Duration   // time of the last event
	ByID      map[int]*Mirror // by the IDs of the running session
	rest      *Mirror         // shared by the sources beyond maxMirrors
	running   map[int]*fetch
	comparing time.Duration // start of the comparison
	ended     bool
}

// Facts are the recorded facts about one download. Their size is bounded: times are thinned out and fetches merged, so
// that only totals are exact.
type Facts struct {
	// Limit is the user's limit in bytes a second, for all downloads of the page together. 0 means no limit, and -1
	// several limits, one after the other.
	Limit int64

	URL, Path string // the URL is masked
	By        string // the document that describes the file, if any
	NoDigest  bool   // the server named mirrors but sent no digest
	Progress  download.Progress
	Arrived   int64               // bytes, according to Progress events
	Fetched   int64               // bytes, according to Brought events
	Comparing *download.Comparing // nil unless a comparison is running
	Seeding   bool                // the file is offered to peers
	Mirrors   []*Mirror           // in the order of their first events

	began   time.Time
	size    int64 // -1 while unknown
	named   int   // number of mirrors that the server named
	prior   []byterange.Range
	resumed int64

	most      int // maximum of concurrent fetches
	past      fetches
	losses    []*loss
	takeovers map[takeover]int
	reasons   tally

	width   time.Duration // of a column
	total   series        // in bytes
	work    series        // in seconds of fetches
	picture raster
	void    byterange.Set // was wrong and has not been fetched again
	silent  gaps          // within fetches
	pauses  gaps          // between the attempts of a source
	still   gaps          // no source sent bytes
	checks  gaps          // received bytes were compared with those of other sources
	log     log

	answer, first, last time.Duration // first answer, first and last byte; never, if not yet
	complete, verified  time.Duration
	restarts            []entry
	restarted           int
	lost                int64 // bytes fetched before the last restart
	refused             bool  // a source answered, but not with the file

	end    time.Duration
	live   bool // the download is running
	result download.Result
	err    error

	number  int       // on the page
	ranked  []*Mirror // the sources that were asked, by bytes in descending order
	brought []*Mirror // those of ranked that sent bytes
}

// NewRecorder returns a Recorder for a download that begins at now.
func NewRecorder(now time.Time) *Recorder {
	return &Recorder{
		Facts: Facts{
			began: now, size: -1, width: firstColumn, Progress: download.Progress{Size: -1},
			takeovers: map[takeover]int{}, reasons: tally{},
			answer: never, first: never, last: never, complete: never, verified: never,
		},
		ByID: map[int]*Mirror{}, running: map[int]*fetch{},
	}
}

// Observe records an event of [download.Request.Observe].
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

// End records the end of the download. Observe must not be called afterwards.
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

// advance sets the present time. The time never decreases, even if the clock does.
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
	if len(r.prior) > maxRows { // keep those that are long enough to be visible
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
	r.say(false, "the server offers %s, %s, %s", size, option.Count(len(ev.File.Claims), "digest"),
		option.Count(len(ev.File.Mirrors), "mirror"))
}

// resize sets the size of the file, and fits the chart to it.
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

// endPause ends the pause of a source, because it is asked again or the download has ended.
func (r *Recorder) endPause(m *Mirror) {
	if m.pause != nil {
		m.pause.to = min(m.pause.to, r.now)
		r.pauses.add(*m.pause)
		m.pause = nil
	}
}

func (r *Recorder) restart(ev download.Restarted) {
	clear(r.ByID) // a new session assigns new IDs
	text := option.Shorten(source.Escape(ev.Reason), 200)
	if r.Progress.Done > 0 || r.Fetched > r.lost { // otherwise nothing is lost: the failure is recorded with its source
		r.restarted++
		if len(r.restarts) < maxMarks {
			r.restarts = append(r.restarts, entry{r.now, text, true})
		}
	}
	r.lost = r.Fetched
	r.complete, r.resumed, r.prior, r.Progress.Done, r.void = never, 0, nil, 0, byterange.Set{}
	r.say(true, "it begins again: %s", text)
}

// maxMarks is the maximum of vertical lines across all charts.
const maxMarks = 8

// compare records the time during which received bytes are compared with those of other sources. It lasts from the
// first Comparing event to the first event about something else. No source is to blame that no bytes arrive in that
// time.
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

// stood records that no bytes arrived from any source since a time, apart from comparisons.
func (r *Recorder) stood(since time.Duration) {
	for _, g := range append(slices.Clone(r.checks), gap{nil, r.now, r.now}) { // in ascending order
		if g.from-since > quietAfter {
			r.still.add(gap{nil, since, g.from})
		}
		since = max(since, g.to)
	}
}
