package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"braid/byterange"
	"braid/internal/option"
)

// colours is the number of sources that have a colour of their own. These are the sources that sent the most bytes. Two
// more classes are for the other sources.
const colours = 14

// quickly is the duration below which a download gets no charts, because text and table describe it completely.
const quickly = 250 * time.Millisecond

// pictured reports whether the download gets charts. It must have received data. It must also have failed, taken some
// time, or used many sources.
func (d *facts) pictured() bool {
	e := &d.ending
	return len(d.ranked) > 0 && e.at > 0 && (e.err != nil || e.at >= quickly || len(d.ranked) > colours)
}

// charts has what the charts show. They have a common time axis.
type charts struct {
	times, rules, speeds, sizes []tick
	legend                      []*Mirror
	fetched                     int64
	speed, parts                []layer
	box, partsBox               string // coordinate systems of the speed chart and of the file chart
	prior                       []bar
	rows                        []row
	unshown                     int    // number of sources without a row
	requests                    string // path of the chart of concurrent requests
	most                        int    // maximum number of concurrent requests
}

func (d *facts) charts() *charts {
	x := axis{d.ending.at, d.columns.width}
	speed, top := x.speed(d.ranked, &d.columns)
	parts, partsBox := x.parts(&d.columns.picture, &d.sources, d.size)
	rows, unshown := x.rows(&d.sources, &d.requests)
	var speeds, sizes []tick
	if top > 0 {
		speeds = byteTicks(top, "/s")
	}
	if d.size > 0 {
		sizes = byteTicks(float64(d.size), "")
	}
	return &charts{
		times: timeTicks(x.end), rules: x.rules(&d.restarts, &d.course), legend: d.legend(), fetched: d.Fetched,
		speed: speed, speeds: speeds, parts: parts, partsBox: partsBox, sizes: sizes,
		prior: stripes(d.earlier.ranges, float64(d.size)),
		rows:  rows, unshown: unshown, requests: x.requests(d.columns.work), most: d.requests.most,
		box: fmt.Sprintf("0 0 %s %d", number(x.columns()), high),
	}
}

// quiet reports whether any source was silent for a while.
func (c *charts) quiet() bool {
	return slices.ContainsFunc(c.rows, func(x row) bool { return len(x.Quiet) > 0 })
}

// paused reports whether any source got no requests for a while.
func (c *charts) paused() bool {
	return slices.ContainsFunc(c.rows, func(x row) bool { return len(x.Pauses) > 0 })
}

// axis is the time axis of the charts: the time at its end, and the duration of a column.
type axis struct{ end, width time.Duration }

// columns returns the number of columns. It is a fraction if the last column is incomplete.
func (x axis) columns() float64 { return float64(x.end) / float64(x.width) }

// part returns where t is on the axis, as a fraction of its length.
func (x axis) part(t time.Duration) float64 { return float64(t) / float64(max(x.end, 1)) }

// place returns where t is on the axis, as a percentage of its length.
func (x axis) place(t time.Duration) string { return percentText(x.part(t)) }

// rules returns the vertical lines across all charts.
func (x axis) rules(r *restarts, c *course) (out []tick) {
	add := func(t time.Duration, name, title string) {
		out = append(out, tick{x.place(t), name, title + " (" + option.TimeText(t) + ")", x.part(t) > 0.8})
	}
	for _, e := range r.first {
		add(e.At, "restarted", "restarted: "+e.Text)
	}
	if c.complete != never {
		add(c.complete, "last byte", "all bytes were received")
	}
	return out
}

// legend returns the sources that have a colour of their own, and one entry for all others.
func (s *sources) legend() (keys []*Mirror) {
	keys = slices.Clone(s.brought[:min(len(s.brought), colours)])
	if len(s.ranked) > colours {
		others := &Mirror{Class: "cx", Name: option.Count(len(s.ranked)-colours, "other")}
		for _, m := range s.ranked[colours:] {
			others.Bytes += m.Bytes
		}
		if others.Bytes > 0 {
			keys = append(keys, others)
		}
	}
	return keys
}

// layer is the area of one colour in a chart.
type layer struct {
	Class, Title, Path string
}

// edges returns the left edges of the columns, and the right edge of the last column. The last column may have another
// width: a column that has hardly begun is merged into the one before it.
func (x axis) edges() (out []float64) {
	for c := range max(1, int(math.Round(x.columns()))) {
		out = append(out, float64(c))
	}
	return append(out, x.columns())
}

// mean returns the mean of s per second between the edges from and to.
func (x axis) mean(s series, from, to float64) float64 {
	return s.sum(int(from), int(math.Ceil(to))) / ((to - from) * x.width.Seconds())
}

// high is the height of a chart in its own units.
const high = 1000

// speed returns the layers of the speed chart, one on top of the other: one for each source with a colour of its own,
// and one for all other sources. top is the speed at the upper end of the axis.
func (x axis) speed(ranked []*Mirror, c *columns) (layers []layer, top float64) {
	if len(c.bytes) == 0 {
		return nil, 0
	}
	edges := x.edges()
	levels := [][]float64{make([]float64, len(edges)-1)}
	for i, m := range ranked {
		if i <= colours {
			layers = append(layers, layer{Class: m.Class, Title: m.Name})
			levels = append(levels, slices.Clone(levels[i]))
		} else {
			layers[colours].Title = "others"
		}
		for j := range levels[0] {
			levels[len(layers)][j] += x.mean(c.flow(m), edges[j], edges[j+1])
		}
	}
	top = slices.Max(levels[len(layers)]) * 1.04
	for i := range layers {
		layers[i].Path = area(edges, levels[i], levels[i+1], top)
	}
	return slices.DeleteFunc(layers, func(l layer) bool { return l.Path == "" }), top
}

