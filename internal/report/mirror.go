package report

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"time"

	"braid/scheduler"
	"braid/source"
)

// maxMirrors is how many sources are told apart. Those beyond share one account.
const maxMirrors = 200

// A tally counts by reason.
type tally map[scheduler.Reason]int

func (t tally) of(reasons ...scheduler.Reason) (n int) {
	for _, why := range reasons {
		n += t[why]
	}
	return n
}

// A Mirror is the account of one source.
type Mirror struct {
	URL, Host   string // escaped
	Name, Class string // of the source on the page, and of its colour; when the download has ended
	Bytes       int64
	Speed       Speed
	RTT         time.Duration
	Asked       int           // fetches
	Working     time.Duration // in which a fetch ran
	Quiet       time.Duration // of it, in which nothing came
	Failures    int

	number   int // in the order in which the events named them
	up       bool
	whole    bool // it sends the whole file in place of a range
	gone     bool // given up
	banned   bool // for wrong content
	running  int  // fetches
	flow     series
	first    time.Duration
	since    time.Duration // when the first of the running fetches was asked
	cuts     tally
	failure  string // the last one
	failedAt time.Duration
	before   string // the first one
	goneAt   time.Duration
	pause    *gap // it is not asked before that ends
}

// Rate is how fast it was while it was at work, in bytes a second.
func (m *Mirror) Rate() float64 { return MeanRate(m.Bytes, m.Bytes, m.Working) }

// Fate is what became of it.
func (m *Mirror) Fate() string {
	switch {
	case m.banned:
		return "dropped, wrong content: " + m.failure
	case m.gone:
		return "given up: " + m.failure
	case m.failure != "":
		return "failed: " + m.failure
	case m.cuts[scheduler.ReasonSameHost] > 0 && m.Bytes == 0:
		return "another name of a server that was at work already"
	case m.cuts.of(scheduler.ReasonUseless, scheduler.ReasonCrowded) > 0:
		return "closed, as it brought no gain"
	}
	return ""
}

// mirror finds the account of a source. Its number is that of a session: after a new beginning the same one may be
// another source, which the URL tells.
func (r *Recorder) mirror(id int, url, host string) *Mirror {
	url, host = source.Escape(url), source.Escape(host)
	m := r.ByID[id]
	if m == nil || url != "" && m.URL != "" && m.URL != url {
		m = r.account(url)
		r.ByID[id] = m
	}
	m.URL = cmp.Or(m.URL, url)
	if m != r.rest {
		m.Host = cmp.Or(host, m.Host)
	}
	return m
}

// account finds the account of a URL, or opens one.
func (r *Recorder) account(url string) *Mirror {
	if i := slices.IndexFunc(r.Mirrors, func(m *Mirror) bool { return m.URL == url && url != "" }); i >= 0 {
		return r.Mirrors[i]
	}
	if r.rest != nil {
		return r.rest
	}
	m := &Mirror{number: len(r.Mirrors), URL: url, cuts: tally{}}
	if len(r.Mirrors) == maxMirrors {
		m.URL, m.Host, r.rest = "", "others", m
	}
	r.Mirrors = append(r.Mirrors, m)
	return m
}

// settle gives the sources their ranks, names and colours when the download has ended, or is drawn before that. A name
// is the host, with the path where that alone is not clear. A colour is kept as long as its source is one of those that
// brought most.
func (d *Facts) settle() {
	d.ranked, d.brought = nil, nil
	hosts, used := map[string]int{}, map[string]bool{}
	for _, m := range d.Mirrors {
		hosts[m.Host]++
	}
	for _, m := range d.Mirrors {
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
			d.ranked = append(d.ranked, m)
		}
	}
	slices.SortStableFunc(d.ranked, func(a, b *Mirror) int { return cmp.Compare(b.Bytes, a.Bytes) })
	d.colour()
	for _, m := range d.ranked {
		if m.Bytes > 0 {
			d.brought = append(d.brought, m)
		}
	}
}

// colour gives the first ones a colour each, those that have one the same.
func (d *Facts) colour() {
	first := d.ranked[:min(len(d.ranked), colours)]
	used := map[string]bool{}
	for _, m := range d.Mirrors {
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

// middle shortens a name in its middle: both ends tell most.
func middle(s string, runes int) string {
	x := []rune(s)
	if len(x) <= runes {
		return s
	}
	half := (runes - 3) / 2
	return string(x[:half]) + "..." + string(x[len(x)-half:])
}

// AtWork reports whether a fetch runs.
func (m *Mirror) AtWork() bool { return m.running > 0 }

// State is what a source does at a time, for a table of the sources of a download that goes on.
func (r *Recorder) State(m *Mirror) string {
	switch {
	case m.AtWork():
		return "at work"
	case m.banned && !m.up: // unless it came back after a new beginning
		return "dropped, its content is wrong"
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

// A Speed is the mean of the last three seconds.
type Speed struct {
	at    [30]time.Time
	bytes [30]int64
	n     int
}

// Now takes how many bytes have come by a time, and returns bytes a second.
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
