package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"braid/internal/option"
	"braid/scheduler"
)

// tellLimit says what kept the download from being faster, if that can be told.
func (r *Recorder) tellLimit(w *words) {
	if r.Limit > 0 { // then no speed says anything of the link
		reached := float64(r.fetched()) > 0.8*float64(r.Limit)*r.end.Seconds()
		text := "--limit-rate allowed " + option.RateText(float64(r.Limit)) + " in all"
		if reached {
			text += ", and that is what came"
		}
		w.say(reached, "%s.", text)
		return
	}
	if r.first == never || r.end < time.Second || r.err != nil || r.restarted > 0 {
		return
	}
	opened, useless, crowded := r.counts()
	brought := r.contributors()
	switch {
	case useless > 0:
		w.say(true, "The link seems full: %s more added nothing.", option.Count(useless, "connection"))
	case crowded > 0:
		w.say(true, "The link looked full for a while: together the sources brought much less than each had shown, so that %s closed on trial.", was(crowded, "connection"))
	case brought == 1 && r.named == 0 && len(r.mirrors) == 1:
		w.say(true, "Everything came from one server that names no mirrors: it was as fast as that server.")
	case brought == 1 && r.noDigest:
		w.say(true, "The server named mirrors and gave no digest, so that only the server itself could be used.")
	case opened > 0 && r.unasked() == 0 && r.refused() == 0:
		r.tellEven(w, brought)
	}
}

// tellEven guesses from the speeds of the sources, all of which were in use, what they have in common.
func (r *Recorder) tellEven(w *words, brought int) {
	list := r.ranked()
	fast, slow := 0.0, math.Inf(1)
	for _, m := range list {
		fast, slow = max(fast, m.rate()), min(slow, m.rate())
	}
	switch {
	case fast < 1.25*slow && brought > 2:
		w.say(false, "All known mirrors were in use, and each was as fast as the others: so it is when they share one link that is full.")
	case fast > 2*slow:
		w.say(false, "All known mirrors were in use, some much faster than others: it seems to be they that limit the speed, so that more mirrors might help.")
	}
}

// counts are the connections that were opened to see whether it gets faster, and those closed again.
func (r *Recorder) counts() (opened, useless, crowded int) {
	for _, m := range r.mirrors {
		opened += m.starts.of(scheduler.ReasonGrowth, scheduler.ReasonRemembered, scheduler.ReasonExchange)
		useless += m.cuts.of(scheduler.ReasonUseless)
		crowded += m.cuts.of(scheduler.ReasonCrowded)
	}
	return opened, useless, crowded
}

// contributors counts the sources that brought something.
func (r *Recorder) contributors() (n int) {
	for _, m := range r.mirrors {
		if m.bytes > 0 {
			n++
		}
	}
	return n
}

// refused counts the sources that failed or were dropped.
func (r *Recorder) refused() (n int) {
	for _, m := range r.mirrors {
		if m.failure != "" {
			n++
		}
	}
	return n
}

// unasked counts the sources that were known and not needed.
func (r *Recorder) unasked() (n int) {
	for _, s := range r.result.Sources {
		if s.Bytes == 0 && s.Err == nil && !slices.ContainsFunc(r.mirrors, func(m *mirror) bool { return m.url == s.URL && m.asked > 0 }) {
			n++
		}
	}
	return n
}

// tellGrowth says how many connections were tried, and what came of it.
func (r *Recorder) tellGrowth(w *words) {
	opened, useless, crowded := r.counts()
	if opened > 0 {
		text := was(opened, "further connection") + " opened to see whether it gets faster"
		if closed := useless + crowded; closed > 0 {
			text += fmt.Sprintf("; %d were closed again, as they brought no gain", closed)
		}
		w.say(false, "%s.", text)
	}
	if n := r.unasked(); n > 0 {
		w.say(false, "%s known and never asked.", was(n, "further mirror"))
	}
}

func was(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return option.Count(n, noun) + " were"
}

// tellBegin says how long it took until something came.
func (r *Recorder) tellBegin(w *words) {
	switch {
	case r.answer == never:
		w.say(true, "Nobody answered.")
	case r.first == never && r.size == 0:
	case r.first == never:
		w.say(true, "The first answer came after %s, and no byte of the file after it.", option.TimeText(r.answer))
	default:
		w.say(r.answer > time.Second || r.answer > 300*time.Millisecond && r.ofAll(r.answer) > 0.05, "%s went by until the first answer.", option.TimeText(r.answer))
	}
}

// tellStill says when nothing came from anybody.
func (r *Recorder) tellStill(w *words) {
	var sum time.Duration
	for _, g := range r.still {
		sum += g.to - g.from
	}
	if sum < quietAfter {
		return
	}
	long := slices.MaxFunc(r.still, func(a, b gap) int { return cmp.Compare(a.to-a.from, b.to-b.from) })
	w.say(true, "For %s nothing came from anybody, the longest time from %s to %s.", option.TimeText(sum), option.TimeText(long.from), option.TimeText(long.to))
}

