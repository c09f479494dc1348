package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"braid/internal/option"
	"braid/scheduler"
)

// sayLimit describes what limited the speed of the download, if that can be inferred.
func (d *Facts) sayLimit(w *words) {
	if d.Limit < 0 {
		w.say(false, "--limit-rate allowed different speeds at different times.")
		return
	}
	if d.Limit > 0 { // a limit hides the speed of the link
		reached := float64(d.Fetched) > 0.8*float64(d.Limit)*d.end.Seconds()
		text := "--limit-rate allowed " + option.RateText(float64(d.Limit)) + " in all"
		if reached {
			text += ", and that is what came"
		}
		w.say(reached, "%s.", text)
		return
	}
	if d.first == never || d.end < time.Second || d.err != nil || d.restarted > 0 {
		return
	}
	useless, crowded, brought := d.reasons[scheduler.ReasonUseless], d.reasons[scheduler.ReasonCrowded], len(d.brought)
	failed := slices.ContainsFunc(d.Mirrors, func(m *Mirror) bool { return m.failure != "" })
	switch {
	case useless > 0:
		w.say(true, "The link seems full: %s more added nothing.", option.Count(useless, "connection"))
	case crowded > 0:
		w.say(true, "The link looked full for a while: "+
			"together the sources brought much less than each had shown, so that %s closed on trial.", was(crowded, "connection"))
	case brought == 1 && d.named == 0 && len(d.Mirrors) == 1:
		w.say(true, "Everything came from one server that names no mirrors: it was as fast as that server.")
	case brought == 1 && d.NoDigest:
		w.say(true, "The server named mirrors and gave no digest, so that only the server itself could be used.")
	case d.opened() > 0 && d.unasked() == 0 && !failed:
		d.sayEven(w, brought)
	}
}

// sayEven infers a common cause from the speeds of the sources. All known sources must have been in use.
func (d *Facts) sayEven(w *words, brought int) {
	fast, slow := 0.0, math.Inf(1)
	for _, m := range d.ranked {
		fast, slow = max(fast, m.Rate()), min(slow, m.Rate())
	}
	switch {
	case fast < 1.25*slow && brought > 2:
		w.say(false, "All known mirrors were in use, and each was as fast as the others: "+
			"they may share one link that is full.")
	case fast > 2*slow:
		w.say(false, "All known mirrors were in use, some much faster than others: "+
			"they seem to limit the speed, and more mirrors might help.")
	}
}

// opened returns the number of connections that were opened to test whether they increase the speed.
func (d *Facts) opened() int {
	return d.reasons.of(scheduler.ReasonGrowth, scheduler.ReasonRemembered, scheduler.ReasonExchange)
}

// unasked returns the number of known sources that were not needed.
func (d *Facts) unasked() (n int) {
	for _, s := range d.result.Sources {
		if s.Bytes == 0 && s.Err == nil && !slices.ContainsFunc(d.ranked, func(m *Mirror) bool { return m.URL == s.URL }) {
			n++
		}
	}
	return n
}

// sayGrowth describes how many connections were tried, and how many were closed again.
func (d *Facts) sayGrowth(w *words) {
	if opened := d.opened(); opened > 0 {
		text := was(opened, "further connection") + " opened to see whether it gets faster"
		if closed := d.reasons.of(scheduler.ReasonUseless, scheduler.ReasonCrowded); closed > 0 {
			text += fmt.Sprintf("; %d were closed again, as they brought no gain", closed)
		}
		w.say(false, "%s.", text)
	}
	if n := d.unasked(); n > 0 {
		w.say(false, "%s known and never asked.", was(n, "further mirror"))
	}
}

func was(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return option.Count(n, noun) + " were"
}

// sayTimes describes the time until the first answer, and the time in which no source sent bytes.
func (d *Facts) sayTimes(w *words) {
	switch {
	case d.answer == never && (d.refused || answered(d.err)): // described by other sentences
	case d.answer == never:
		w.say(true, "No source answered.")
	case d.first == never && d.size == 0:
	case d.first == never:
		w.say(true, "The first answer came after %s, and no byte of the file after it.", option.TimeText(d.answer))
	default:
		w.say(d.answer > time.Second || d.answer > 300*time.Millisecond && d.ofAll(d.answer) > 0.05,
			"%s went by until the first answer.", option.TimeText(d.answer))
	}
	var sum time.Duration
	for _, g := range d.still {
		sum += g.length()
	}
	if sum >= quietAfter {
		long := slices.MaxFunc(d.still, byLength)
		w.say(true, "For %s nothing came from any source, the longest time from %s to %s.", option.TimeText(sum),
			option.TimeText(long.from), option.TimeText(long.to))
	}
}

// stretch is a period in which the download was much slower than usual.
type stretch struct {
	from, to       int     // columns
	slow, fast     float64 // speed in the stretch and outside
	atBegin, atEnd bool
	cause          *Mirror // nil if no source explains the stretch
	its, itsElse   float64
}

