package watch

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"braid/antenna"
)

// Metrics counts events and serves the counts in the format of Prometheus (text exposition format 0.0.4). The labels
// are names of feeds and watches, so data from a feed cannot increase their number. Metrics is safe for concurrent use.
type Metrics struct {
	// Version is the version of the program, and Start the time when it was started.
	Version string
	Start   time.Time
	// More writes further metrics. It may be nil.
	More func(e *Exposition)

	mu        sync.Mutex
	feeds     map[string]*feedCounts
	watches   map[string]*watchCounts
	published [2]int64 // successful and failed publications
}

// feedCounts are the counts of a feed, or of the checks of a watch's URL.
type feedCounts struct {
	changed, unchanged, failed int64
	bytes                      int64
	failures                   int
	success                    time.Time
}

// watchCounts are the counts of a watch over all of its URLs.
type watchCounts struct {
	updates, notReady          int64
	changed, unchanged, failed int64
	bytes                      int64
	success, change            time.Time
	version                    string // version in place, if the watch follows releases
	// follows reports that the watch follows releases. newest is the newest version that its feeds report, and waiting
	// the number of releases that are not ready.
	follows bool
	newest  string
	waiting int
}

// Know sets the known feeds and watches from the status s. New feeds and watches begin with the times in s. Known feeds
// and watches keep their counts. Feeds and watches that s lacks are removed.
func (m *Metrics) Know(s antenna.Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	feeds, watches := map[string]*feedCounts{}, map[string]*watchCounts{}
	for _, f := range s.Feeds {
		c := m.feeds[f.Name]
		if c == nil {
			c = &feedCounts{failures: f.Failures}
			if f.Failures == 0 {
				c.success = f.Polled
			}
		}
		feeds[f.Name] = c
	}
	for _, w := range s.Watches {
		c := watches[w.Name]
		if c == nil {
			if c = m.watches[w.Name]; c == nil {
				c = &watchCounts{}
			}
			watches[w.Name] = c
		}
		c.success = latest(c.success, w.Last.At)
		c.change = latest(c.change, w.Last.ModTime)
		if r := w.Release; r != nil && w.HaveCopy {
			c.version = r.Version
		}
	}
	m.feeds, m.watches = feeds, watches
	for _, f := range s.Follows {
		m.watch(f.Name).follow(f.Newest, f.Waiting)
	}
}

func (w *watchCounts) follow(newest string, waiting int) {
	w.follows, w.newest, w.waiting = true, newest, waiting
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Add adds watches that have no URL yet.
func (m *Metrics) Add(watches ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range watches {
		m.watch(name)
	}
}

func (m *Metrics) feed(name string) *feedCounts {
	if m.feeds == nil {
		m.feeds = map[string]*feedCounts{}
	}
	if m.feeds[name] == nil {
		m.feeds[name] = &feedCounts{}
	}
	return m.feeds[name]
}

func (m *Metrics) watch(name string) *watchCounts {
	if m.watches == nil {
		m.watches = map[string]*watchCounts{}
	}
	if m.watches[name] == nil {
		m.watches[name] = &watchCounts{}
	}
	return m.watches[name]
}

// Observe counts an event of the antenna.
func (m *Metrics) Observe(ev antenna.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch ev := ev.(type) {
	case antenna.Polled:
		f := m.feed(ev.Feed)
		if ev.Unchanged {
			f.unchanged++
		} else {
			f.changed++
		}
		f.bytes += ev.Bytes
		f.failures, f.success = 0, time.Now()
	case antenna.PollFailed:
		f := m.feed(ev.Feed)
		f.failed++
		f.failures = ev.Failures
	case antenna.Updated:
		m.watch(ev.Update.Watch).updates++
	case antenna.Handled:
		m.handled(&ev)
	case antenna.NotReady:
		m.watch(ev.Update.Watch).notReady++
	case antenna.Followed:
		m.watch(ev.Watch).follow(ev.Newest, ev.Waiting)
	case antenna.Published:
		if ev.Err == nil {
			m.published[0]++
		} else {
			m.published[1]++
		}
	}
}

func (m *Metrics) handled(ev *antenna.Handled) {
	w := m.watch(ev.Update.Watch)
	w.bytes += ev.Outcome.Bytes
	switch {
	case ev.Err != nil:
		w.failed++
		return
	case ev.Outcome.Changed:
		w.changed++
		w.change = time.Now()
	default:
		w.unchanged++
	}
	w.success = time.Now()
	if r := ev.Update.Release; r != nil && !ev.Outcome.Declined {
		w.version = r.Version
	}
}

// ServeHTTP writes all metrics.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Write(m.text())
}

func (m *Metrics) text() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	var e Exposition
	e.Family("braid_build_info", "gauge", "Version of the running program.")
	e.Sample(1, "version", m.Version)
	e.Family("process_start_time_seconds", "gauge", "Start time of the program.")
	e.moment(m.Start)
	if m.watches != nil { // nil: nothing is watched, or watching has not begun
		m.writeFeeds(&e)
		m.writeWatches(&e)
		e.Family("braid_publications_total", "counter", "Publications of the known updates.")
		e.Sample(float64(m.published[0]), "result", "done")
		e.Sample(float64(m.published[1]), "result", "failed")
	}
	if m.More != nil {
		m.More(&e)
	}
	return e.Bytes()
}

