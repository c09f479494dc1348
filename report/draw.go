package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// colours is how many sources have a colour of their own: those that brought most. Two more classes are for the rest.
const colours = 14

// colour is the class of a source.
func (r *Recorder) colour(m *mirror) string {
	if i, ok := r.rank[m]; ok && i < colours {
		return fmt.Sprintf("c%d", i)
	}
	return "cx"
}

// A layer is one colour of a picture.
type layer struct {
	Class, Title, Path string
}

// A bin is a column that was drawn: the last one of a picture can be narrower or a bit wider than the others.
type bin struct {
	from, to float64 // in columns
	first    int     // the columns whose amounts are in it
	last     int
}

// bins are the columns up to the end. One that has hardly begun is joined to the one before.
func (r *Recorder) bins() (out []bin) {
	end := float64(r.end) / float64(r.width)
	for c := 0; float64(c) < end; c++ {
		b := bin{float64(c), min(float64(c+1), end), c, c}
		if n := len(out); n > 0 && b.to-b.from < 0.5 {
			out[n-1].to, out[n-1].last = b.to, c
			continue
		}
		out = append(out, b)
	}
	return out
}

// mean is what a series has in a bin, for each second.
func (r *Recorder) mean(s series, b bin) float64 {
	return s.sum(b.first, b.last+1) / ((b.to - b.from) * r.width.Seconds())
}

// high is the height of the pictures inside, in units of their own.
const high = 1000

// speed draws what arrived, a layer for each source that has a colour and one for the rest, one on top of the other.
// top is the highest sum.
func (r *Recorder) speed() (layers []layer, top float64) {
	if r.fetched() == 0 {
		return nil, 0
	}
	bins := r.bins()
	var groups [][]series
	for i, m := range r.ranked() {
		if i > colours {
			groups[colours] = append(groups[colours], m.flow)
			continue
		}
		groups = append(groups, []series{m.flow})
		layers = append(layers, layer{Class: r.colour(m), Title: r.label(m)})
	}
	if len(groups) > colours {
		layers[colours].Title = "others"
	}
	levels := make([][]float64, len(groups)+1)
	levels[0] = make([]float64, len(bins))
	for g, group := range groups {
		levels[g+1] = make([]float64, len(bins))
		for i, b := range bins {
			levels[g+1][i] = levels[g][i]
			for _, s := range group {
				levels[g+1][i] += r.mean(s, b)
			}
			top = max(top, levels[g+1][i])
		}
	}
	top *= 1.04
	for g := range groups {
		layers[g].Path = area(bins, levels[g], levels[g+1], top)
	}
	return slices.DeleteFunc(layers, func(l layer) bool { return l.Path == "" }), top
}

// area is the path around what lies between two levels.
func area(bins []bin, low, up []float64, top float64) string {
	if top <= 0 || len(bins) == 0 {
		return ""
	}
	y := func(v float64) int { return high - int(math.Round(v/top*high)) }
	var b strings.Builder
	for i := 0; i < len(bins); {
		for i < len(bins) && y(up[i]) == y(low[i]) {
			i++
		}
		j := i
		for j < len(bins) && y(up[j]) != y(low[j]) {
			j++
		}
		if j > i {
			outline(&b, bins[i:j], low[i:j], up[i:j], y)
		}
		i = j
	}
	return b.String()
}

// outline draws a closed line: along the upper level and back along the lower one.
func outline(b *strings.Builder, bins []bin, low, up []float64, y func(float64) int) {
	fmt.Fprintf(b, "M%s %d", number(bins[0].from), y(up[0]))
	for i := range bins {
		if i > 0 && y(up[i]) != y(up[i-1]) {
			fmt.Fprintf(b, "V%d", y(up[i]))
		}
		if i == len(bins)-1 || y(up[i+1]) != y(up[i]) {
			fmt.Fprintf(b, "H%s", number(bins[i].to))
		}
	}
	for i := len(bins) - 1; i >= 0; i-- {
		if i == len(bins)-1 || y(low[i]) != y(low[i+1]) {
			fmt.Fprintf(b, "V%d", y(low[i]))
		}
		if i == 0 || y(low[i-1]) != y(low[i]) {
			fmt.Fprintf(b, "H%s", number(bins[i].from))
		}
	}
	b.WriteByte('Z')
}

func number(x float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", x), "0"), ".")
}

// requests draws how many requests were at work: the mean of each column.
func (r *Recorder) requests() (path string, most int) {
	bins := r.bins()
	low, up := make([]float64, len(bins)), make([]float64, len(bins))
	top := 0.0
	for i, b := range bins {
		up[i] = r.mean(r.work, b)
		top = max(top, up[i])
	}
	return area(bins, low, up, top*1.04), r.most
}

// maxBlocks is how many rectangles the picture of the file may have before it gets coarser.
const maxBlocks = 4000

// parts draws who brought which part of the file when. The box is the coordinate system of the paths.
func (r *Recorder) parts() (layers []layer, box string) {
	p := &r.picture
	if p.row == 0 || r.size <= 0 {
		return nil, ""
	}
	blocks := p.blocks()
	for i := 0; i < 3 && len(blocks) > maxBlocks; i++ {
		p = p.coarser()
		blocks = p.blocks()
	}
	rows := float64(r.size) / float64(p.row)
	paths := map[*mirror]*strings.Builder{}
	for _, b := range blocks {
		m := r.mirrors[b.who]
		if paths[m] == nil {
			paths[m] = &strings.Builder{}
		}
		fmt.Fprintf(paths[m], "M%d %sh%dv%dh-%dz", b.column, number(max(rows-float64(b.row+b.high), 0)), b.wide, b.high, b.wide)
	}
	for _, m := range r.ranked() {
		if path := paths[m]; path != nil {
			layers = append(layers, layer{r.colour(m), r.label(m), path.String()})
		}
	}
	return layers, fmt.Sprintf("0 0 %s %s", number(float64(r.end)/float64(r.width)), number(rows))
}

// A stripe is a part of the file that was there before.
type stripe struct{ Y, High string }

// stripes are the parts of an earlier run, as far as they can be seen.
func (r *Recorder) stripes() (out []stripe) {
	for _, x := range r.prior {
		if size := float64(r.size); r.size > 0 {
			out = append(out, stripe{percentText(1 - float64(x.End)/size), percentText(float64(x.Len()) / size)})
		}
	}
	return out
}

// place is where a time is.
func (r *Recorder) place(t time.Duration) string {
	return percentText(float64(t) / float64(max(r.end, 1)))
}