// tellEnd says what happened after the last byte.
func (r *Recorder) tellEnd(w *words) {
	if r.complete == never || r.verified == never {
		return
	}
	check, place := r.verified-r.complete, r.end-r.verified
	w.say(r.ofAll(check) > 0.1 && check > 200*time.Millisecond, "The check of all bytes was done %s after the last byte, and %s later everything was in place.",
		option.TimeText(check), option.TimeText(place))
}

// A stretch is a time in which much less came than in the rest.
type stretch struct {
	from, to       int     // columns
	slow, fast     float64 // in it, and else
	atBegin, atEnd bool
	culprit        *mirror // if there is one
	his, hisElse   float64
}

// tellStretches says when it was slow, and by whom.
func (r *Recorder) tellStretches(w *words) {
	list := r.stretches()
	slices.SortStableFunc(list, func(a, b stretch) int { return cmp.Compare(b.to-b.from, a.to-a.from) })
	for _, s := range list[:min(len(list), 2)] {
		from, to := time.Duration(s.from)*r.width, min(time.Duration(s.to)*r.width, r.last)
		if to-from < time.Second || r.ofAll(to-from) < 0.1 {
			continue
		}
		var b strings.Builder
		if m := r.silentIn(from, to); m != nil {
			b.WriteString(", while " + r.label(m) + " was silent")
		} else if s.culprit != nil {
			b.WriteString(", mostly because " + r.label(s.culprit) + " brought " + option.RateText(s.his) + " in place of " + option.RateText(s.hisElse))
		}
		switch {
		case s.atBegin:
			w.say(true, "Until %s it was slow to begin with: %s, then %s.", option.TimeText(to), option.RateText(s.slow), option.RateText(s.fast))
		case s.atEnd:
			w.say(true, "From %s to the end only %s came, before that it was %s%s.", option.TimeText(from), option.RateText(s.slow), option.RateText(s.fast), &b)
		default:
			w.say(true, "From %s to %s only %s came, else %s%s.", option.TimeText(from), option.TimeText(to), option.RateText(s.slow), option.RateText(s.fast), &b)
		}
	}
}

// silentIn finds who was silent for most of a time. Others who brought less in it may have had nothing left to do.
func (r *Recorder) silentIn(from, to time.Duration) *mirror {
	for _, l := range r.losses {
		if l.why == scheduler.ReasonSilent && min(l.at, to)-max(l.since, from) > (to-from)*3/4 {
			return l.who
		}
	}
	return nil
}

// stretches finds the times in which less than half of the usual came.
func (r *Recorder) stretches() (out []stretch) {
	if r.first == never {
		return nil
	}
	begin, end := int(max(r.answer, 0)/r.width), int(r.last/r.width)+1
	smooth := r.smooth(begin, end)
	if len(smooth) < 8 {
		return nil
	}
	usual := r.usual(smooth, begin)
	for i := 0; i < len(smooth); {
		j := i
		for j < len(smooth) && smooth[j] < usual/2 && !r.inCheck(begin+j) {
			j++
		}
		if j > i {
			s := stretch{from: begin + i, to: begin + j, atBegin: i == 0, atEnd: j == len(smooth)}
			r.blame(&s, begin, end)
			out = append(out, s)
		}
		i = j + 1
	}
	return out
}

// smoothing is how far around a column smooth looks.
const smoothing = 250 * time.Millisecond

// smooth are the bytes by column, each as the mean of half a second around it.
func (r *Recorder) smooth(begin, end int) (out []float64) {
	around := int(smoothing/r.width) + 1
	for c := begin; c < end; c++ {
		from, to := max(begin, c-around), min(end, c+around+1)
		out = append(out, r.total.sum(from, to)/float64(to-from))
	}
	return out
}

// blame finds the source that brought so much less that it explains most of a stretch.
func (r *Recorder) blame(s *stretch, begin, end int) {
	in := float64(s.to-s.from) * r.width.Seconds()
	out := float64(end-begin)*r.width.Seconds() - in - r.checked(time.Duration(begin)*r.width, time.Duration(end)*r.width).Seconds()
	speeds := func(x series) (slow, fast float64) {
		had := x.sum(s.from, s.to)
		return had / in, (x.sum(begin, end) - had) / max(out, r.width.Seconds())
	}
	s.slow, s.fast = speeds(r.total)
	if r.contributors() < 2 {
		return
	}
	for _, m := range r.mirrors {
		if his, other := speeds(m.flow); other-his > (s.fast-s.slow)/2 {
			s.culprit, s.his, s.hisElse = m, his, other
		}
	}
}
