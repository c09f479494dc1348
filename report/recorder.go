package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"braid/byterange"
	"braid/download"
	"braid/internal/option"
	"braid/scheduler"
	"braid/source"
)

// A Recorder takes down what happens in one download. It is told by one goroutine at a time. What it keeps is bounded,
// however long the download lasts: times are thinned out, fetches merged, and only totals are exact.
type Recorder struct {
	// Limit is how many bytes a second the user allows, for all downloads of the page together; 0 is any number.
	Limit int64

	began time.Time
	now   time.Duration // of what is being told

	url, path string
	size      int64 // -1 while unknown
	named     int   // mirrors that the server named
	noDigest  bool  // it named mirrors and gave no digest
	gives     bool  // peers can have the file
	prior     []byterange.Range
	resumed   int64

	mirrors []*mirror
	byID    map[int]*mirror // by the numbers of the running session
	rest    *mirror         // stands for those beyond maxMirrors
	running map[int]*fetch
	most    int // running at once
	past    fetches
	losses  []*loss
	thefts  map[theft]int

	width   time.Duration // of a column
	total   series        // bytes
	work    series        // seconds of fetches
	picture raster
	silent  gaps // of fetches that ran
	pauses  gaps // between the tries of a source
	still   gaps // nothing came from anybody
	checks  gaps // what came was compared with what other sources have
	log     log

	answer, first, last time.Duration // the first answer, first and last byte; never if there is none
	complete, verified  time.Duration
	comparing           time.Duration // since when; never if it is not
	compared            int64
	restarts            []entry
	restarted           int

	end    time.Duration
	result download.Result
	err    error

	number int // on the page
	labels map[*mirror]string
	rank   map[*mirror]int // by bytes
}

// NewRecorder makes a recorder for a download that begins now.
func NewRecorder(now time.Time) *Recorder {
	return &Recorder{
		began: now, size: -1, width: firstColumn,
		byID: map[int]*mirror{}, running: map[int]*fetch{}, thefts: map[theft]int{},
		answer: never, first: never, last: never, complete: never, verified: never, comparing: never,
	}
}

// Observe takes down an event of [download.Request.Observe].
func (r *Recorder) Observe(at time.Time, ev download.Event) {
	r.reach(at)
	r.compare(ev)
	switch ev := ev.(type) {
	case download.Started:
		r.url, r.path = source.Escape(ev.URL), source.Escape(ev.Path)
	case download.Resumed:
		r.resume(ev)
	case download.Offered:
		r.offered(ev)
	case download.SourceUp:
		r.up(ev)
	case download.SourceDown:
		r.down(ev)
	case download.Brought:
		r.brought(ev)
	case download.Progress:
		r.resize(ev.Size)
	case download.Restarted:
		r.restart(ev)
	case download.Complete:
		r.complete = r.now
		r.say(false, "every byte is here")
	case download.Verified:
		r.verified = r.now
		r.say(false, "checked: %s", ev.Proof)
	case download.Seeding:
		if !r.gives {
			r.gives = true
			r.say(false, "the file is in place; peers can have it")
		}
	case download.Note:
		r.say(false, "%s", ev.Text)
	default:
		r.observeFetch(ev)
	}
}

// observeFetch takes down what happens to one fetch.
func (r *Recorder) observeFetch(ev download.Event) {
	switch ev := ev.(type) {
	case download.RangeStarted:
		r.started(ev)
	case download.RangeAnswered:
		r.answered(ev)
	case download.RangeCut:
		r.cut(ev)
	case download.RangeEnded:
		r.endedFetch(ev)
	}
}

// End takes down how the download ended. Nothing may be told after it.
func (r *Recorder) End(at time.Time, res download.Result, err error) {
	r.reach(at)
	r.endComparison()
	for _, number := range sortedKeys(r.running) {
		r.finish(r.running[number])
	}
	for _, m := range r.mirrors {
		r.endPause(m)
	}
	if r.first != never && r.complete == never {
		r.stood(r.last)
	}
	r.end, r.result, r.err = r.now, res, err
	r.resize(res.Size)
	r.path = cmp.Or(r.path, source.Escape(res.Path))
	r.settle()
}

// reach moves the time on. It never goes back, whatever the clock says.
func (r *Recorder) reach(at time.Time) {
	r.now = max(r.now, at.Sub(r.began))
	for r.now >= r.width*maxColumns {
		r.width *= 2
		r.total.halve()
		r.work.halve()
		r.picture.halve()
		for _, m := range r.mirrors {
			m.flow.halve()
		}
	}
}

// say adds a line to the log.
func (r *Recorder) say(bad bool, format string, args ...any) {
	r.log.add(entry{r.now, option.Shorten(source.Escape(fmt.Sprintf(format, args...)), 300), bad})
}