// requests returns the path of the chart of concurrent requests. It shows the mean for each column.
func (x axis) requests(work series) string {
	edges := x.edges()
	up := make([]float64, len(edges)-1)
	for i := range up {
		up[i] = x.mean(work, edges[i], edges[i+1])
	}
	return area(edges, make([]float64, len(up)), up, slices.Max(up)*1.04)
}

// area returns the SVG path around the area between the levels low and up. top is the level at the upper end of the
// chart. It returns "" if the area is empty.
func area(edges, low, up []float64, top float64) string {
	if top <= 0 {
		return ""
	}
	y := func(v float64) int { return high - int(math.Round(v/top*high)) }
	var b strings.Builder
	x, at, empty := edges[0], y(low[0]), true
	fmt.Fprintf(&b, "M%s %d", number(x), at)
	step := func(level int, to float64) {
		if level != at {
			fmt.Fprintf(&b, "H%sV%d", number(x), level)
		}
		x, at = to, level
	}
	for i := range up {
		empty = empty && y(low[i]) == y(up[i])
		step(y(up[i]), edges[i+1])
	}
	for i := len(up) - 1; i >= 0 && !empty; i-- {
		step(y(low[i]), edges[i])
	}
	if empty {
		return ""
	}
	return b.String() + "H" + number(x) + "Z"
}

func number(x float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", x), "0"), ".")
}

// maxBlocks is the number of rectangles above which the chart of the file is made coarser.
const maxBlocks = 4000

// parts returns the layers of the file chart, which shows when each source sent which part of the file. box is the
// coordinate system of their paths.
func (x axis) parts(p *raster, s *sources, size int64) (layers []layer, box string) {
	if p.row == 0 || size <= 0 {
		return nil, ""
	}
	blocks := p.blocks()
	for i := 0; i < 3 && len(blocks) > maxBlocks; i++ {
		p = p.coarser()
		blocks = p.blocks()
	}
	rows := float64(size) / float64(p.row)
	paths := map[*Mirror][]byte{}
	for _, b := range blocks {
		m := s.Mirrors[b.owner]
		paths[m] = fmt.Appendf(paths[m], "M%d %sh%dv%dh-%dz", b.column, number(max(rows-float64(b.row+b.high), 0)),
			b.wide, b.high, b.wide)
	}
	for _, m := range s.ranked {
		if path := paths[m]; path != nil {
			layers = append(layers, layer{m.Class, m.Name, string(path)})
		}
	}
	return layers, fmt.Sprintf("0 0 %s %s", number(x.columns()), number(rows))
}

// stripes returns the parts of the file that an earlier run received, as bars.
func stripes(prior []byterange.Range, size float64) (out []bar) {
	for _, r := range prior {
		if size > 0 {
			out = append(out, bar{Y: percentText(1 - float64(r.End)/size), H: percentText(float64(r.Len()) / size)})
		}
	}
	return out
}

// tick is a mark on an axis, or a line across the charts. At is its position as a percentage of the axis.
type tick struct {
	At, Text, Title string
	Last            bool // near the end of the axis, so that its text must be right-aligned
}

// percentText formats a position from 0 to 1 as a percentage for SVG.
func percentText(x float64) string {
	return strconv.FormatFloat(math.Round(min(max(x, 0), 1)*1e4)/1e2, 'f', -1, 64) + "%"
}

// timeSteps are the possible intervals between the ticks of a time axis.
var timeSteps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second,
	10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
	15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

const mostTicks = 8

// timeTicks returns the ticks of a time axis that ends at end.
func timeTicks(end time.Duration) (ticks []tick) {
	i := 0
	for i < len(timeSteps)-1 && end/timeSteps[i] > mostTicks {
		i++
	}
	step := timeSteps[i]
	for end/step > mostTicks {
		step *= 2
	}
	for t := time.Duration(0); t <= end; t += step {
		at := float64(t) / float64(end)
		ticks = append(ticks, tick{At: percentText(at), Text: tickText(t, step), Last: at > 0.93})
	}
	return ticks
}

// tickText formats t as precisely as ticks at intervals of step need.
func tickText(t, step time.Duration) string {
	switch {
	case t == 0:
		return "0"
	case step < 100*time.Millisecond:
		return fmt.Sprintf("%d ms", t.Milliseconds())
	case step < time.Minute && t < time.Minute:
		return strconv.FormatFloat(t.Seconds(), 'f', -1, 64) + " s"
	}
	return strings.TrimSuffix(strings.TrimSuffix(option.TimeText(t), " 0 s"), " 0 min")
}

// byteTicks returns the ticks of a vertical axis that ends at top bytes. All their texts have the same unit, followed
// by suffix.
func byteTicks(top float64, suffix string) (ticks []tick) {
	unit := 1.0
	for top >= unit*1024 {
		unit *= 1024
	}
	_, name, _ := strings.Cut(option.SizeText(int64(unit)), " ")
	step := byteStep(top/unit, unit > 1)
	for y := 0.0; y <= top/unit*1.0001; y += step {
		text := strconv.FormatFloat(y, 'f', -1, 64) + " " + name + suffix
		if y == 0 {
			text = "0"
		}
		ticks = append(ticks, tick{At: percentText(1 - y*unit/top), Text: text})
	}
	return ticks
}

// byteStep returns the interval between the ticks of an axis that ends at top. The axis gets at most five ticks. If
// parts is true, the interval may be a fraction.
func byteStep(top float64, parts bool) float64 {
	for _, step := range []float64{0.25, 0.5, 1, 2, 5, 10, 20, 25, 50, 100, 200, 250} {
		if top/step <= 5 && (parts || step >= 1) {
			return step
		}
	}
	return 500
}
