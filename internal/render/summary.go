package render

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"braid/download"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/source"
)

// A fileRow is the outcome of one file in a batch, as shown in the table.
type fileRow struct {
	FileOutcome
	elapsed time.Duration
	proven  string // what proved the file, or that nothing did
}

// The values of FileOutcome.State.
const (
	wasDone        = "done"
	wasThere       = "there" // complete before this run
	wasLeft        = "left"  // another file had the name, and --no-clobber kept it
	wasFailed      = "failed"
	wasInterrupted = "unfinished"
)

const (
	// mostOutcomes is the number of outcomes in the last event of a batch.
	mostOutcomes = 1000
	// mostRows is the maximum number of files in a table. The first rows of a longer table would scroll off the screen.
	mostRows = 40
	// fewRows is the number of files that need no table, because the lines above show the same.
	fewRows = 2
)

// fileRows has up to mostOutcomes outcomes, and the number of others.
type fileRows struct {
	kept []fileRow
	more int
}

func (o *fileRows) add(x fileRow) {
	if len(o.kept) >= mostOutcomes {
		o.more++
		return
	}
	o.kept = append(o.kept, x)
}

// table returns a table of the outcomes, in the order of the list. It returns nil for up to fewRows and for more than
// mostRows files.
func (o *fileRows) table(width int) []string {
	if n := len(o.kept) + o.more; n <= fewRows || n > mostRows {
		return nil
	}
	slices.SortStableFunc(o.kept, func(a, b fileRow) int { return a.File - b.File })
	var rows [][]string
	for _, x := range o.kept {
		row := []string{"  " + x.State, filepath.Base(x.Path), "", "", x.proven}
		if x.Path == "" {
			row[1] = x.URL
		}
		if x.Size > 0 {
			row[2] = fmt.Sprintf("%8s", option.SizeText(x.Size))
		}
		if x.elapsed > 0 && x.State == wasDone {
			row[3] = fmt.Sprintf("%8s", option.TimeText(x.elapsed))
		}
		if x.Why != "" {
			row[4] = option.Shorten(x.Why, 160)
		}
		for i := range row {
			row[i] = source.Escape(row[i])
		}
		rows = append(rows, row)
	}
	return narrow(Columns(rows), width)
}

// A recent holds results of a batch back for recentTime, so that many results can share a line.
type recent struct {
	since  time.Time
	groups []group
}

// A group is a number of results that have the same proof.
type group struct {
	proven      string
	first, last string
	lines       []string // lines for the first results
	n           int
	size        int64
}

const (
	recentTime = 500 * time.Millisecond
	// fewLines is the number of results in a group that have a line each.
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

// flush writes the results that were held back, if recentTime has passed.
func (r *recent) flush(at time.Time, to *Screen) {
	if at.Sub(r.since) < recentTime {
		return
	}
	for _, g := range r.groups {
		if g.n > len(g.lines) {
			line := fmt.Sprintf("%s ... %s: %s, %s; %s", g.first, g.last, files(g.n), option.SizeText(g.size), g.proven)
			g.lines = []string{line}
		}
		for _, line := range g.lines {
			to.Say("%s", line)
		}
	}
	r.groups = nil
}

// A tally counts the outcomes of a batch.
type tally struct {
	Counts
	before int      // complete files that were complete before this run
	left   int      // other files with the name of a file, kept by --no-clobber
	kept   int64    // bytes that are kept from interrupted downloads
	why    []string // why the first downloads failed
}

// mostReasons is the number of failures that are repeated at the end.
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
	if len(c.why) < mostReasons {
		c.why = append(c.why, "  "+f.Where+": "+option.Shorten(f.Why, 160))
	}
}

