package report

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"braid/scheduler"
	"braid/source"
)

// maxMirrors is the number of sources that have their own record. All other sources share one Mirror.
const maxMirrors = 200

// tally counts events by their reasons.
type tally map[scheduler.Reason]int

func (t tally) of(reasons ...scheduler.Reason) (n int) {
	for _, why := range reasons {
		n += t[why]
	}
	return n
}

// Mirror is the record of one source of the file.
type Mirror struct {
	URL, Host   string // with control characters escaped
	Name, Class string // name and colour class on the page; set when the download has ended or is drawn
	Bytes       int64
	Speed       Speed
	RTT         time.Duration
	Asked       int           // number of fetches
	Working     time.Duration // time with at least one running fetch
	Quiet       time.Duration // part of Working without data from the source
	Failures    int

	number   int // index in sources.Mirrors
	up       bool
	whole    bool // sends the whole file instead of a range
	gone     bool // not used any more
	banned   bool // not used any more because of wrong content
	running  int  // number of running fetches
	first    time.Duration
	since    time.Duration // when the first of the running fetches began
	cuts     tally
	failure  string // text of the last failure
	failedAt time.Duration
	before   string // text of the first failure
	goneAt   time.Duration
	pause    *gap // current period without requests; its end may change
}

// Rate returns the speed of the source while it was working, in bytes a second.
func (m *Mirror) Rate() float64 { return MeanRate(m.Bytes, m.Bytes, m.Working) }

// Fate describes how the use of the source ended. It returns "" if that was as usual.
func (m *Mirror) Fate() string {
	switch {
	case m.banned:
		return "dropped for wrong content: " + m.failure
	case m.gone:
		return "given up: " + m.failure
	case m.failure != "":
		return "failed: " + m.failure
	case m.cuts[scheduler.ReasonSameHost] > 0 && m.Bytes == 0:
		return "another name of a server that was already in use"
	case m.cuts.of(scheduler.ReasonUseless, scheduler.ReasonCrowded) > 0:
		return "closed, because it added no speed"
	}
	return ""
}

// begin records that a fetch from m has begun.
func (m *Mirror) begin(now time.Duration) {
	if m.Asked++; m.Asked == 1 {
		m.first = now
	}
	if m.running++; m.running == 1 {
		m.since = now
	}
}

// rest records that a fetch from m has ended.
func (m *Mirror) rest(now time.Duration) {
	if m.running--; m.running == 0 {
		m.Working += now - m.since
	}
}

// fail records that a fetch from m has failed.
func (m *Mirror) fail(now time.Duration, why string) {
	if m.failure = why; m.Failures == 0 {
		m.failedAt, m.before = now, why
	}
	m.Failures++
}

// sources are the records of the sources of a download, and their ranking.
type sources struct {
	Mirrors []*Mirror       // sorted by the time of their first event
	ByID    map[int]*Mirror // by ID in the current session
	rest    *Mirror         // the record that sources beyond maxMirrors share
	pauses  gaps            // periods without requests to a source
	ranked  []*Mirror       // sources that got requests, those with the most bytes first
	brought []*Mirror       // those of ranked that sent data
}

func newSources() sources { return sources{ByID: map[int]*Mirror{}} }

// mirror returns the record of a source. An ID is valid in one session: after a restart, it may belong to another
// source, which has another URL.
func (s *sources) mirror(id int, url, host string) *Mirror {
	url, host = source.Escape(url), source.Escape(host)
	m := s.ByID[id]
	if m == nil || url != "" && m.URL != "" && m.URL != url {
		m = s.account(url)
		s.ByID[id] = m
	}
	m.URL = cmp.Or(m.URL, url)
	if m != s.rest {
		m.Host = cmp.Or(host, m.Host)
	}
	return m
}

// account returns the record for url. It creates a missing record.
func (s *sources) account(url string) *Mirror {
	if i := slices.IndexFunc(s.Mirrors, func(m *Mirror) bool { return m.URL == url && url != "" }); i >= 0 {
		return s.Mirrors[i]
	}
	if s.rest != nil {
		return s.rest
	}
	m := &Mirror{number: len(s.Mirrors), URL: url, cuts: tally{}}
	if len(s.Mirrors) == maxMirrors {
		m.URL, m.Host, s.rest = "", "others", m
	}
	s.Mirrors = append(s.Mirrors, m)
	return m
}

