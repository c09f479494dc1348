package report

import (
	"cmp"
	"fmt"
	"time"

	"braid/download"
	"braid/internal/option"
	"braid/source"
)

// Recorder records the events of one download. It is not safe for concurrent use.
type Recorder struct {
	facts
	now time.Duration // when the last event happened
}

// facts has everything recorded about one download. Each embedded part records one aspect. The size of facts is
// limited, because short periods and small fetches are merged. Only totals are exact.
type facts struct {
	// Limit is the user's limit in bytes per second, for all downloads of the page together. 0 means no limit. -1 means
	// that the limit has changed since the downloads began.
	Limit     int64
	URL, Path string // the URL is masked
	Seeding   bool   // the complete file is being uploaded to peers

	offer
	amounts
	comparison
	sources
	earlier  earlier
	requests requests
	course   course
	columns  columns
	restarts restarts
	log      log
	ending   ending

	began  time.Time
	number int // number of the download on the page
}

// NewRecorder returns a Recorder for a download that begins at now.
func NewRecorder(now time.Time) *Recorder {
	return &Recorder{facts: facts{
		began: now, amounts: newAmounts(), sources: newSources(), requests: newRequests(), course: newCourse(),
		columns: columns{width: firstColumn}, ending: ending{live: true},
	}}
}

// Observe records ev, an event that [download.Request.Observe] received.
func (r *Recorder) Observe(at time.Time, ev download.Event) {
	r.advance(at)
	r.compare(ev)
	switch ev := ev.(type) {
	case download.Started:
		r.URL, r.Path = ev.URL, ev.Path
	case download.Resumed:
		r.resume(ev)
	case download.Offered:
		r.offered(ev)
	case download.SourceUp:
		r.up(ev)
	case download.SourceDown:
		r.down(ev)
	case download.Progress:
		r.amounts.advance(ev)
		r.resize(ev.Size)
	case download.Voided:
		r.void.Add(ev.Range)
	case download.Restarted:
		r.restart(ev)
	case download.Complete:
		r.course.complete = r.now
		r.say(false, "all bytes were received")
	case download.Verified:
		r.course.verified = r.now
		r.say(false, "checked: %s", ev.Proof)
	case download.Seeding:
		if !r.Seeding {
			r.Seeding = true
			r.say(false, "the file is complete and offered to peers")
		}
	case download.Note:
		r.say(false, "%s", ev.Text)
	default:
		r.observeFetch(ev)
	}
}

// End records that the download ended with res and err. Observe must not be called after that.
func (r *Recorder) End(at time.Time, res download.Result, err error) {
	r.advance(at)
	r.endComparison()
	for f := range r.requests.inOrder() {
		r.finish(f, nil)
	}
	for _, m := range r.Mirrors {
		r.endPause(m, r.now)
	}
	r.course.finish(r.now, r.checks)
	r.ending = ending{at: r.now, result: res, err: err}
	r.resize(res.Size)
	r.Path = cmp.Or(r.Path, res.Path)
	r.settle()
}

// advance sets the current time. It never goes back, even if the clock does.
func (r *Recorder) advance(at time.Time) {
	r.now = max(r.now, at.Sub(r.began))
	r.columns.reach(r.now)
}

// say adds a line to the log of the download.
func (r *Recorder) say(bad bool, format string, args ...any) {
	r.log.add(entry{r.now, option.Shorten(source.Escape(fmt.Sprintf(format, args...)), 300), bad})
}

func (r *Recorder) resume(ev download.Resumed) {
	r.earlier, r.Progress.Done = newEarlier(ev), ev.Bytes
	r.say(false, "%s were received in an earlier run", option.SizeText(ev.Bytes))
}

func (r *Recorder) offered(ev download.Offered) {
	r.resize(ev.File.Size)
	r.offer.add(ev)
	size := "a file of unknown size"
	if ev.File.Size >= 0 {
		size = option.SizeText(ev.File.Size)
	}
	r.say(false, "the server offers %s, %s, %s", size, option.Count(len(ev.File.Claims), "digest"),
		option.Count(len(ev.File.Mirrors), "mirror"))
}

// resize records the size of the file, and adapts the file chart to that size.
func (r *Recorder) resize(size int64) {
	if size > r.size {
		r.size = size
		r.columns.picture.fit(size)
	}
}

func (r *Recorder) up(ev download.SourceUp) {
	m := r.mirror(ev.ID, ev.URL, ev.Host)
	m.up, m.whole, m.RTT = true, ev.Whole, ev.RTT
	whole := ""
	if ev.Whole {
		whole = "; it sends the whole file instead of a range"
	}
	r.say(false, "%s answers for the first time (round trip %s)%s", m.Host, option.TimeText(ev.RTT), whole)
}

func (r *Recorder) down(ev download.SourceDown) {
	m := r.mirror(ev.ID, ev.URL, ev.Host)
	m.up, m.failure = false, Why(ev.Err, m.Host)
	r.course.failed(ev.Err)
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

func (r *Recorder) restart(ev download.Restarted) {
	clear(r.ByID) // a new session gives new IDs to the sources
	text := option.Shorten(source.Escape(ev.Reason), 200)
	if r.amounts.restart() { // otherwise nothing is lost, and the source's failure was recorded
		r.restarts.add(entry{r.now, text, true})
	}
	r.course.complete, r.earlier = never, earlier{}
	r.say(true, "the download begins again: %s", text)
}

// compare records how a comparison of received bytes advances, and when it ends.
func (r *Recorder) compare(ev download.Event) {
	switch ev := ev.(type) {
	case download.Comparing:
		if r.comparison.advance(r.now, ev) {
			r.say(true, "some bytes are wrong: the received bytes are compared with those of other sources")
		}
	case download.Note, download.SourceDown:
	default:
		r.endComparison()
	}
}

func (r *Recorder) endComparison() {
	if bytes, ended := r.comparison.finish(r.now); ended {
		r.say(false, "%s were compared", option.SizeText(bytes))
	}
}
