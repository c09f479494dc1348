package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"braid/download"
	"braid/internal/option"
	"braid/scheduler"
	"braid/source"
)

// word is a sentence of the summary. Bad marks causes of lost time.
type word struct {
	Text string
	Bad  bool
}

// words is the summary of a download.
type words []word

func (w *words) say(bad bool, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if strings.HasSuffix(text, "....") { // a shortened text already ends with a period
		text = text[:len(text)-1]
	}
	*w = append(*w, word{text, bad})
}

// section returns the template data of a download.
func (d *Facts) section() map[string]any {
	class, outcome := d.outcome()
	s := map[string]any{
		"Number": d.number, "Title": d.name(), "URL": source.Escape(d.URL), "Path": source.Escape(d.Path),
		"Class": class, "Outcome": outcome,
		"Headline": d.headline(), "States": d.fates(), "Strip": (*strip)(nil), "Words": d.words(),
		"Begun": d.began.UTC().Format("2006-01-02 15:04:05 UTC"), "Log": d.log, "Fetched": d.Fetched,
	}
	if d.end > 0 {
		s["Table"] = d.ranked
	}
	if d.pictured() {
		s["Charts"] = d.charts()
	}
	return s
}

// name returns the displayed name of the download.
func (d *Facts) name() string {
	if d.Path != "" {
		return path.Base(source.Escape(d.Path))
	}
	address := source.Escape(d.URL)
	if u, err := url.Parse(address); err == nil && path.Base(u.Path) != "." && path.Base(u.Path) != "/" {
		return path.Base(u.Path) + " (to standard output)"
	}
	return cmp.Or(address, "download")
}

// outcome returns the class and the text of the result.
func (d *Facts) outcome() (class, text string) {
	e, ok := errors.AsType[*download.Error](d.err)
	switch {
	case ok && e.Kind == download.Interrupted:
		return "stopped", "interrupted"
	case d.err != nil:
		return "failed", "failed"
	case d.result.AlreadyComplete:
		return "done", "already complete"
	case d.result.NotModified:
		return "done", "not modified"
	case d.result.Proof.Verified():
		return "done", "complete and verified"
	case d.result.Proof.ByPieces():
		return "done", "complete, its pieces checked"
	}
	return "open", "complete, not verified"
}

// headline returns the result in one line.
func (d *Facts) headline() string {
	switch {
	case d.err != nil:
		return d.failure()
	case d.result.AlreadyComplete, d.result.NotModified:
		return "Nothing was transferred."
	}
	text := fmt.Sprintf("%s in %s", option.SizeText(d.result.Size), option.TimeText(d.end))
	if d.resumed > 0 {
		text += fmt.Sprintf(", %s of it from an earlier run", option.SizeText(d.resumed))
	}
	if d.end > 0 {
		text += fmt.Sprintf(": %s on average", option.RateText(MeanRate(d.Fetched, d.result.Size-d.resumed, d.end)))
	}
	return text + fmt.Sprintf("; proof: %s.", d.result.Proof)
}

// MeanRate returns the speed of a download in bytes a second. Bytes beyond the missing ones do not count, because
// fetching them did not make the download faster.
func MeanRate(fetched, missing int64, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(max(0, min(fetched, missing))) / took.Seconds()
}

// failure describes why the download failed, and how many bytes are kept.
func (d *Facts) failure() string {
	text := d.err.Error()
	e, ok := errors.AsType[*download.Error](d.err)
	if ok && e.Err != nil {
		text = e.Err.Error()
	}
	after := "At once"
	if d.end >= time.Millisecond {
		after = "After " + option.TimeText(d.end)
	}
	text = fmt.Sprintf("%s: %s. %s came in this run", after, option.Shorten(source.Escape(text), 300), option.SizeText(d.Fetched))
	if ok && e.Kept > 0 {
		return text + fmt.Sprintf("; %s are kept, and the same command goes on from there.", option.SizeText(e.Kept))
	}
	return text + "; nothing is kept."
}

// words returns the summary.
func (d *Facts) words() (w words) {
	if d.result.AlreadyComplete || d.result.NotModified {
		return nil
	}
	for _, e := range d.restarts {
		w.say(true, "What came until %s was of no use, and everything began again: %s.", option.TimeText(e.At), e.Text)
	}
	if n := d.restarted - len(d.restarts); n > 0 {
		w.say(true, "That happened %d more times.", n)
	}
	for _, g := range d.checks {
		w.say(true, "From %s to %s what came was compared with what other sources have, "+
			"as the file was wrong somewhere.", option.TimeText(g.from), option.TimeText(g.to))
	}
	if !d.live {
		d.sayLimit(&w)
	}
	d.sayShares(&w)
	d.sayLosses(&w)
	d.sayFailures(&w)
	d.sayGrowth(&w)
	d.sayTakeovers(&w)
	d.sayTimes(&w)
	d.sayStretches(&w)
	if d.complete != never && d.verified != never {
		check := d.verified - d.complete
		w.say(d.ofAll(check) > 0.1 && check > 200*time.Millisecond,
			"The check of all bytes was done %s after the last byte, and %s later everything was in place.",
			option.TimeText(check), option.TimeText(d.end-d.verified))
	}
	return w
}

