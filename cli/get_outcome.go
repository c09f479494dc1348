package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"braid/download"
	"braid/internal/problem"
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

// table says what became of each file, in the order of the list. It is empty if there are too many for one, or so few
// that the lines above it have just said so.
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

// A tally counts what became of the files of a batch.
type tally struct {
	batchCounts
	before int   // of those in place, how many were there before
	left   int   // of another content, which the user wants to keep
	kept   int64 // bytes of those that were interrupted
	code   int
	why    []string // they failed, as far as there is room for it
}

// mostReasons is how many failures are repeated at the end.
const mostReasons = 20

func (c *tally) ended() int { return c.Complete + c.left + c.Failed + c.Unfinished }

func (c *tally) well(r download.Result) {
	c.Complete++
	if r.AlreadyComplete || r.NotModified {
		c.before++
	}
	switch {
	case r.Proof.Verified():
		c.Verified++
	case r.Proof.ByPieces():
		c.Checked++
	}
}

func (c *tally) lost(f *problem.Problem) {
	c.Failed++
	c.add(exitCode(f))
	if len(c.why) < mostReasons {
		c.why = append(c.why, "  "+f.Where+": "+shorten(f.Why, 160))
	}
}

// add takes an exit code into that of the batch.
func (c *tally) add(code int) { c.code = batchCode([]int{c.code, code}) }

// summary is what there is to say in the end. The reasons of failures are repeated, as other lines may have
// moved them off the screen, unless a table had them.
func (c *tally) summary(elapsed time.Duration, hadTable bool) []string {
	n := files(c.Files)
	if c.Complete < c.Files {
		n = grouped(c.Complete) + " of " + n
	}
	parts := []string{n + ": nothing was fetched"}
	if c.Fetched > 0 {
		parts[0] = fmt.Sprintf("%s: %s in %s (%s)", n, sizeText(c.Fetched), timeText(elapsed),
			rateText(float64(c.Fetched)/max(elapsed.Seconds(), 1e-9)))
	}
	if p := c.proven(); p != "" {
		parts = append(parts, p)
	}
	for _, some := range []struct {
		n    int
		what string
	}{{c.before, " already there"}, {c.left, " left alone"}, {c.Failed, " failed"}} {
		if some.n > 0 {
			parts = append(parts, grouped(some.n)+some.what)
		}
	}
	lines := []string{strings.Join(parts, "; ")}
	if hadTable {
		return lines
	}
	if c.ended() > len(c.why)+2 { // else nothing came between
		lines = append(lines, c.why...)
	}
	if more := c.Failed - len(c.why); more > 0 {
		lines = append(lines, "  and "+grouped(more)+" more")
	}
	return lines
}

// proven says how many of the files that are in place are verified.
func (c *tally) proven() string {
	const hint = " (give one with checksum=sha-256=HEX in a list, -i)"
	switch unverified := c.Complete - c.Verified - c.Checked; {
	case c.Complete == 0:
		return ""
	case c.Checked > 0:
		text := grouped(c.Verified) + " verified, " + grouped(c.Checked) + " checked by pieces of a torrent"
		if unverified > 0 {
			text += ", " + grouped(unverified) + " unverified" + hint
		}
		return strings.TrimPrefix(text, "0 verified, ")
	case unverified == 0 && c.Complete < c.Files:
		return grouped(c.Verified) + " verified"
	case unverified == 0:
		return "all verified"
	case c.Verified == 0:
		return "none verified" + hint
	default:
		return grouped(c.Verified) + " verified, " + grouped(unverified) + " unverified" + hint
	}
}

// unfinishedFailure says what an interruption left undone. It is nil if there was none.
func (c *tally) unfinishedFailure(ctx context.Context) *problem.Problem {
	if c.Unfinished+c.NotBegun == 0 || ctx.Err() == nil {
		return nil
	}
	f := &problem.Problem{
		What: "batch", Why: fmt.Sprintf("%v: %s unfinished, %s not begun", context.Cause(ctx), files(c.Unfinished),
			grouped(c.NotBegun)),
		Kept: "nothing kept", Hint: "run the same command to go on",
	}
	if c.kept > 0 {
		f.Kept = sizeText(c.kept) + " kept"
	}
	return f
}

// files counts files, as in "2,000 files".
func files(n int) string { return strings.Replace(count(n, "file"), strconv.Itoa(n), grouped(n), 1) }

// progress is how far a batch is whose running files are done by a share: two that are half through are one. The size
// is not known; the number of files is, and the bar counts in thousandths of one.
func (c *tally) progress(running int, share, rate float64, elapsed time.Duration) progress {
	ended, total := grouped(c.ended()), files(c.Files)
	p := progress{
		size: int64(1000 * c.Files), rate: rate, text: ended + " of " + total + ", " + sizeText(c.Fetched),
		amount: fmt.Sprintf("%*s of %s", len(grouped(c.Files)), ended, total),
		by:     fmt.Sprintf("%-13s", grouped(running)+" at a time"), active: running, several: true,
	}
	p.done = min(int64(1000*(float64(c.ended())+share)), p.size)
	if p.done > 0 && elapsed >= time.Second { // if the rest is like what there was
		p.left = timeLeft(p.done, p.size, float64(p.done)/elapsed.Seconds())
	}
	return p
}
