package report

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"path"
	"strings"
	"time"

	"braid/internal/option"
	"braid/scheduler"
	"braid/source"
)

// word is a sentence of the summary. Bad reports whether it is about lost time.
type word struct {
	Text string
	Bad  bool
}

// story is the summary of a download, sentence by sentence.
type story []word

func (w *story) say(bad bool, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if strings.HasSuffix(text, "....") { // a shortened text already ends with a period
		text = text[:len(text)-1]
	}
	*w = append(*w, word{text, bad})
}

// section has what the page shows about one download.
type section struct {
	number                                            int
	title, url, path, class, outcome, headline, begun string
	words                                             story
	strip                                             *strip  // nil without a strip
	charts                                            *charts // nil without charts
	table                                             []*Mirror
	states                                            map[*Mirror]string
	log                                               log
	places                                            []string // where a digest was looked for, and the results
	fetched                                           int64
}

func (d *facts) section() section {
	s := section{
		number: d.number, title: d.name(), url: source.Escape(d.URL), path: source.Escape(d.Path),
		headline: d.ending.headline(d.Fetched, d.earlier.bytes), states: d.fates(), words: d.story(),
		begun: d.began.UTC().Format("2006-01-02 15:04:05 UTC"), log: d.log, fetched: d.Fetched,
	}
	s.class, s.outcome = d.ending.outcome()
	if d.ending.at > 0 {
		s.table = d.ranked
	}
	if d.pictured() {
		s.charts = d.charts()
	}
	for _, p := range d.ending.result.Looked.Places {
		s.places = append(s.places, option.Shorten(source.Escape(p.String()), 1000))
	}
	return s
}

// name returns how the page names the download.
func (d *facts) name() string {
	if d.Path != "" {
		return path.Base(source.Escape(d.Path))
	}
	address := source.Escape(d.URL)
	if u, err := url.Parse(address); err == nil && path.Base(u.Path) != "." && path.Base(u.Path) != "/" {
		return path.Base(u.Path) + " (to standard output)"
	}
	return cmp.Or(address, "download")
}

// story returns the summary of the download.
func (d *facts) story() (w story) {
	if d.ending.nothing() {
		return nil
	}
	w.restarts(&d.restarts)
	w.checks(d.checks)
	if !d.ending.live {
		w.limit(d)
	}
	w.shares(d.brought, d.Fetched)
	w.twice(max(d.ending.result.Duplicate, d.Progress.Twice), d.Fetched, d.ending.live)
	w.losses(d.requests.losses)
	w.failures(&d.sources, &d.requests, d.ending.err)
	w.growth(&d.requests, d.ending.unasked(d.ranked))
	w.takeovers(d.requests.mostTaken())
	w.times(&d.course, &d.ending, d.size)
	w.stretches(d)
	w.check(&d.course, &d.ending)
	return w
}

// restarts describes when received bytes were discarded.
func (w *story) restarts(r *restarts) {
	for _, e := range r.first {
		w.say(true, "The bytes received until %s were discarded, and the download began again: %s.",
			option.TimeText(e.At), e.Text)
	}
	if n := r.count - len(r.first); n > 0 {
		w.say(true, "That happened %d more times.", n)
	}
}

// checks describes when received bytes were compared with those of other sources.
func (w *story) checks(checks gaps) {
	for _, g := range checks {
		w.say(true, "From %s to %s the received bytes were compared with those of other sources, "+
			"because some were wrong.", option.TimeText(g.from), option.TimeText(g.to))
	}
}

// check describes how long it took to verify the complete file.
func (w *story) check(c *course, e *ending) {
	if c.complete == never || c.verified == never {
		return
	}
	took := c.verified - c.complete
	w.say(e.part(took) > 0.1 && took > 200*time.Millisecond,
		"The check ended %s after the last byte, and the file was in place %s later.",
		option.TimeText(took), option.TimeText(e.at-c.verified))
}

// shares describes which part of the fetched bytes each source sent, and how fast.
func (w *story) shares(brought []*Mirror, fetched int64) {
	const most = 6
	rest := brought
	var parts []string
	for len(rest) > 0 && (len(parts) < most-1 || len(rest) == 1) {
		m := rest[0]
		parts = append(parts, fmt.Sprintf("%s sent %s at %s", m.Name, share(m.Bytes, fetched), option.RateText(m.Rate())))
		rest = rest[1:]
	}
	if len(rest) > 0 {
		var sum int64
		for _, m := range rest {
			sum += m.Bytes
		}
		parts = append(parts, fmt.Sprintf("%s sent the other %s", option.Count(len(rest), "source"), share(sum, fetched)))
	}
	if len(parts) > 0 {
		w.say(false, "%s.", strings.Join(parts, ", "))
	}
}