// sayShares describes how much each source sent, and how fast.
func (d *Facts) sayShares(w *words) {
	const most = 6
	rest := d.brought
	var parts []string
	for len(rest) > 0 && (len(parts) < most-1 || len(rest) == 1) {
		m := rest[0]
		parts = append(parts, fmt.Sprintf("%s brought %s at %s", m.Name, share(m.Bytes, d.Fetched), option.RateText(m.Rate())))
		rest = rest[1:]
	}
	if len(rest) > 0 {
		var sum int64
		for _, m := range rest {
			sum += m.Bytes
		}
		parts = append(parts, fmt.Sprintf("%s brought the other %s", option.Count(len(rest), "source"), share(sum, d.Fetched)))
	}
	if len(parts) > 0 {
		w.say(false, "%s.", strings.Join(parts, ", "))
	}
	if twice := max(d.result.Duplicate, d.Progress.Twice); twice > 0 && (d.live || twice > d.Fetched/50) {
		w.say(twice > d.Fetched/50, "%s came twice.", option.SizeText(twice))
	}
}

// share formats a part of a whole as a percentage. Only the whole is 100 %.
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

// sayLosses describes which sources became silent or slow, and which sources took over. Several losses of one source
// form one sentence.
func (d *Facts) sayLosses(w *words) {
	type kind struct {
		mirror *Mirror
		why    scheduler.Reason
	}
	counts := map[kind]int{}
	for _, l := range d.losses {
		counts[kind{l.mirror, l.why}]++
	}
	for _, l := range d.losses {
		k := kind{l.mirror, l.why}
		n := counts[k]
		if n == 0 || l.why == 0 {
			continue
		}
		counts[k] = 0
		text := fmt.Sprintf("%s fell silent at %s after %s", l.mirror.Name, option.TimeText(l.since), option.SizeText(l.bytes))
		if l.why == scheduler.ReasonSlow {
			text = fmt.Sprintf("%s turned out to be too slow for its range at %s", l.mirror.Name, option.TimeText(l.at))
		}
		switch l.taker {
		case nil:
		case l.mirror:
			text += "; it went on itself at " + option.TimeText(l.taken)
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

// failing returns the sources that failed.
func (d *Facts) failing() []*Mirror {
	return slices.DeleteFunc(slices.Clone(d.Mirrors), func(m *Mirror) bool { return m.failure == "" })
}

// sayFailures describes which sources failed and what happened to them.
func (d *Facts) sayFailures(w *words) {
	all := d.failing()
	for _, m := range all[:min(len(all), mostFailed)] {
		if text := d.failureOf(m); text != "" {
			w.say(true, "%s.", text)
		}
	}
	if n := len(all) - mostFailed; n > 0 {
		w.say(true, "%s failed, too.", option.Count(n, "other source"))
	}
}

// ended reports whether the failure of m, the only source, ended the download. The headline contains it in that case.
func (d *Facts) ended(m *Mirror) bool {
	return d.err != nil && len(d.Mirrors) == 1 && m.failure == Why(d.err, m.Host)
}

// told reports whether the summary or the headline contains the failure of m, so that the table need not repeat it.
func (d *Facts) told(m *Mirror) bool { return slices.Index(d.failing(), m) < mostFailed }

// fates returns the fates of the sources for the table.
func (d *Facts) fates() map[*Mirror]string {
	all := map[*Mirror]string{}
	for _, m := range d.Mirrors {
		all[m] = m.Fate()
		if m.failure != "" && d.told(m) {
			all[m] = strings.TrimSuffix(all[m], ": "+m.failure)
		}
	}
	return all
}

// failureOf describes the failure of a source. It is empty if the headline describes it completely.
func (d *Facts) failureOf(m *Mirror) string {
	if d.ended(m) {
		if m.Failures <= 1 {
			return ""
		}
		return fmt.Sprintf("%s failed %d times, first at %s", m.Name, m.Failures, option.TimeText(m.failedAt))
	}
	if m.banned {
		return fmt.Sprintf("%s was dropped at %s, as its content is wrong: %s", m.Name, option.TimeText(m.goneAt), m.failure)
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
	taken := func(l *loss) bool { return l.mirror == m && l.why == 0 && l.taker != nil && l.taker != m }
	if i := slices.IndexFunc(d.losses, taken); i >= 0 {
		text += ", and the rest of its range went to " + d.losses[i].taker.Name
	}
	return text + ": " + why
}

// sayTakeovers names the pair of sources with the most takeovers.
func (d *Facts) sayTakeovers(w *words) {
	var first takeover
	sum := 0
	for t, n := range d.takeovers {
		sum += n
		if c := cmp.Compare(n, d.takeovers[first]); c > 0 || c == 0 &&
			(t.taker.number < first.taker.number || t.taker == first.taker && t.loser.number < first.loser.number) {
			first = t
		}
	}
	if sum == 0 {
		return
	}
	text := fmt.Sprintf("%s took over a part of what %s was asked for", first.taker.Name, first.loser.Name)
	if first.taker == first.loser {
		text = fmt.Sprintf("one request at %s took over a part of another one", first.taker.Name)
	}
	if sum > 1 {
		text += fmt.Sprintf("; in all, ranges were split %d times", sum)
	}
	w.say(false, "So that all finish together, %s.", text)
}
