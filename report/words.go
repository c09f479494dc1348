package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"braid/download"
	"braid/internal/option"
	"braid/scheduler"
	"braid/source"
)

// A word is a sentence of the summary. Bad ones say what cost time.
type word struct {
	Text string
	Bad  bool
}

// words are the summary: what a reader wants to know first.
type words []word

func (w *words) say(bad bool, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if strings.HasSuffix(text, "....") { // what was shortened ends with a period already
		text = text[:len(text)-1]
	}
	*w = append(*w, word{text, bad})
}

// outcome is a class and a word for how it ended.
func (r *Recorder) outcome() (class, text string) {
	e, ok := errors.AsType[*download.Error](r.err)
	switch {
	case ok && e.Kind == download.Interrupted:
		return "stopped", "interrupted"
	case r.err != nil:
		return "failed", "failed"
	case r.result.AlreadyComplete:
		return "done", "already complete"
	case r.result.NotModified:
		return "done", "not modified"
	case r.result.Proof.Verified():
		return "done", "complete and verified"
	case r.result.Proof.ByPieces():
		return "done", "complete, its pieces checked"
	}
	return "open", "complete, not verified"
}

// headline is the result in a line.
func (r *Recorder) headline() string {
	switch {
	case r.err != nil:
		return r.failure()
	case r.result.AlreadyComplete, r.result.NotModified:
		return "Nothing was transferred."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s", option.SizeText(r.result.Size), option.TimeText(r.end))
	if r.resumed > 0 {
		fmt.Fprintf(&b, ", %s of it from an earlier run", option.SizeText(r.resumed))
	}
	if r.end > 0 {
		fmt.Fprintf(&b, ": %s on average", option.RateText(float64(r.useful())/r.end.Seconds()))
	}
	fmt.Fprintf(&b, "; proof: %s.", r.result.Proof)
	return b.String()
}

// failure says what ended the download, and what is left of it.
func (r *Recorder) failure() string {
	text := r.err.Error()
	e, ok := errors.AsType[*download.Error](r.err)
	if ok && e.Err != nil {
		text = e.Err.Error()
	}
	after := "At once"
	if r.end >= time.Millisecond {
		after = "After " + option.TimeText(r.end)
	}
	text = fmt.Sprintf("%s: %s.", after, option.Shorten(source.Escape(text), 300))
	text += fmt.Sprintf(" %s came in this run", option.SizeText(r.fetched()))
	if ok && e.Kept > 0 {
		return text + fmt.Sprintf("; %s are kept, and the same command goes on from there.", option.SizeText(e.Kept))
	}
	return text + "; nothing is kept."
}

// fetched counts the bytes that arrived.
func (r *Recorder) fetched() (n int64) {
	for _, m := range r.mirrors {
		n += m.bytes
	}
	return n
}

// useful counts the bytes that arrived and are part of the file: what was fetched in vain did not make it faster.
func (r *Recorder) useful() int64 {
	return max(0, min(r.fetched(), r.result.Size-r.resumed))
}

// words are the whole summary.
func (r *Recorder) words() (w words) {
	if r.result.AlreadyComplete || r.result.NotModified {
		return nil
	}
	r.tellRestarts(&w)
	r.tellChecks(&w)
	r.tellLimit(&w)
	r.tellShares(&w)
	r.tellLosses(&w)
	r.tellFailures(&w)
	r.tellGrowth(&w)
	r.tellThefts(&w)
	r.tellBegin(&w)
	r.tellStill(&w)
	r.tellStretches(&w)
	r.tellEnd(&w)
	return w
}

// tellRestarts says what was of no use.
func (r *Recorder) tellRestarts(w *words) {
	for _, e := range r.restarts {
		w.say(true, "What came until %s was of no use, and everything began again: %s.", option.TimeText(e.at), e.text)
	}
	if n := r.restarted - len(r.restarts); n > 0 {
		w.say(true, "That happened %d more times.", n)
	}
}

// tellShares says who brought how much, and how fast.
func (r *Recorder) tellShares(w *words) {
	const most = 6
	all := r.fetched()
	var parts []string
	var rest []*mirror
	for _, m := range r.ranked() {
		if m.bytes > 0 {
			rest = append(rest, m)
		}
	}
	for len(rest) > 0 && (len(parts) < most-1 || len(rest) == 1) {
		m := rest[0]
		parts = append(parts, fmt.Sprintf("%s brought %s at %s", r.label(m), share(m.bytes, all), option.RateText(m.rate())))
		rest = rest[1:]
	}
	if len(rest) > 0 {
		var sum int64
		for _, m := range rest {
			sum += m.bytes
		}
		parts = append(parts, fmt.Sprintf("%s brought the other %s", option.Count(len(rest), "source"), share(sum, all)))
	}
	if len(parts) > 0 {
		w.say(false, "%s.", strings.Join(parts, ", "))
	}
	if d := r.result.Duplicate; d > all/50 && d > 0 {
		w.say(true, "%s came twice.", option.SizeText(d))
	}
}

// share is a part of a whole in percent. Only all of it is 100 %.
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

// tellLosses says who fell silent or got slow, and who took over. Several losses of one source are one sentence.
func (r *Recorder) tellLosses(w *words) {
	type kind struct {
		who *mirror
		why scheduler.Reason
	}
	counts := map[kind]int{}
	for _, l := range r.losses {
		counts[kind{l.who, l.why}]++
	}
	for _, l := range r.losses {
		k := kind{l.who, l.why}
		n := counts[k]
		if n == 0 || l.why == 0 {
			continue
		}
		counts[k] = 0
		text := fmt.Sprintf("%s fell silent at %s after %s", r.label(l.who), option.TimeText(l.since), option.SizeText(l.bytes))
		if l.why == scheduler.ReasonSlow {
			text = fmt.Sprintf("%s turned out to be too slow for its range at %s", r.label(l.who), option.TimeText(l.at))
		}
		w.say(true, "%s%s%s.", text, r.taken(l), times(n))
	}
}

// taken says who took over what was lost.
func (r *Recorder) taken(l *loss) string {
	switch {
	case l.taker == nil:
		return ""
	case l.taker == l.who:
		return fmt.Sprintf("; it went on itself at %s", option.TimeText(l.taken))
	}
	return fmt.Sprintf("; the rest of its range went to %s at %s", r.label(l.taker), option.TimeText(l.taken))
}

// times says that it was not the only time.
func times(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d times in all)", n)
}

