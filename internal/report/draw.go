package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"braid/internal/option"
)

// colours is how many sources have a colour of their own: those that brought most. Two more classes are for the rest.
const colours = 14

// quickly is how long a download takes that needs no pictures: words and the table say all of it.
const quickly = 250 * time.Millisecond

// pictured reports whether there are pictures of the download: something was transferred, and it took a while or failed.
func (d *Facts) pictured() bool {
	return len(d.ranked) > 0 && d.end > 0 && (d.err != nil || d.end >= quickly || len(d.ranked) > colours)
}

// charts are the pictures, which have the same time axis.
func (d *Facts) charts() map[string]any {
	speed, top := d.speed()
	parts, partsBox := d.parts()
	rows, unshown := d.rows()
	var speeds, sizes []tick
	if top > 0 {
		speeds = byteTicks(top, "/s")
	}
	if d.size > 0 {
		sizes = byteTicks(float64(d.size), "")
	}
	return map[string]any{
		"Times": timeTicks(d.end), "Rules": d.rules(), "Legend": d.legend(), "Fetched": d.Fetched,
		"Speed": speed, "Speeds": speeds, "Parts": parts, "PartsBox": partsBox, "Sizes": sizes, "Prior": d.stripes(),
		"Rows": rows, "Unshown": unshown, "Kinds": kinds(rows), "Requests": d.requests(), "Most": d.most,
		"Quiet":  slices.ContainsFunc(rows, func(x row) bool { return len(x.Quiet) > 0 }),
		"Paused": slices.ContainsFunc(rows, func(x row) bool { return len(x.Pauses) > 0 }),
		"Box":    fmt.Sprintf("0 0 %s %d", number(d.columns()), high),
	}
}

// columns is how many columns the pictures have. The last one may be a part of one.
func (d *Facts) columns() float64 { return float64(d.end) / float64(d.width) }

// rules are the lines across all pictures.
func (d *Facts) rules() (out []tick) {
	add := func(t time.Duration, name, title string) {
		out = append(out, tick{d.place(t), name, title + " (" + option.TimeText(t) + ")", d.ofAll(t) > 0.8})
	}
	for _, e := range d.restarts {
		add(e.At, "begun again", "begun again: "+e.Text)
	}
	if d.complete != never {
		add(d.complete, "last byte", "every byte is here")
	}
	return out
}

// legend are the sources that have a colour of their own, and one in the place of all others.
func (d *Facts) legend() (keys []*Mirror) {
	keys = d.brought
	keys = slices.Clone(keys[:min(len(keys), colours)])
	if len(d.ranked) > colours {
		others := &Mirror{Class: "cx", Name: option.Count(len(d.ranked)-colours, "other")}
		for _, m := range d.ranked[colours:] {
			others.Bytes += m.Bytes
		}
		if others.Bytes > 0 {
			keys = append(keys, others)
		}
	}
	return keys
}

// A layer is one colour of a picture.
type layer struct {
	Class, Title, Path string
}

// edges are where the columns of the pictures begin, and the end. The last one is wider or narrower than the others: one that has
// hardly begun is joined to the one before.
func (d *Facts) edges() (out []float64) {
	for c := range max(1, int(math.Round(d.columns()))) {
		out = append(out, float64(c))
	}
	return append(out, d.columns())
}

// mean is what a series has between two edges, for each second.
func (d *Facts) mean(s series, from, to float64) float64 {
	return s.sum(int(from), int(math.Ceil(to))) / ((to - from) * d.width.Seconds())
}

// high is the height of the pictures inside, in units of their own.
const high = 1000

