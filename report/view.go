package report

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"time"

	"braid/byterange"
	"braid/internal/option"
	"braid/scheduler"
)

// A section is what the page shows of one download.
type section struct {
	Anchor, Title, URL, Path string
	Class, Outcome, Headline string
	Begun                    string
	Words                    words
	Charts                   *charts // nil if there is nothing to be seen on them
	Table                    []account
	Log                      []line
	Dropped                  int
}

// charts are the pictures, which have the same time axis.
type charts struct {
	Legend   []key
	Times    []tick
	Rules    []rule
	Speeds   []tick
	Speed    []layer
	SpeedBox string
	Requests string
	WorkBox  string
	Most     int // requests at once
	Kinds    []mark
	Quiet    bool // there is a bar of that kind
	Paused   bool
	Rows     []row
	Unshown  int
	Parts    []layer
	PartsBox string
	Sizes    []tick
	Prior    []stripe
}

// A key explains a colour.
type key struct{ Class, Name, Full, Share string }

// A rule is a line across the pictures: something that concerns all.
type rule struct {
	At, Name, Title string
	Last            bool
}

// A row is the time of one source.
type row struct {
	Class, Name, Full string
	Bars              []bar
	Waits             []bar // for the answer
	Quiet             []bar // nothing comes
	Pauses            []bar // it is not asked
	Marks             []mark
}

// A bar is a time: from X to End, W wide, all percentages. Y and H are pixels in the row.
type bar struct{ X, W, End, Y, H, Title string }

// A mark is something that happened to a source.
type mark struct {
	At, Kind, Title string
}

// An account is a line of the table of sources.
type account struct {
	Class, Name, Full                        string
	Bytes, Share, Rate, Away, Working, Quiet string
	Fetches, Failures                        int
	Fate                                     string
}

// A line is one of the log.
type line struct {
	At, Text string
	Bad      bool
	Dropped  int // so many lines are left out before it
}

// label is what a source is called: its host, and its path where that is not clear.
func (r *Recorder) label(m *mirror) string {
	if r.labels == nil {
		r.settle()
	}
	return r.labels[m]
}