// twice describes how many bytes were received twice. If they are few, that is mentioned only while the download runs.
func (w *story) twice(twice, fetched int64, live bool) {
	if twice > 0 && (live || twice > fetched/50) {
		w.say(twice > fetched/50, "%s were received twice.", option.SizeText(twice))
	}
}

// share formats part as a percentage of whole. Only the whole is shown as 100 %.
func share(part, whole int64) string {
	switch p := math.Round(float64(part) / float64(max(whole, 1)) * 100); {
	case part <= 0:
		return "0 %"
	case p < 1:
		return "under 1 %"
	case p >= 100 && part < whole:
		return "over 99 %"
	default:
		return fmt.Sprintf("%.0f %%", p)
	}
}

// losses describes which sources became silent or slow, and which other sources took over. All losses of one source
// form one sentence.
func (w *story) losses(losses []*loss) {
	type kind struct {
		mirror *Mirror
		why    scheduler.Reason
	}
	counts := map[kind]int{}
	for _, l := range losses {
		counts[kind{l.mirror, l.why}]++
	}
	for _, l := range losses {
		k := kind{l.mirror, l.why}
		n := counts[k]
		if n == 0 || l.why == 0 {
			continue
		}
		counts[k] = 0
		text := fmt.Sprintf("%s fell silent at %s, after sending %s",
			l.mirror.Name, option.TimeText(l.since), option.SizeText(l.bytes))
		if l.why == scheduler.ReasonSlow {
			text = fmt.Sprintf("%s turned out to be too slow for its range at %s", l.mirror.Name, option.TimeText(l.at))
		}
		switch l.taker {
		case nil:
		case l.mirror:
			text += "; it continued at " + option.TimeText(l.taken)
		default:
			text += "; the rest of its range went to " + l.taker.Name + " at " + option.TimeText(l.taken)
		}
		if n > 1 {
			text += fmt.Sprintf(" (%d times in all)", n)
		}
		w.say(true, "%s.", text)
	}
}

// mostFailed is the number of failed sources that are named individually.
const mostFailed = 6

// failures describes which sources failed, and what became of them. err is the error of the download.
func (w *story) failures(s *sources, q *requests, err error) {
	all := s.failing()
	for _, m := range all[:min(len(all), mostFailed)] {
		if len(s.Mirrors) > 1 || err == nil || m.failure != Why(err, m.Host) {
			w.say(true, "%s.", failureOf(m, q.takenBy(m)))
		} else if m.Failures > 1 { // the headline has the text of this failure
			w.say(true, "%s failed %d times, first at %s.", m.Name, m.Failures, option.TimeText(m.failedAt))
		}
	}
	if n := len(all) - mostFailed; n > 0 {
		w.say(true, "%s failed, too.", option.Count(n, "other source"))
	}
}

// failureOf describes the failure of a source. taker is the source that took over the rest of the range, or nil.
func failureOf(m, taker *Mirror) string {
	if m.banned {
		return fmt.Sprintf("%s was dropped at %s for wrong content: %s", m.Name, option.TimeText(m.goneAt), m.failure)
	}
	text, why := m.Name+" failed at ", m.failure
	if m.Failures > 1 {
		text, why = fmt.Sprintf("%s failed %d times, first at ", m.Name, m.Failures), m.before
		if m.failure != m.before {
			why += "; lastly: " + m.failure
		}
	}
	text += option.TimeText(m.failedAt)
	if m.gone {
		text += ", was given up at " + option.TimeText(m.goneAt)
	}
	if taker != nil {
		text += ", and the rest of its range went to " + taker.Name
	}
	return text + ": " + why
}

// takeovers describes first, the two sources with the most takeovers. sum is the number of all takeovers.
func (w *story) takeovers(first takeover, sum int) {
	if sum == 0 {
		return
	}
	text := fmt.Sprintf("%s took over part of the range of %s", first.taker.Name, first.loser.Name)
	if first.taker == first.loser {
		text = fmt.Sprintf("one request to %s took over part of the range of another request", first.taker.Name)
	}
	if sum > 1 {
		text += fmt.Sprintf("; in all, ranges were split %d times", sum)
	}
	w.say(false, "To finish at the same time, %s.", text)
}
