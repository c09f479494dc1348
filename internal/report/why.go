package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"braid/internal/option"
	"braid/scheduler"
)

// limit describes what limited the speed of the download, as far as that can be inferred.
func (w *story) limit(d *facts) {
	if d.Limit < 0 {
		w.say(false, "--limit-rate allowed different speeds at different times.")
		return
	}
	if d.Limit > 0 { // a limit hides the speed of the link
		reached := float64(d.Fetched) > 0.8*float64(d.Limit)*d.ending.at.Seconds()
		text := "--limit-rate allowed " + option.RateText(float64(d.Limit)) + " in all"
		if reached {
			text += ", and that speed was reached"
		}
		w.say(reached, "%s.", text)
		return
	}
	if d.course.first == never || d.ending.at < time.Second || d.ending.err != nil || d.restarts.count > 0 {
		return
	}
	useless, crowded := d.requests.reasons[scheduler.ReasonUseless], d.requests.reasons[scheduler.ReasonCrowded]
	brought := len(d.brought)
	switch {
	case useless > 0:
		w.say(true, "The link seems full: %s more added no speed.", option.Count(useless, "connection"))
	case crowded > 0:
		w.say(true, "The link looked full for a while: together the sources sent much less than each alone, so %s "+
			"closed as a test.", was(crowded, "connection"))
	case brought == 1 && d.named == 0 && len(d.Mirrors) == 1:
		w.say(true, "All bytes came from one server that names no mirrors, so that server limited the speed.")
	case brought == 1 && d.NoDigest:
		w.say(true, "The server named mirrors, but sent no digest, so only the server itself could be used.")
	case d.requests.opened() > 0 && d.ending.unasked(d.ranked) == 0 && len(d.failing()) == 0:
		w.even(&d.sources)
	}
}

// even infers a common cause from the speeds of the sources. It may only be called if all known sources were in use.
func (w *story) even(s *sources) {
	fast, slow := 0.0, math.Inf(1)
	for _, m := range s.ranked {
		fast, slow = max(fast, m.Rate()), min(slow, m.Rate())
	}
	switch {
	case fast < 1.25*slow && len(s.brought) > 2:
		w.say(false, "All known mirrors were in use, and each was as fast as the others: "+
			"they may share one link that is full.")
	case fast > 2*slow:
		w.say(false, "All known mirrors were in use, some much faster than others: "+
			"they seem to limit the speed, and more mirrors might help.")
	}
}

// growth describes how many connections were tried, and how many of them were closed again. unasked is the number of
// sources that were not needed.
func (w *story) growth(q *requests, unasked int) {
	if opened := q.opened(); opened > 0 {
		text := was(opened, "further connection") + " opened to test whether the speed increases"
		if closed := q.closed(); closed > 0 {
			text += fmt.Sprintf("; %d were closed again, because they added no speed", closed)
		}
		w.say(false, "%s.", text)
	}
	if unasked > 0 {
		w.say(false, "%s known but not used.", was(unasked, "further mirror"))
	}
}

func was(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return option.Count(n, noun) + " were"
}

// times describes how long the first answer took, and when no source sent data. size is the size of the file.
func (w *story) times(c *course, e *ending, size int64) {
	switch {
	case c.answer == never && (c.refused || answered(e.err)): // other sentences are about this
	case c.answer == never:
		w.say(true, "No source answered.")
	case c.first == never && size == 0:
	case c.first == never:
		w.say(true, "The first answer came after %s, without a byte of the file.", option.TimeText(c.answer))
	default:
		w.say(c.answer > time.Second || c.answer > 300*time.Millisecond && e.part(c.answer) > 0.05,
			"The first answer came after %s.", option.TimeText(c.answer))
	}
	var sum time.Duration
	for _, g := range c.still {
		sum += g.length()
	}
	if sum >= quietAfter {
		long := slices.MaxFunc(c.still, byLength)
		w.say(true, "No source sent bytes for %s in all; the longest pause was from %s to %s.", option.TimeText(sum),
			option.TimeText(long.from), option.TimeText(long.to))
	}
}

// stretches describes when the download was slow, and the source that caused it.
func (w *story) stretches(d *facts) {
	list := d.slow()
	slices.SortStableFunc(list, func(a, b stretch) int { return (b.to - b.from) - (a.to - a.from) })
	until := "to the end"
	if d.ending.live {
		until = "until now"
	}
	for _, s := range list[:min(len(list), 2)] {
		from, to := time.Duration(s.from)*d.columns.width, min(time.Duration(s.to)*d.columns.width, d.course.last)
		if to-from < time.Second || d.ending.part(to-from) < 0.1 {
			continue
		}
		because, slow, fast := "", option.RateText(s.slow), option.RateText(s.fast)
		if m := d.requests.silentIn(from, to); m != nil {
			because = ", while " + m.Name + " was silent"
		} else if s.cause != nil {
			because = ", mostly because " + s.cause.Name + " sent " + option.RateText(s.its) +
				" instead of " + option.RateText(s.itsElse)
		}
		switch {
		case s.atBegin:
			w.say(true, "The download was slow until %s: %s, then %s.", option.TimeText(to), slow, fast)
		case s.atEnd:
			w.say(true, "From %s %s only %s arrived, before that %s%s.", option.TimeText(from), until, slow, fast, because)
		default:
			w.say(true, "From %s to %s only %s arrived, otherwise %s%s.", option.TimeText(from), option.TimeText(to), slow,
				fast, because)
		}
	}
}

// slow returns the stretches in which the download was slow.
func (d *facts) slow() []stretch {
	if d.course.first == never {
		return nil
	}
	width, suspects := d.columns.width, d.Mirrors
	if len(d.brought) < 2 {
		suspects = nil
	}
	p := pace{&d.columns, &d.comparison, int(max(d.course.answer, 0) / width), int(d.course.last/width) + 1}
	return p.stretches(suspects)
}
