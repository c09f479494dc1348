package cli

import (
	"fmt"
	"time"
)

// gathered holds results of a batch back for a moment. Those that come faster than anybody reads share a line.
type gathered struct {
	since  time.Time
	groups []group
}

// A finished file is one result.
type finished struct {
	name   string
	size   int64
	line   string // all there is to say
	proven string
}

// A group is results that were proven in the same way.
type group struct {
	proven      string
	first, last string
	lines       []string // the first of them
	n           int
	size        int64
}

const (
	gatherTime = 500 * time.Millisecond
	// fewLines is how many results of a moment are told one by one.
	fewLines = 3
)

func (r *gathered) add(at time.Time, f finished) {
	if len(r.groups) == 0 {
		r.since = at
	}
	var g *group
	for i := range r.groups {
		if r.groups[i].proven == f.proven {
			g = &r.groups[i]
		}
	}
	if g == nil {
		r.groups = append(r.groups, group{proven: f.proven, first: f.name})
		g = &r.groups[len(r.groups)-1]
	}
	g.last = f.name
	g.n++
	g.size += f.size
	if len(g.lines) < fewLines {
		g.lines = append(g.lines, f.line)
	}
}

// flush tells what was held back for long enough.
func (r *gathered) flush(at time.Time, to *screen) {
	if len(r.groups) > 0 && at.Sub(r.since) >= gatherTime {
		r.end(to)
	}
}

// end tells everything.
func (r *gathered) end(to *screen) {
	for _, g := range r.groups {
		if g.n > len(g.lines) {
			g.lines = []string{fmt.Sprintf("%s ... %s: %s, %s; %s", g.first, g.last, files(g.n), sizeText(g.size), g.proven)}
		}
		for _, line := range g.lines {
			to.say("%s", line)
		}
	}
	r.groups = nil
}