// speed draws what arrived, a layer for each source that has a colour and one for the rest, one on top of the other.
// top is the highest sum.
func (d *Facts) speed() (layers []layer, top float64) {
	if d.Fetched == 0 {
		return nil, 0
	}
	edges := d.edges()
	levels := [][]float64{make([]float64, len(edges)-1)}
	for i, m := range d.ranked {
		if i <= colours {
			layers = append(layers, layer{Class: m.Class, Title: m.Name})
			levels = append(levels, slices.Clone(levels[i]))
		} else {
			layers[colours].Title = "others"
		}
		for j := range levels[0] {
			levels[len(layers)][j] += d.mean(m.flow, edges[j], edges[j+1])
		}
	}
	top = slices.Max(levels[len(layers)]) * 1.04
	for i := range layers {
		layers[i].Path = area(edges, levels[i], levels[i+1], top)
	}
	return slices.DeleteFunc(layers, func(l layer) bool { return l.Path == "" }), top
}

// requests draws how many requests were at work: the mean of each column.
func (d *Facts) requests() string {
	edges := d.edges()
	up := make([]float64, len(edges)-1)
	for i := range up {
		up[i] = d.mean(d.work, edges[i], edges[i+1])
	}
	return area(edges, make([]float64, len(up)), up, slices.Max(up)*1.04)
}

// area is the path around what lies between two levels: along the upper one and back along the lower one. It is empty
// if nothing does.
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

// maxBlocks is how many rectangles the picture of the file may have before it gets coarser.
const maxBlocks = 4000

// parts draws which source brought which part of the file when. The box is the coordinate system of the paths.
func (d *Facts) parts() (layers []layer, box string) {
	p := &d.picture
	if p.row == 0 || d.size <= 0 {
		return nil, ""
	}
	blocks := p.blocks()
	for i := 0; i < 3 && len(blocks) > maxBlocks; i++ {
		p = p.coarser()
		blocks = p.blocks()
	}
	rows := float64(d.size) / float64(p.row)
	paths := map[*Mirror][]byte{}
	for _, b := range blocks {
		m := d.Mirrors[b.owner]
		paths[m] = fmt.Appendf(paths[m], "M%d %sh%dv%dh-%dz", b.column, number(max(rows-float64(b.row+b.high), 0)), b.wide, b.high, b.wide)
	}
	for _, m := range d.ranked {
		if path := paths[m]; path != nil {
			layers = append(layers, layer{m.Class, m.Name, string(path)})
		}
	}
	return layers, fmt.Sprintf("0 0 %s %s", number(d.columns()), number(rows))
}

// stripes are the parts of an earlier run, as far as they can be seen.
func (d *Facts) stripes() (out []bar) {
	for _, x := range d.prior {
		if size := float64(d.size); d.size > 0 {
			out = append(out, bar{Y: percentText(1 - float64(x.End)/size), H: percentText(float64(x.Len()) / size)})
		}
	}
	return out
}

// ofAll is a time as a part of the whole.
func (d *Facts) ofAll(t time.Duration) float64 { return float64(t) / float64(max(d.end, 1)) }

// place is where a time is.
func (d *Facts) place(t time.Duration) string { return percentText(d.ofAll(t)) }

// A tick is a mark on an axis, or a line across the pictures: At is its place, as a percentage of the axis.
type tick struct {
	At, Text, Title string
	Last            bool // so near to the end that its text has to end there
}

// percentText writes a place between 0 and 1 as a percentage, in a form that SVG takes.
func percentText(x float64) string {
	return strconv.FormatFloat(math.Round(min(max(x, 0), 1)*1e4)/1e2, 'f', -1, 64) + "%"
}

// timeSteps are distances between the ticks of a time axis that people can count with.
var timeSteps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second,
	10 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
	15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

const mostTicks = 8

// timeTicks divide the time from 0 to end.
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

// tickText writes a time as exactly as the distance of the ticks demands.
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

// byteTicks divide an axis that goes from 0 to top bytes, upwards. All are in one unit; suffix follows its name.
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

// byteStep is a distance between ticks such that there are a few of them.
func byteStep(top float64, parts bool) float64 {
	for _, step := range []float64{0.25, 0.5, 1, 2, 5, 10, 20, 25, 50, 100, 200, 250} {
		if top/step <= 5 && (parts || step >= 1) {
			return step
		}
	}
	return 500
}