// settle sets the ranks, names and colours of the sources, once the download has ended or is drawn. The name of a
// source is its host, with a part of the path if several sources are at that host. A source keeps its colour as long as
// it is among those that sent the most bytes.
func (s *sources) settle() {
	s.ranked, s.brought = nil, nil
	hosts, used := map[string]int{}, map[string]bool{}
	for _, m := range s.Mirrors {
		hosts[m.Host]++
	}
	for _, m := range s.Mirrors {
		m.Name = cmp.Or(m.Host, m.URL)
		if hosts[m.Host] > 1 {
			m.Name = m.URL
			if u, err := url.Parse(m.URL); err == nil && u.Host != "" {
				m.Name = u.Host + "/.../" + path.Base(u.Path)
			}
		}
		m.Name = middle(m.Name, 40)
		if used[m.Name] {
			m.Name += " (" + strconv.Itoa(m.number+1) + ")"
		}
		used[m.Name] = true
		if m.Asked > 0 {
			s.ranked = append(s.ranked, m)
		}
	}
	slices.SortStableFunc(s.ranked, func(a, b *Mirror) int { return cmp.Compare(b.Bytes, a.Bytes) })
	s.colour()
	for _, m := range s.ranked {
		if m.Bytes > 0 {
			s.brought = append(s.brought, m)
		}
	}
}

// colour gives colours to the first sources in the ranking. A source that has a colour keeps it.
func (s *sources) colour() {
	first := s.ranked[:min(len(s.ranked), colours)]
	used := map[string]bool{}
	for _, m := range s.Mirrors {
		if !slices.Contains(first, m) {
			m.Class = "cx"
		} else if m.Class != "cx" {
			used[m.Class] = true
		}
	}
	next := 0
	for _, m := range first {
		if m.Class != "" && m.Class != "cx" {
			continue
		}
		for used[fmt.Sprintf("c%d", next)] {
			next++
		}
		m.Class = fmt.Sprintf("c%d", next)
		used[m.Class] = true
	}
}

// endPause ends the pause of m, because it gets a request again or the download has ended.
func (s *sources) endPause(m *Mirror, now time.Duration) {
	if m.pause != nil {
		m.pause.to = min(m.pause.to, now)
		s.pauses.add(*m.pause)
		m.pause = nil
	}
}

// failing returns the sources that have failed at least once.
func (s *sources) failing() []*Mirror {
	return slices.DeleteFunc(slices.Clone(s.Mirrors), func(m *Mirror) bool { return m.failure == "" })
}

// told reports whether the summary or the headline describes the failure of m, so that the table need not repeat it.
func (s *sources) told(m *Mirror) bool { return slices.Index(s.failing(), m) < mostFailed }

// fates returns the text about each source's fate for the table.
func (s *sources) fates() map[*Mirror]string {
	all := map[*Mirror]string{}
	for _, m := range s.Mirrors {
		all[m] = m.Fate()
		if m.failure != "" && s.told(m) {
			all[m] = strings.TrimSuffix(all[m], ": "+m.failure)
		}
	}
	return all
}

// middle shortens s to that many runes. It removes the middle, because the two ends are more useful.
func middle(s string, runes int) string {
	x := []rune(s)
	if len(x) <= runes {
		return s
	}
	half := (runes - 3) / 2
	return string(x[:half]) + "..." + string(x[len(x)-half:])
}

// AtWork reports whether a fetch from m is running.
func (m *Mirror) AtWork() bool { return m.running > 0 }

// State describes what m, a source of a running download, is doing now.
func (r *Recorder) State(m *Mirror) string {
	switch {
	case m.AtWork():
		return "in use"
	case m.banned && !m.up: // unless it is in use again after a restart
		return "dropped for wrong content"
	case m.gone && !m.up:
		return "dropped"
	case m.pause != nil && m.pause.to > m.pause.from:
		return "again at " + r.began.Add(m.pause.to).Local().Format(time.TimeOnly)
	case m.pause != nil:
		return "again later"
	case m.whole:
		return "sends whole files only"
	}
	return "waits"
}

// Speed computes the mean speed in about the last three seconds.
type Speed struct {
	at    [30]time.Time
	bytes [30]int64
	n     int
}

// Now records that bytes is the number of bytes received until the time at. It returns the speed in bytes per second.
func (s *Speed) Now(at time.Time, bytes int64) float64 {
	if s.n == 0 || at.Sub(s.at[(s.n-1)%len(s.at)]) >= beat {
		s.at[s.n%len(s.at)], s.bytes[s.n%len(s.at)] = at, bytes
		s.n++
	}
	oldest := max(0, s.n-len(s.at)) % len(s.at)
	if d := at.Sub(s.at[oldest]); d > 0 {
		return float64(bytes-s.bytes[oldest]) / d.Seconds()
	}
	return 0
}
