package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"braid/source"
)

// An outcome is what became of one file of a batch.
type outcome struct {
	outcomeLine
	elapsed time.Duration
	proven  string // what by, or that it is not
}

// outcomeLine is one of the results in the last event of a batch.
type outcomeLine struct {
	File     int    `json:"file"`
	State    string `json:"state"` // "done", "there" before, "left" as it is, "failed", "unfinished"
	URL      string `json:"url"`
	Path     string `json:"path"`
	Size     int64  `json:"size,omitempty"`
	Verified bool   `json:"verified,omitempty"`
	Code     int    `json:"code,omitempty"`
	Why      string `json:"why,omitempty"`
}

// The states of an outcome.
const (
	wasDone        = "done"
	wasThere       = "there" // before
	wasLeft        = "left"  // another file of that name, which the user wants to keep
	wasFailed      = "failed"
	wasInterrupted = "unfinished"
)

const (
	// mostOutcomes are kept of a batch, for its last event.
	mostOutcomes = 1000
	// mostRows is how many files a table at the end has; of more, the first ones would have left the screen.
	mostRows = 40
	// fewRows need no table: their results are the lines above.
	fewRows = 2
)

// outcomes are those of a batch, as many as are kept.
type outcomes struct {
	kept []outcome
	more int
}

func (o *outcomes) add(x outcome) {
	if len(o.kept) >= mostOutcomes {
		o.more++
		return
	}
	o.kept = append(o.kept, x)
}

// table says what became of each file, in the order of the list. It is empty if there are too many for one, or so few that the lines
// above it have just said so.
func (o *outcomes) table(width int) []string {
	if n := len(o.kept) + o.more; n <= fewRows || n > mostRows {
		return nil
	}
	slices.SortStableFunc(o.kept, func(a, b outcome) int { return a.File - b.File })
	var rows [][]string
	for _, x := range o.kept {
		row := []string{"  " + x.State, filepath.Base(x.Path), "", "", x.proven}
		if x.Path == "" {
			row[1] = x.URL
		}
		if x.Size > 0 {
			row[2] = fmt.Sprintf("%8s", sizeText(x.Size))
		}
		if x.elapsed > 0 && x.State == wasDone {
			row[3] = fmt.Sprintf("%8s", timeText(x.elapsed))
		}
		if x.Why != "" {
			row[4] = shorten(x.Why, 160)
		}
		for i := range row {
			row[i] = source.Escape(row[i])
		}
		rows = append(rows, row)
	}
	return narrow(columns(rows), width)
}

// recent holds results of a batch back for a moment: many results within it share a line.
type recent struct {
	since  time.Time
	groups []group
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
	recentTime = 500 * time.Millisecond
	// fewLines is how many results of a moment have a line each.
	fewLines = 3
)

func (r *recent) add(at time.Time, name string, size int64, line, proven string) {
	if len(r.groups) == 0 {
		r.since = at
	}
	i := slices.IndexFunc(r.groups, func(g group) bool { return g.proven == proven })
	if i < 0 {
		i = len(r.groups)
		r.groups = append(r.groups, group{proven: proven, first: name})
	}
	g := &r.groups[i]
	g.last = name
	g.n++
	g.size += size
	if len(g.lines) < fewLines {
		g.lines = append(g.lines, line)
	}
}

// flush writes what was held back for long enough.
func (r *recent) flush(at time.Time, to *screen) {
	if at.Sub(r.since) < recentTime {
		return
	}
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