// settle gives the sources their names and ranks, once all is told.
func (r *Recorder) settle() {
	r.labels, r.rank = map[*mirror]string{}, map[*mirror]int{}
	hosts := map[string]int{}
	for i, m := range r.ranked() {
		r.rank[m] = i
	}
	for _, m := range r.mirrors {
		hosts[m.host]++
	}
	used := map[string]bool{}
	for _, m := range r.mirrors {
		name := cmp.Or(m.host, m.url)
		if hosts[m.host] > 1 {
			name = m.url
			if u, err := url.Parse(m.url); err == nil && u.Host != "" {
				name = u.Host + "/.../" + path.Base(u.Path)
			}
		}
		name = middle(name, 40)
		if used[name] {
			name += " (" + strconv.Itoa(m.number+1) + ")"
		}
		used[name] = true
		r.labels[m] = name
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

// section is what the page shows of a download that ended.
func (r *Recorder) section(anchor string) section {
	class, outcome := r.outcome()
	s := section{
		Anchor: anchor, Title: r.name(), URL: r.url, Path: r.path, Class: class, Outcome: outcome,
		Headline: r.headline(), Words: r.words(), Begun: r.began.UTC().Format("2006-01-02 15:04:05 UTC"),
	}
	for _, e := range r.log.first {
		s.Log = append(s.Log, line{clock(e.at), e.text, e.bad, 0})
	}
	for i, e := range r.log.last {
		l := line{clock(e.at), e.text, e.bad, 0}
		if i == 0 {
			l.Dropped = r.log.dropped
		}
		s.Log = append(s.Log, l)
	}
	if len(r.ranked()) > 0 && r.end > 0 {
		s.Table = r.table()
		if r.pictured() {
			s.Charts = r.charts()
		} else {
			for i := range s.Table {
				s.Table[i].Class = "" // no colours are explained
			}
		}
	}
	return s
}

// name is what the download is called.
func (r *Recorder) name() string {
	if r.path != "" {
		return path.Base(r.path)
	}
	if u, err := url.Parse(r.url); err == nil && path.Base(u.Path) != "." && path.Base(u.Path) != "/" {
		return path.Base(u.Path) + " (to standard output)"
	}
	return cmp.Or(r.url, "download")
}

// clock writes a time of the log.
func clock(t time.Duration) string { return strconv.FormatFloat(t.Seconds(), 'f', 3, 64) + " s" }

// quickly is how long a download takes that needs no pictures: words and the table say all of it.
const quickly = 250 * time.Millisecond

// pictured reports whether there are pictures of the download: something was transferred, and it took a while or failed.
func (r *Recorder) pictured() bool {
	return r.err != nil || r.end >= quickly || len(r.ranked()) > colours
}

func (r *Recorder) charts() *charts {
	c := &charts{Times: timeTicks(r.end), Rules: r.rules(), Prior: r.stripes(), Legend: r.legend()}
	var top float64
	c.Speed, top = r.speed()
	if top > 0 {
		c.Speeds = byteTicks(top, "/s")
		c.SpeedBox = fmt.Sprintf("0 0 %s %d", number(float64(r.end)/float64(r.width)), high)
	}
	c.Requests, c.Most = r.requests()
	c.WorkBox = fmt.Sprintf("0 0 %s %d", number(float64(r.end)/float64(r.width)), high)
	c.Parts, c.PartsBox = r.parts()
	if r.size > 0 {
		c.Sizes = byteTicks(float64(r.size), "")
	}
	c.Rows, c.Unshown = r.rows()
	c.Kinds = kinds(c.Rows)
	for _, x := range c.Rows {
		c.Quiet, c.Paused = c.Quiet || len(x.Quiet) > 0, c.Paused || len(x.Pauses) > 0
	}
	return c
}

// rules are the lines across all pictures.
func (r *Recorder) rules() (out []rule) {
	add := func(t time.Duration, name, title string) {
		at := float64(t) / float64(max(r.end, 1))
		out = append(out, rule{percentText(at), name, title + " (" + option.TimeText(t) + ")", at > 0.8})
	}
	for _, e := range r.restarts {
		add(e.at, "begun again", "begun again: "+e.text)
	}
	if r.complete != never {
		add(r.complete, "last byte", "every byte is here")
	}
	return out
}

// legend explains the colours.
func (r *Recorder) legend() (keys []key) {
	all := r.fetched()
	var rest int64
	n := 0
	for i, m := range r.ranked() {
		if i >= colours {
			rest, n = rest+m.bytes, n+1
			continue
		}
		if m.bytes > 0 {
			keys = append(keys, key{r.colour(m), r.label(m), m.url, share(m.bytes, all)})
		}
	}
	if rest > 0 {
		keys = append(keys, key{"cx", option.Count(n, "other"), "", share(rest, all)})
	}
	return keys
}

// table is the account of each source that was asked.
func (r *Recorder) table() (out []account) {
	all := r.fetched()
	for _, m := range r.ranked() {
		a := account{
			Class: r.colour(m), Name: r.label(m), Full: m.url, Bytes: option.SizeText(m.bytes), Share: share(m.bytes, all),
			Fetches: m.asked, Failures: m.failures, Working: option.TimeText(m.working), Fate: fate(m),
		}
		if m.bytes > 0 {
			a.Rate = option.RateText(m.rate())
		}
		if m.rtt > 0 {
			a.Away = option.TimeText(m.rtt)
		}
		if m.quiet > 0 {
			a.Quiet = option.TimeText(m.quiet)
		}
		out = append(out, a)
	}
	return out
}

// fate is what became of a source.
func fate(m *mirror) string {
	closed := m.cuts.of(scheduler.ReasonUseless, scheduler.ReasonCrowded)
	switch {
	case m.banned:
		return "dropped, wrong content: " + m.failure
	case m.gone:
		return "given up: " + m.failure
	case m.failure != "":
		return "failed: " + m.failure
	case m.cuts.of(scheduler.ReasonSameHost) > 0 && m.bytes == 0:
		return "another name of a server that was at work already"
	case closed > 0:
		return "closed, as it brought no gain"
	}
	return ""
}

// fetchTitle is what a fetch was about, for those who point at it.
func (r *Recorder) fetchTitle(f *fetch) string {
	text := fmt.Sprintf("%s, %s to %s: ", r.label(f.who), option.TimeText(f.asked), option.TimeText(f.ended))
	if f.merged > 0 {
		return text + fmt.Sprintf("%d requests, %s", f.merged+1, option.SizeText(f.bytes))
	}
	text += fmt.Sprintf("request %d, for %s: %s", f.number, rangeText(byterange.Range{Start: f.from, End: f.to}), startTexts[f.why])
	if f.answered == never {
		text += "; no answer"
	} else {
		text += fmt.Sprintf("; answered in %s; %s", option.TimeText(f.answered-f.asked), option.SizeText(f.bytes))
	}
	if took := f.ended - f.answered; f.answered != never && took > 0 && f.bytes > 0 {
		text += " at " + option.RateText(float64(f.bytes)/took.Seconds())
	}
	if why := cutTexts[f.cut]; why != "" {
		text += "; " + why
	}
	if f.failure != "" {
		text += "; " + f.failure
	}
	return text
}

func rangeText(x byterange.Range) string {
	if x.End == byterange.Unbounded {
		return "the whole file"
	}
	return option.SizeText(x.Start) + " to " + option.SizeText(x.End)
}

// sortedByStart are the fetches of a source in the order in which they were asked.
func sortedByStart(list []*fetch) {
	slices.SortStableFunc(list, func(a, b *fetch) int { return cmp.Or(cmp.Compare(a.asked, b.asked), cmp.Compare(a.number, b.number)) })
}
