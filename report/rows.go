package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"braid/scheduler"
)

const (
	maxRowsShown = 48
	rowTop       = 10 // pixels of a row above its bars
	rowBar       = 12 // and of a bar
	maxLanes     = 4  // fetches of one source at a time that are told apart
)

// rows are the sources that were asked, in the order of that. Of very many, those are shown that brought most.
func (r *Recorder) rows() (out []row, unshown int) {
	shown := r.ranked()
	if len(shown) > maxRowsShown {
		unshown = len(shown) - maxRowsShown
		shown = shown[:maxRowsShown]
	}
	slices.SortStableFunc(shown, func(a, b *mirror) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.number, b.number)) })
	for _, m := range shown {
		out = append(out, r.row(m))
	}
	return out, unshown
}

func (r *Recorder) row(m *mirror) row {
	x := row{Class: r.colour(m), Name: r.label(m), Full: m.url}
	var list []*fetch
	for i := range r.past.list {
		if f := &r.past.list[i]; f.who == m {
			list = append(list, f)
		}
	}
	sortedByStart(list)
	lanes := r.lanes(list)
	count := 1
	for _, l := range lanes {
		count = max(count, l+1)
	}
	h := rowBar / float64(count)
	var marks []placed
	for i, f := range list {
		y := rowTop + float64(lanes[i])*h
		marks = append(marks, r.bars(&x, f, y, h)...)
	}
	for _, g := range r.silent {
		if g.who == m {
			x.Quiet = append(x.Quiet, r.bar(g.from, g.to, rowTop, rowBar, "nothing came for "+span(g)))
		}
	}
	for _, g := range r.pauses {
		if g.who == m {
			x.Pauses = append(x.Pauses, r.bar(g.from, g.to, rowTop+rowBar/2, 0, "not asked after a failure for "+span(g)))
		}
	}
	switch {
	case m.banned:
		marks = append(marks, placed{m.goneAt, mark{Kind: "banned", Title: "dropped, wrong content: " + m.failure}, 9})
	case m.gone:
		marks = append(marks, placed{m.goneAt, mark{Kind: "banned", Title: "given up: " + m.failure}, 9})
	}
	x.Marks = r.spaced(marks)
	return x
}

// lanes finds for each fetch a lane that is free when it begins.
func (r *Recorder) lanes(list []*fetch) []int {
	lanes, until := make([]int, len(list)), make([]time.Duration, maxLanes)
	for i, f := range list {
		for l := range until {
			if until[l] <= f.asked || l == maxLanes-1 {
				lanes[i], until[l] = l, f.ended
				break
			}
		}
	}
	return lanes
}

// bars draws a fetch: a thin one while it waits for the answer, then a thick one.
func (r *Recorder) bars(x *row, f *fetch, y, h float64) (marks []placed) {
	title := r.fetchTitle(f)
	flows := f.answered
	if flows == never {
		flows = f.ended
	}
	if f.answered == never || flows-f.asked > r.end/1000 { // else it cannot be seen
		x.Waits = append(x.Waits, r.bar(f.asked, flows, y+h/2-1, 2, title))
	}
	if f.answered != never {
		x.Bars = append(x.Bars, r.bar(flows, f.ended, y, h-min(0.5, rowBar/h-1), title))
	}
	if kind, weight := startMark(f.why); kind != "" {
		marks = append(marks, placed{f.asked, mark{Kind: kind, Title: title}, weight})
	}
	if kind, weight := endMark(f); kind != "" {
		marks = append(marks, placed{f.ended, mark{Kind: kind, Title: title}, weight})
	}
	return marks
}

func (r *Recorder) bar(from, to time.Duration, y, h float64, title string) bar {
	wide := percentText(max(float64(to-from)/float64(r.end), 0.0015))
	return bar{X: r.place(from), W: wide, End: r.place(to), Y: number(y), H: number(h), Title: title}
}

func span(g gap) string {
	return fmt.Sprintf("%s, from %s to %s", clock(g.to-g.from), clock(g.from), clock(g.to))
}

// startMark is how the beginning of a fetch is marked. An ordinary one is not.
func startMark(why scheduler.Reason) (kind string, weight int) {
	switch why {
	case scheduler.ReasonFirst:
		return "first", 3
	case scheduler.ReasonGrowth, scheduler.ReasonRemembered, scheduler.ReasonExchange:
		return "more", 4
	case scheduler.ReasonReturn:
		return "again", 2
	case scheduler.ReasonSplit:
		return "took", 1
	}
	return "", 0
}

// endMark is how the end of a fetch is marked.
func endMark(f *fetch) (kind string, weight int) {
	switch {
	case f.failure != "":
		return "failed", 7
	case f.cut == scheduler.ReasonSilent:
		return "silent", 8
	case f.cut == scheduler.ReasonSlow:
		return "slow", 6
	case f.cut == scheduler.ReasonUseless || f.cut == scheduler.ReasonCrowded:
		return "less", 5
	case f.cut == scheduler.ReasonSameHost || f.cut == scheduler.ReasonNoRanges || f.cut == scheduler.ReasonLied:
		return "less", 5
	}
	return "", 0
}

// A placed mark has a time, and a weight that decides which of two stays that would lie one on top of the other.
type placed struct {
	at time.Duration
	mark
	weight int
}

// spaced are marks that do not lie on each other, as long as the picture is not very narrow.
func (r *Recorder) spaced(list []placed) (out []mark) {
	const near = 0.014
	slices.SortStableFunc(list, func(a, b placed) int { return cmp.Compare(b.weight, a.weight) })
	var kept []placed
	for _, p := range list {
		free := true
		for _, k := range kept {
			if d := float64(p.at-k.at) / float64(r.end); d < near && d > -near {
				free = false
				break
			}
		}
		if free {
			kept = append(kept, p)
		}
	}
	slices.SortStableFunc(kept, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	for _, k := range kept {
		k.At = r.place(k.at)
		out = append(out, k.mark)
	}
	return out
}

// kinds are the marks that occur, each with what it means.
func kinds(rows []row) (out []mark) {
	for _, k := range [...]mark{
		{Kind: "first", Title: "first request"},
		{Kind: "more", Title: "one more connection, to see whether it gets faster"},
		{Kind: "less", Title: "closed: no gain"},
		{Kind: "took", Title: "takes over a part of another's range"},
		{Kind: "again", Title: "tried again"},
		{Kind: "slow", Title: "too slow: rest given away"},
		{Kind: "silent", Title: "fell silent: rest given away"},
		{Kind: "failed", Title: "failed"},
		{Kind: "banned", Title: "dropped for good"},
	} {
		if slices.ContainsFunc(rows, func(r row) bool {
			return slices.ContainsFunc(r.Marks, func(m mark) bool { return m.Kind == k.Kind })
		}) {
			out = append(out, k)
		}
	}
	return out
}
