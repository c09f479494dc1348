package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"braid/byterange"
	"braid/internal/option"
	"braid/scheduler"
)

const (
	maxRowsShown = 48
	rowTop       = 10 // pixels above the bars of a row
	rowBar       = 12 // height of a bar in pixels
	maxLanes     = 4  // maximum of concurrent fetches of a source that are drawn separately
)

// row is the time line of one source.
type row struct {
	*Mirror
	Bars   []bar
	Waits  []bar // periods of waiting for an answer
	Quiet  []bar // periods without data in a fetch
	Pauses []bar // periods without requests
	Marks  []mark
}

// bar is a period of time, from X to End, with the width W, as percentages. Y and H are in pixels within the row.
type bar struct{ X, W, End, Y, H, Title string }

// mark is an event of a source. Of marks that would overlap, only the one with the highest weight is drawn.
type mark struct {
	At, Kind, Title string
	at              time.Duration
	weight          int
}

// reason has the page's text for a scheduler.Reason. kind is the kind of its mark, or "" for none.
type reason struct {
	text, kind string
	weight     int
	bad        bool
}

// starts are the reasons why a range is requested.
var starts = map[scheduler.Reason]reason{
	scheduler.ReasonFirst:      {"no other source is in use", "first", 3, false},
	scheduler.ReasonNext:       {"it is free again", "", 0, false},
	scheduler.ReasonGrowth:     {"one more connection, to test whether the speed increases", "more", 4, false},
	scheduler.ReasonRemembered: {"it was fast in an earlier download", "more", 4, false},
	scheduler.ReasonReturn:     {"it is tried again", "again", 2, false},
	scheduler.ReasonExchange:   {"it replaces the slowest source", "more", 4, false},
	scheduler.ReasonSplit:      {"it takes over part of the range of another source", "took", 1, false},
	scheduler.ReasonPiece:      {"a piece from several sources was wrong, and one source fetches all of it", "", 0, false},
}

// cuts are the reasons why a fetch ends before the end of its range.
var cuts = map[scheduler.Reason]reason{
	scheduler.ReasonSplit:      {"another source takes over the rest, so that both finish at the same time", "", 0, false},
	scheduler.ReasonMet:        {"it reached a range that another source is fetching", "", 0, false},
	scheduler.ReasonSilent:     {"it stopped sending, and another source can continue", "silent", 8, true},
	scheduler.ReasonSlow:       {"it would have needed too long for the rest", "slow", 6, true},
	scheduler.ReasonUseless:    {"closed, because it added no speed", "less", 5, false},
	scheduler.ReasonCrowded:    {"closed as a test, because the sources seem to share one link", "less", 5, false},
	scheduler.ReasonSameHost:   {"another name of a server that is already in use", "less", 5, false},
	scheduler.ReasonNoRanges:   {"it sends the whole file instead of a range", "less", 5, false},
	scheduler.ReasonWrongBytes: {"it sent wrong bytes", "less", 5, true},
	scheduler.ReasonDone:       {"all bytes were received", "", 0, false},
}

// kinds returns the legend for the kinds of marks that are in rows.
func kinds(rows []row) []mark {
	return slices.DeleteFunc([]mark{
		{Kind: "first", Title: "first request"},
		{Kind: "more", Title: "one more connection, to test whether the speed increases"},
		{Kind: "less", Title: "closed: no gain in speed"},
		{Kind: "took", Title: "takes over part of another source's range"},
		{Kind: "again", Title: "tried again"},
		{Kind: "slow", Title: "too slow: another source fetches the rest"},
		{Kind: "silent", Title: "fell silent: another source fetches the rest"},
		{Kind: "failed", Title: "failed"},
		{Kind: "banned", Title: "dropped for good"},
	}, func(k mark) bool {
		return !slices.ContainsFunc(rows, func(r row) bool {
			return slices.ContainsFunc(r.Marks, func(m mark) bool { return m.Kind == k.Kind })
		})
	})
}

// rows returns the rows of the sources that got requests, in the order of the first requests. Only the maxRowsShown
// sources that sent the most bytes have a row. unshown is the number of others.
func (x axis) rows(s *sources, q *requests) (out []row, unshown int) {
	shown := slices.Clone(s.ranked[:min(len(s.ranked), maxRowsShown)])
	slices.SortStableFunc(shown, func(a, b *Mirror) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.number, b.number))
	})
	for _, m := range shown {
		out = append(out, x.row(m, q, s.pauses))
	}
	return out, len(s.ranked) - len(shown)
}