func (m *Metrics) writeFeeds(e *Exposition) {
	each := func(write func(f *feedCounts, label ...string)) { eachByName("feed", m.feeds, write) }
	e.Family("braid_feed_polls_total", "counter", "Requests to feeds, and to the URLs of watches.")
	each(func(f *feedCounts, label ...string) { e.results(f.changed, f.unchanged, f.failed, label...) })
	e.Family("braid_feed_bytes_total", "counter", "Bytes that feeds sent.")
	each(func(f *feedCounts, label ...string) { e.Sample(float64(f.bytes), label...) })
	e.Family("braid_feed_failures", "gauge", "Consecutive failed polls.")
	each(func(f *feedCounts, label ...string) { e.Sample(float64(f.failures), label...) })
	e.Family("braid_feed_last_success_timestamp_seconds", "gauge",
		"Time of a feed's last answer; its age is time() minus this.")
	each(func(f *feedCounts, label ...string) { e.moment(f.success, label...) })
}

func (m *Metrics) writeWatches(e *Exposition) {
	each := func(write func(w *watchCounts, label ...string)) { eachByName("watch", m.watches, write) }
	e.Family("braid_watch_updates_total", "counter", "Updates that feeds reported.")
	each(func(w *watchCounts, label ...string) { e.Sample(float64(w.updates), label...) })
	e.Family("braid_watch_downloads_total", "counter", "Handled updates: a new version, no new version, or a failure.")
	each(func(w *watchCounts, label ...string) { e.results(w.changed, w.unchanged, w.failed, label...) })
	e.Family("braid_watch_not_ready_total", "counter", "Requests for releases whose file or proof the server did not have yet.")
	each(func(w *watchCounts, label ...string) { e.Sample(float64(w.notReady), label...) })
	e.Family("braid_watch_release_info", "gauge", "Current version, for watches that follow releases.")
	each(func(w *watchCounts, label ...string) {
		if w.version != "" {
			e.Sample(1, append(label, "version", w.version)...)
		}
	})
	e.Family("braid_watch_newest_release_info", "gauge", "Newest version that feeds report and the watch accepts.")
	each(func(w *watchCounts, label ...string) {
		if w.newest != "" {
			e.Sample(1, append(label, "version", w.newest)...)
		}
	})
	e.Family("braid_watch_waiting_releases", "gauge", "Releases whose file or proof the server did not have at the last request.")
	each(func(w *watchCounts, label ...string) {
		if w.follows {
			e.Sample(float64(w.waiting), label...)
		}
	})
	e.Family("braid_watch_bytes_total", "counter", "Bytes received by downloads.")
	each(func(w *watchCounts, label ...string) { e.Sample(float64(w.bytes), label...) })
	e.Family("braid_watch_last_success_timestamp_seconds", "gauge",
		"Time of the last successful update; its age is time() minus this.")
	each(func(w *watchCounts, label ...string) { e.moment(w.success, label...) })
	e.Family("braid_watch_last_change_timestamp_seconds", "gauge", "Time of the last new version.")
	each(func(w *watchCounts, label ...string) { e.moment(w.change, label...) })
}

// eachByName calls write for each name, in sorted order, with its counts and a label for the name.
func eachByName[C any](kind string, counts map[string]C, write func(c C, label ...string)) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		write(counts[name], kind, name)
	}
}

// Exposition is the text of metrics, grouped by family.
type Exposition struct {
	bytes.Buffer
	name string
}

// Family begins a metric family. The samples that follow belong to it.
func (e *Exposition) Family(name, kind, help string) {
	e.name = name
	fmt.Fprintf(e, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// Sample writes a sample. labels alternates between label names and values.
func (e *Exposition) Sample(value float64, labels ...string) {
	e.WriteString(e.name)
	for i := 0; i < len(labels); i += 2 {
		e.WriteString(map[bool]string{true: "{",
			false: ","}[i == 0] + labels[i] + `="` + escape.Replace(strings.ToValidUTF8(labels[i+1], "\ufffd")) + `"`)
	}
	if len(labels) > 0 {
		e.WriteByte('}')
	}
	e.WriteString(" " + strconv.FormatFloat(value, 'f', -1, 64) + "\n")
}

// results writes one sample for each result.
func (e *Exposition) results(changed, unchanged, failed int64, label ...string) {
	e.Sample(float64(changed), append(label, "result", "changed")...)
	e.Sample(float64(unchanged), append(label, "result", "unchanged")...)
	e.Sample(float64(failed), append(label, "result", "failed")...)
}

// moment writes a time, or 0 for the zero time.
func (e *Exposition) moment(t time.Time, labels ...string) {
	seconds := 0.0
	if !t.IsZero() {
		seconds = float64(t.UnixMilli()) / 1000
	}
	e.Sample(seconds, labels...)
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