// maxTold is how many sources that failed are named one by one.
const maxTold = 6

// tellFailures says who failed and what became of it.
func (r *Recorder) tellFailures(w *words) {
	told, more := 0, 0
	for _, m := range r.mirrors {
		if m.failure == "" {
			continue
		}
		if told++; told > maxTold {
			more++
			continue
		}
		switch {
		case m.banned:
			w.say(true, "%s was dropped at %s, as its content is wrong: %s.", r.label(m), option.TimeText(m.goneAt), m.failure)
		case m.failures < 2:
			w.say(true, "%s failed at %s%s%s: %s.", r.label(m), option.TimeText(m.failedAt), given(m), r.takenFrom(m), m.failure)
		default:
			w.say(true, "%s failed %d times, first at %s%s%s: %s%s.", r.label(m), m.failures, option.TimeText(m.failedAt), given(m), r.takenFrom(m), m.before, lastly(m))
		}
	}
	if more > 0 {
		w.say(true, "%s failed, too.", option.Count(more, "other source"))
	}
}

// given says that a source was given up.
func given(m *mirror) string {
	if !m.gone {
		return ""
	}
	return ", was given up at " + option.TimeText(m.goneAt)
}

// lastly is the last failure of a source, if it is another one than the first.
func lastly(m *mirror) string {
	if m.failure == m.before {
		return ""
	}
	return "; lastly: " + m.failure
}

// takenFrom says who took over from a source that failed.
func (r *Recorder) takenFrom(m *mirror) string {
	for _, l := range r.losses {
		if l.who == m && l.why == 0 && l.taker != nil && l.taker != m {
			return ", and the rest of its range went to " + r.label(l.taker)
		}
	}
	return ""
}

// tellThefts names those who took over most.
func (r *Recorder) tellThefts(w *words) {
	type row struct {
		theft
		n int
	}
	var rows []row
	for t, n := range r.thefts {
		rows = append(rows, row{t, n})
	}
	if len(rows) == 0 {
		return
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.taker.number, b.taker.number), cmp.Compare(a.victim.number, b.victim.number))
	})
	sum := 0
	for _, x := range rows {
		sum += x.n
	}
	first := rows[0]
	text := fmt.Sprintf("%s took over a part of what %s was asked for", r.label(first.taker), r.label(first.victim))
	if first.taker == first.victim {
		text = fmt.Sprintf("one request at %s took over a part of another one", r.label(first.taker))
	}
	if sum > 1 {
		text += fmt.Sprintf("; in all, ranges were split %d times", sum)
	}
	w.say(false, "So that all finish together, %s.", text)
}

// ofAll is a time as a part of the whole.
func (r *Recorder) ofAll(d time.Duration) float64 {
	return float64(d) / float64(max(r.end, 1))
}