func (x axis) row(m *Mirror, q *requests, pauses gaps) row {
	r := row{Mirror: m}
	list := q.of(m)
	lanes, count := lanes(list)
	for i, f := range list {
		x.draw(&r, f, rowTop+float64(lanes[i])*rowBar/count, rowBar/count)
	}
	for _, g := range q.silent {
		if g.mirror == m {
			r.Quiet = append(r.Quiet, x.bar(g.from, g.to, rowTop, rowBar, "no bytes for "+span(g)))
		}
	}
	for _, g := range pauses {
		if g.mirror == m {
			r.Pauses = append(r.Pauses, x.bar(g.from, g.to, rowTop+rowBar/2, 0, "paused after a failure: "+span(g)))
		}
	}
	if m.banned || m.gone {
		r.Marks = append(r.Marks, mark{Kind: "banned", Title: m.Fate(), at: m.goneAt, weight: 9})
	}
	r.Marks = x.spaced(r.Marks)
	return r
}

// lanes assigns to each fetch a lane that is free at the time at which the fetch begins. count is the number of lanes.
func lanes(list []fetch) (lanes []int, count float64) {
	until := []time.Duration{0}
	for _, f := range list {
		l := slices.IndexFunc(until, func(end time.Duration) bool { return end <= f.asked })
		if l < 0 {
			if l = len(until); l == maxLanes {
				l--
			} else {
				until = append(until, 0)
			}
		}
		until[l] = f.ended
		lanes = append(lanes, l)
	}
	return lanes, float64(len(until))
}

// draw adds f to r: a thin bar until the answer, then a thick bar, and marks at the beginning and the end.
func (x axis) draw(r *row, f fetch, y, h float64) {
	title := fetchTitle(f)
	flows := f.answered
	if flows == never {
		flows = f.ended
	}
	if f.answered == never || flows-f.asked > x.end/1000 { // a shorter bar would be invisible
		r.Waits = append(r.Waits, x.bar(f.asked, flows, y+h/2-1, 2, title))
	}
	if f.answered != never {
		r.Bars = append(r.Bars, x.bar(flows, f.ended, y, h-min(0.5, rowBar/h-1), title))
	}
	begin, end := starts[f.why], cuts[f.cut]
	if f.failure != "" {
		end = reason{kind: "failed", weight: 7}
	}
	for _, m := range []mark{{Kind: begin.kind, at: f.asked, weight: begin.weight},
		{Kind: end.kind, at: f.ended, weight: end.weight}} {
		if m.Title = title; m.Kind != "" {
			r.Marks = append(r.Marks, m)
		}
	}
}

func (x axis) bar(from, to time.Duration, y, h float64, title string) bar {
	wide := percentText(max(float64(to-from)/float64(x.end), 0.0015))
	return bar{X: x.place(from), W: wide, End: x.place(to), Y: number(y), H: number(h), Title: title}
}

func span(g gap) string {
	return fmt.Sprintf("%s, from %s to %s", clock(g.length()), clock(g.from), clock(g.to))
}

// clock formats t for the log.
func clock(t time.Duration) string { return strconv.FormatFloat(t.Seconds(), 'f', 3, 64) + " s" }

// spaced returns list without the marks that would overlap a mark of higher weight.
func (x axis) spaced(list []mark) (kept []mark) {
	const near = 0.014
	slices.SortStableFunc(list, func(a, b mark) int { return cmp.Compare(b.weight, a.weight) })
	for _, m := range list {
		if !slices.ContainsFunc(kept, func(k mark) bool { return float64((m.at-k.at).Abs())/float64(x.end) < near }) {
			m.At = x.place(m.at)
			kept = append(kept, m)
		}
	}
	slices.SortStableFunc(kept, func(a, b mark) int { return cmp.Compare(a.at, b.at) })
	return kept
}

// fetchTitle returns the tooltip for f.
func fetchTitle(f fetch) string {
	text := fmt.Sprintf("%s, %s to %s: ", f.mirror.Name, option.TimeText(f.asked), option.TimeText(f.ended))
	if f.merged > 0 {
		return text + fmt.Sprintf("%d requests, %s", f.merged+1, option.SizeText(f.bytes))
	}
	what := "the whole file"
	if f.to != byterange.Unbounded {
		what = option.SizeText(f.from) + " to " + option.SizeText(f.to)
	}
	text += fmt.Sprintf("request %d, for %s: %s", f.number, what, starts[f.why].text)
	if f.answered == never {
		text += "; no answer"
	} else {
		text += fmt.Sprintf("; answered in %s; %s", option.TimeText(f.answered-f.asked), option.SizeText(f.bytes))
		if took := f.ended - f.answered; took > 0 && f.bytes > 0 {
			text += " at " + option.RateText(float64(f.bytes)/took.Seconds())
		}
	}
	for _, more := range []string{cuts[f.cut].text, f.failure} {
		if more != "" {
			text += "; " + more
		}
	}
	return text
}
