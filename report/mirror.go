package report

import (
	"cmp"
	"slices"
	"time"

	"braid/scheduler"
	"braid/source"
)

// maxMirrors is how many sources are told apart. Those beyond share one account.
const maxMirrors = 200

// tally counts by reason.
type tally [64]int

func (t *tally) count(why scheduler.Reason) {
	if int(why) < len(t) {
		t[why]++
	}
}

func (t *tally) of(reasons ...scheduler.Reason) (n int) {
	for _, why := range reasons {
		n += t[why]
	}
	return n
}

// A mirror is the account of one source.
type mirror struct {
	number    int // in the order in which they were first heard of
	url, host string
	bytes     int64
	flow      series // bytes
	rtt       time.Duration
	up        bool
	asked     int // fetches
	first     time.Duration
	running   int           // fetches
	since     time.Duration // when the first of them was asked
	working   time.Duration // in which a fetch ran
	starts    tally
	cuts      tally
	failures  int
	failure   string // the last one
	failedAt  time.Duration
	before    string // the first one
	gone      bool
	banned    bool
	goneAt    time.Duration
	quiet     time.Duration // in which it was at work and nothing came
	pause     *gap          // it is not asked before that ends
}

// rate is how fast it was while it was at work, in bytes a second.
func (m *mirror) rate() float64 {
	if m.working <= 0 {
		return 0
	}
	return float64(m.bytes) / m.working.Seconds()
}

// fail books a failure.
func (m *mirror) fail(at time.Duration, text string) {
	if m.failures++; m.failures == 1 {
		m.failedAt, m.before = at, text
	}
	m.failure = text
}

// A gap is a time in which a source brought nothing.
type gap struct {
	who      *mirror
	from, to time.Duration
}

// gaps are the longest ones that there were, no more than maxGaps.
type gaps []gap

const maxGaps = 200

func (g *gaps) add(x gap) {
	if x.to <= x.from {
		return
	}
	if len(*g) < maxGaps {
		*g = append(*g, x)
		return
	}
	short := 0
	for i, y := range *g {
		if y.to-y.from < (*g)[short].to-(*g)[short].from {
			short = i
		}
	}
	if y := (*g)[short]; y.to-y.from < x.to-x.from {
		*g = append(slices.Delete(*g, short, short+1), x)
	}
}

// mirror finds the account of a source. Its number is that of a session: after a new beginning the same one may be
// another source, which the URL tells.
func (r *Recorder) mirror(id int, url, host string) *mirror {
	url, host = source.Escape(url), source.Escape(host)
	m := r.byID[id]
	if m == nil || url != "" && m.url != "" && m.url != url {
		m = r.open(url)
		r.byID[id] = m
	}
	if m.url == "" {
		m.url = url
	}
	if host != "" && m != r.rest {
		m.host = host
	}
	return m
}

// open finds the account of a URL, or opens one.
func (r *Recorder) open(url string) *mirror {
	for _, m := range r.mirrors {
		if m.url == url && !r.inUse(m) {
			return m
		}
	}
	if len(r.mirrors) >= maxMirrors {
		if r.rest == nil {
			r.rest = &mirror{number: len(r.mirrors), host: "others"}
			r.mirrors = append(r.mirrors, r.rest)
		}
		return r.rest
	}
	m := &mirror{number: len(r.mirrors), url: url}
	r.mirrors = append(r.mirrors, m)
	return m
}

func (r *Recorder) inUse(m *mirror) bool {
	for _, other := range r.byID {
		if other == m {
			return true
		}
	}
	return false
}

// ranked are the sources that were asked, those that brought most first.
func (r *Recorder) ranked() (out []*mirror) {
	for _, m := range r.mirrors {
		if m.asked > 0 {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b *mirror) int { return cmp.Compare(b.bytes, a.bytes) })
	return out
}