// summary returns the last lines of a batch. It repeats why downloads failed if the earlier lines about that may have
// scrolled off the screen, and no table shows it.
func (c *tally) summary(elapsed time.Duration, hadTable bool) []string {
	n := files(c.Files)
	if c.Complete < c.Files {
		n = option.Grouped(c.Complete) + " of " + n
	}
	parts := []string{n + ": nothing was fetched"}
	if c.Fetched > 0 {
		parts[0] = fmt.Sprintf("%s: %s in %s (%s)", n, option.SizeText(c.Fetched), option.TimeText(elapsed),
			option.RateText(float64(c.Fetched)/max(elapsed.Seconds(), 1e-9)))
	}
	if p := c.proven(); p != "" {
		parts = append(parts, p)
	}
	for _, some := range []struct {
		n    int
		what string
	}{{c.before, " already there"}, {c.left, " left alone"}, {c.Failed, " failed"}} {
		if some.n > 0 {
			parts = append(parts, option.Grouped(some.n)+some.what)
		}
	}
	lines := []string{strings.Join(parts, "; ")}
	if hadTable {
		return lines
	}
	if c.ended() > len(c.why)+2 { // otherwise the reasons are still on the screen
		lines = append(lines, c.why...)
	}
	if more := c.Failed - len(c.why); more > 0 {
		lines = append(lines, "  and "+option.Grouped(more)+" more")
	}
	return lines
}

// proven describes how many of the complete files are verified.
func (c *tally) proven() string {
	const hint = " (give one with checksum=sha-256=HEX in a list, -i)"
	switch unverified := c.Complete - c.Verified - c.Checked; {
	case c.Complete == 0:
		return ""
	case c.Checked > 0:
		text := option.Grouped(c.Verified) + " verified, " + option.Grouped(c.Checked) + " checked only by the SHA-1 " +
			"pieces of a torrent"
		if unverified > 0 {
			text += ", " + option.Grouped(unverified) + " unverified" + hint
		}
		return strings.TrimPrefix(text, "0 verified, ")
	case unverified == 0 && c.Complete < c.Files:
		return option.Grouped(c.Verified) + " verified"
	case unverified == 0:
		return "all verified"
	case c.Verified == 0:
		return "none verified" + hint
	default:
		return option.Grouped(c.Verified) + " verified, " + option.Grouped(unverified) + " unverified" + hint
	}
}

// interrupted returns a problem if cause ended the batch early, and otherwise nil.
func (c *tally) interrupted(cause error) *problem.Problem {
	if c.Unfinished+c.NotBegun == 0 || cause == nil {
		return nil
	}
	f := &problem.Problem{
		What: "batch", Why: fmt.Sprintf("%v: %s unfinished, %s not begun", cause, files(c.Unfinished),
			option.Grouped(c.NotBegun)),
		Kept: "nothing kept", Hint: "run the same command to go on",
	}
	if c.kept > 0 {
		f.Kept = option.SizeText(c.kept) + " kept"
	}
	return f
}

// files formats n as a number of files, such as "2,000 files".
func files(n int) string {
	return strings.Replace(option.Count(n, "file"), strconv.Itoa(n), option.Grouped(n), 1)
}

// progress returns the progress of a batch. share is the sum of the completed fractions of the running downloads. The
// total size is unknown, so the bar counts thousandths of a file.
func (c *tally) progress(running int, share, rate float64, elapsed time.Duration) Progress {
	ended, total := option.Grouped(c.ended()), files(c.Files)
	p := Progress{
		Size: int64(1000 * c.Files), Rate: rate, text: ended + " of " + total + ", " + option.SizeText(c.Fetched),
		Amount: fmt.Sprintf("%*s of %s", len(option.Grouped(c.Files)), ended, total),
		by:     fmt.Sprintf("%-13s", option.Grouped(running)+" at a time"), Active: running, Several: true,
	}
	p.Done = min(int64(1000*(float64(c.ended())+share)), p.Size)
	if p.Done > 0 && elapsed >= time.Second { // this assumes that the other files take as long
		p.left = timeLeft(p.Done, p.Size, float64(p.Done)/elapsed.Seconds())
	}
	return p
}