func (r *Recorder) resume(ev download.Resumed) {
	r.resumed = ev.Bytes
	r.prior = slices.Collect(ev.Have.All())
	if len(r.prior) > maxRows { // those that can be seen
		slices.SortStableFunc(r.prior, func(a, b byterange.Range) int { return cmp.Compare(b.Len(), a.Len()) })
		r.prior = slices.Clone(r.prior[:maxRows])
	}
	r.say(false, "%s are here from an earlier run", option.SizeText(ev.Bytes))
}

func (r *Recorder) offered(ev download.Offered) {
	r.resize(ev.File.Size)
	r.named, r.noDigest = max(r.named, len(ev.File.Mirrors)), ev.File.NoDigest
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
	m.up, m.rtt = true, ev.RTT
	whole := ""
	if ev.Whole {
		whole = "; it sends the whole file in place of a range"
	}
	r.say(false, "%s answers for the first time (%s away)%s", m.host, option.TimeText(ev.RTT), whole)
}

func (r *Recorder) down(ev download.SourceDown) {
	m := r.mirror(ev.ID, ev.URL, ev.Host)
	m.failure = failureText(ev.Err, m.host)
	switch {
	case ev.Banned:
		m.banned, m.goneAt = true, r.now
		r.say(true, "%s is dropped for wrong content: %s", m.host, m.failure)
	case ev.Gone:
		m.gone, m.goneAt = true, r.now
		r.say(true, "%s is given up: %s", m.host, m.failure)
	default:
		m.pause = &gap{m, r.now, r.now + ev.Back}
		r.say(true, "%s failed and is asked again in %s at the earliest: %s", m.host, option.TimeText(ev.Back), m.failure)
	}
}

// endPause: a source is asked again, or nothing more happens.
func (r *Recorder) endPause(m *mirror) {
	if m.pause == nil {
		return
	}
	m.pause.to = min(m.pause.to, r.now)
	r.pauses.add(*m.pause)
	m.pause = nil
}

func (r *Recorder) restart(ev download.Restarted) {
	clear(r.byID) // the numbers of the sources begin anew
	r.restarted++
	text := option.Shorten(source.Escape(ev.Reason), 200)
	if len(r.restarts) < maxMarks {
		r.restarts = append(r.restarts, entry{r.now, text, true})
	}
	r.complete, r.resumed, r.prior = never, 0, nil
	r.say(true, "it begins again: %s", text)
}

// maxMarks is how many lines across all pictures there are.
const maxMarks = 8

// failureText is an error without the name of the host, which stands before it anyway.
func failureText(err error, host string) string {
	if err == nil {
		return ""
	}
	return option.Shorten(strings.TrimPrefix(source.Escape(err.Error()), host+": "), 160)
}

func sortedKeys(m map[int]*fetch) (keys []int) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// started: a source is asked for a range.
func (r *Recorder) started(ev download.RangeStarted) {
	m := r.mirror(ev.ID, ev.URL, ev.Host)
	if m.asked++; m.asked == 1 {
		m.first = r.now
	}
	if m.running++; m.running == 1 {
		m.since = r.now
	}
	m.starts.count(ev.Why)
	r.endPause(m)
	f := &fetch{
		who: m, number: ev.Fetch, asked: r.now, answered: never, heard: r.now, why: ev.Why,
		from: ev.Range.Start, to: ev.Range.End, at: ev.Range.Start,
	}
	if ev.Why == scheduler.ReasonSplit {
		r.steal(f)
	}
	r.running[ev.Fetch] = f
	r.most = max(r.most, len(r.running))
	r.take(f)
	if ev.Why != scheduler.ReasonNext {
		r.say(false, "%s is asked for %s from %s on: %s", m.host, sizeOf(ev.Range), option.SizeText(ev.Range.Start), startTexts[ev.Why])
	}
}

func sizeOf(x byterange.Range) string {
	if x.End == byterange.Unbounded {
		return "everything"
	}
	return option.SizeText(x.Len())
}

// steal counts who takes over from whom.
func (r *Recorder) steal(f *fetch) {
	for _, number := range sortedKeys(r.running) {
		v := r.running[number]
		if v.cut == scheduler.ReasonSplit && v.to == f.from {
			r.thefts[theft{f.who, v.who}]++
			return
		}
	}
}

func (r *Recorder) answered(ev download.RangeAnswered) {
	f := r.running[ev.Fetch]
	if f == nil {
		return
	}
	f.answered, f.heard = r.now, r.now
	if host := source.Escape(ev.Host); host != "" && f.who != r.rest {
		f.who.host = host
	}
	if ev.RTT > 0 {
		f.who.rtt = ev.RTT
	}
	if r.answer == never {
		r.answer = r.now
	}
}