// sayStretches describes when the download was slow, and which source caused it.
func (d *Facts) sayStretches(w *words) {
	list := d.stretches()
	slices.SortStableFunc(list, func(a, b stretch) int { return (b.to - b.from) - (a.to - a.from) })
	for _, s := range list[:min(len(list), 2)] {
		from, to := time.Duration(s.from)*d.width, min(time.Duration(s.to)*d.width, d.last)
		if to-from < time.Second || d.ofAll(to-from) < 0.1 {
			continue
		}
		because, slow, fast := "", option.RateText(s.slow), option.RateText(s.fast)
		if m := d.silentIn(from, to); m != nil {
			because = ", while " + m.Name + " was silent"
		} else if s.cause != nil {
			because = ", mostly because " + s.cause.Name + " brought " + option.RateText(s.its) +
				" in place of " + option.RateText(s.itsElse)
		}
		switch {
		case s.atBegin:
			w.say(true, "Until %s it was slow to begin with: %s, then %s.", option.TimeText(to), slow, fast)
		case s.atEnd:
			w.say(true, "From %s %s only %s came, before that it was %s%s.", option.TimeText(from), d.until(), slow,
				fast, because)
		default:
			w.say(true, "From %s to %s only %s came, else %s%s.", option.TimeText(from), option.TimeText(to), slow, fast, because)
		}
	}
}

// until ends the phrase about a stretch that lasts to the end.
func (d *Facts) until() string {
	if d.live {
		return "until now"
	}
	return "to the end"
}

// silentIn returns the source that was silent for most of a period. A source that merely sent less may have had nothing
// left to do.
func (d *Facts) silentIn(from, to time.Duration) *Mirror {
	for _, l := range d.losses {
		if l.why == scheduler.ReasonSilent && min(l.at, to)-max(l.since, from) > (to-from)*3/4 {
			return l.mirror
		}
	}
	return nil
}

// stretches returns the periods with less than half of the usual speed. Columns with comparisons do not count.
func (d *Facts) stretches() (out []stretch) {
	if d.first == never {
		return nil
	}
	begin, end := int(max(d.answer, 0)/d.width), int(d.last/d.width)+1
	smooth := d.smooth(begin, end)
	if len(smooth) < 8 {
		return nil
	}
	counts := make([]bool, len(smooth))
	var sorted []float64
	for i, x := range smooth {
		around := smoothing + d.width
		if counts[i] = d.checked(time.Duration(begin+i)*d.width-around, time.Duration(begin+i+1)*d.width+around) == 0; counts[i] {
			sorted = append(sorted, x)
		}
	}
	if len(sorted) == 0 {
		return nil
	}
	slices.Sort(sorted)
	usual := sorted[len(sorted)*3/4] // the upper quartile
	for i := 0; i < len(smooth); {
		j := i
		for j < len(smooth) && smooth[j] < usual/2 && counts[j] {
			j++
		}
		if j > i {
			s := stretch{from: begin + i, to: begin + j, atBegin: i == 0, atEnd: j == len(smooth)}
			d.blame(&s, begin, end)
			out = append(out, s)
		}
		i = j + 1
	}
	return out
}

// checked returns the time within a period that was spent on comparisons.
func (d *Facts) checked(from, to time.Duration) (sum time.Duration) {
	for _, g := range d.checks {
		sum += max(0, min(g.to, to)-max(g.from, from))
	}
	return sum
}

// smoothing is how far smooth looks to each side of a column.
const smoothing = 250 * time.Millisecond

// smooth returns the bytes of each column, averaged over half a second around it.
func (d *Facts) smooth(begin, end int) (out []float64) {
	around := int(smoothing/d.width) + 1
	for c := begin; c < end; c++ {
		from, to := max(begin, c-around), min(end, c+around+1)
		out = append(out, d.total.sum(from, to)/float64(to-from))
	}
	return out
}

// blame sets the source whose lower speed explains most of a stretch.
func (d *Facts) blame(s *stretch, begin, end int) {
	in := float64(s.to-s.from) * d.width.Seconds()
	out := float64(end-begin)*d.width.Seconds() - in - d.checked(time.Duration(begin)*d.width,
		time.Duration(end)*d.width).Seconds()
	speeds := func(x series) (slow, fast float64) {
		had := x.sum(s.from, s.to)
		return had / in, (x.sum(begin, end) - had) / max(out, d.width.Seconds())
	}
	s.slow, s.fast = speeds(d.total)
	if len(d.brought) < 2 {
		return
	}
	for _, m := range d.Mirrors {
		if its, other := speeds(m.flow); other-its > (s.fast-s.slow)/2 {
			s.cause, s.its, s.itsElse = m, its, other
		}
	}
}
