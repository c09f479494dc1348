package report

import (
	"slices"
	"time"

	"braid/download"
	"braid/internal/option"
)

// compare takes down when what came is compared with what other sources have: from the first event that says so to the first one that
// is about something else. Nothing of the file comes in that time, which is no fault of a source.
func (r *Recorder) compare(ev download.Event) {
	switch ev := ev.(type) {
	case download.Comparing:
		if r.comparing == never {
			r.comparing = r.now
			r.say(true, "the file is wrong somewhere: what came is compared with what other sources have")
		}
		r.compared = ev.Done
	case download.Note, download.SourceDown:
	default:
		r.endComparison()
	}
}

func (r *Recorder) endComparison() {
	if r.comparing == never {
		return
	}
	r.checks.add(gap{nil, r.comparing, r.now})
	r.say(false, "%s were compared", option.SizeText(r.compared))
	r.comparing = never
}

// checked is how much of a time went by with comparing.
func (r *Recorder) checked(from, to time.Duration) (sum time.Duration) {
	for _, g := range r.checks {
		sum += max(0, min(g.to, to)-max(g.from, from))
	}
	return sum
}

// inCheck reports whether what smooth has for a column is of a time in which bytes were compared.
func (r *Recorder) inCheck(column int) bool {
	around := smoothing + r.width
	return r.checked(time.Duration(column)*r.width-around, time.Duration(column+1)*r.width+around) > 0
}

// usual is what three of four columns have no more of, of those in which bytes could come.
func (r *Recorder) usual(smooth []float64, begin int) float64 {
	var list []float64
	for i, x := range smooth {
		if !r.inCheck(begin + i) {
			list = append(list, x)
		}
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)*3/4]
}

// stood takes note that nothing came from anybody since a time, but for what went by with comparing.
func (r *Recorder) stood(since time.Duration) {
	for _, g := range r.checks { // in the order of time
		if g.to <= since {
			continue
		}
		if g.from-since > quietAfter {
			r.still.add(gap{nil, since, g.from})
		}
		since = max(since, g.to)
	}
	if r.now-since > quietAfter {
		r.still.add(gap{nil, since, r.now})
	}
}

// tellChecks says when what came was compared.
func (r *Recorder) tellChecks(w *words) {
	for _, g := range r.checks {
		w.say(true, "From %s to %s what came was compared with what other sources have, as the file was wrong somewhere.", option.TimeText(g.from), option.TimeText(g.to))
	}
}
