package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"braid/download"
)

// A tally counts what became of the files of a batch.
type tally struct {
	files, begun int
	complete     int // in place, now or before
	before       int // of these, before
	verified     int // of these
	checked      int // and these by the pieces of a torrent only
	left         int // of another content, which the user wants to keep
	failed       int
	unfinished   int // interrupted
	fetched      int64
	kept         int64 // of those that were interrupted
	code         int
	why          []string // they failed, as far as there is room to tell
}

// mostReasons is how many failures are told again at the end.
const mostReasons = 20

func (c *tally) ended() int { return c.complete + c.left + c.failed + c.unfinished }

func (c *tally) well(r download.Result) {
	c.complete++
	if r.AlreadyComplete || r.NotModified {
		c.before++
	}
	switch {
	case r.Proof.Verified():
		c.verified++
	case r.Proof.ByPieces():
		c.checked++
	}
}

func (c *tally) lost(f *failure) {
	c.failed++
	c.code = batchCode([]int{c.code, f.code})
	if len(c.why) < mostReasons {
		c.why = append(c.why, "  "+f.where+": "+shorten(f.why, 160))
	}
}

func (c *tally) interrupted(kept int64, code int) {
	c.unfinished++
	c.kept += kept
	c.code = batchCode([]int{c.code, code})
}

func (c *tally) event(m moment, elapsed time.Duration) batchEvent {
	return batchEvent{
		head: m.head("batch"), Files: c.files, Complete: c.complete, Verified: c.verified, Checked: c.checked, Failed: c.failed, Unfinished: c.unfinished,
		NotBegun: c.files - c.begun, Fetched: c.fetched, Elapsed: elapsed.Seconds(), Code: c.code,
	}
}

// summary is what there is to say in the end. The reasons of failures are told again, as lines of others may have
// carried them off the screen, unless a table had them.
func (c *tally) summary(elapsed time.Duration, hadTable bool) []string {
	n := files(c.files)
	if c.complete < c.files {
		n = grouped(c.complete) + " of " + n
	}
	parts := []string{n + ": nothing was fetched"}
	if c.fetched > 0 {
		parts[0] = fmt.Sprintf("%s: %s in %s (%s)", n, sizeText(c.fetched), timeText(elapsed), rateText(float64(c.fetched)/max(elapsed.Seconds(), 1e-9)))
	}
	if p := c.proven(); p != "" {
		parts = append(parts, p)
	}
	for _, some := range []struct {
		n    int
		what string
	}{{c.before, " already there"}, {c.left, " left alone"}, {c.failed, " failed"}} {
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
	if more := c.failed - len(c.why); more > 0 {
		lines = append(lines, "  and "+grouped(more)+" more")
	}
	return lines
}

// proven says how many of the files that are in place are verified.
func (c *tally) proven() string {
	const hint = " (checksum=sha-256=HEX in a list, -i, is evidence, too)"
	switch unverified := c.complete - c.verified - c.checked; {
	case c.complete == 0:
		return ""
	case c.checked > 0:
		text := grouped(c.verified) + " verified, " + grouped(c.checked) + " checked by pieces of a torrent"
		if unverified > 0 {
			text += ", " + grouped(unverified) + " unverified" + hint
		}
		return strings.TrimPrefix(text, "0 verified, ")
	case unverified == 0 && c.complete < c.files:
		return grouped(c.verified) + " verified"
	case unverified == 0:
		return "all verified"
	case c.verified == 0:
		return "none verified" + hint
	default:
		return grouped(c.verified) + " verified, " + grouped(unverified) + " unverified" + hint
	}
}

// unfinishedFailure says what an interruption left undone. It is nil if there was none.
func (c *tally) unfinishedFailure(ctx context.Context) *failure {
	notBegun := c.files - c.begun
	if c.unfinished+notBegun == 0 || ctx.Err() == nil {
		return nil
	}
	f := &failure{
		what: "batch", why: fmt.Sprintf("%v: %s unfinished, %s not begun", context.Cause(ctx), files(c.unfinished), grouped(notBegun)),
		kept: "nothing kept", hint: "run the same command to go on",
	}
	if c.kept > 0 {
		f.kept = sizeText(c.kept) + " kept"
	}
	return f
}

// files counts files, for people.
func files(n int) string { return strings.Replace(count(n, "file"), strconv.Itoa(n), grouped(n), 1) }

// grouped writes a number with a comma after each three digits: 2,000.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// batchProgress is how far a batch is. Its size is not known; its files are.
type batchProgress struct {
	files, ended, running int
	share                 float64 // of those that run: two that are half through are one
	fetched               int64
	rate                  float64
	elapsed               time.Duration
}

// details are none: they would be too many.
func (p batchProgress) details(time.Time) [][]string { return nil }

// part is in thousandths of a file.
func (p batchProgress) part() (done, size int64) {
	return min(int64(1000*(float64(p.ended)+p.share)), int64(1000*p.files)), int64(1000 * p.files)
}

// left is the time that the rest will take if it is like what there was.
func (p batchProgress) left() string {
	done, size := p.part()
	if done == 0 || p.elapsed < time.Second {
		return ""
	}
	return progress{done: done, size: size, rate: float64(done) / p.elapsed.Seconds()}.left()
}

func (p batchProgress) sentence() string {
	parts := []string{grouped(p.ended) + " of " + files(p.files), sizeText(p.fetched), rateText(p.rate)}
	if left := p.left(); left != "" {
		parts = append(parts, left+" left")
	}
	return strings.Join(append(parts, grouped(p.running)+" at a time"), ", ")
}

func (p batchProgress) numbers() numbers {
	total := files(p.files)
	s := fmt.Sprintf("%*s of %s", len(grouped(p.files)), grouped(p.ended), total)
	left := p.left()
	if left != "" {
		left = "ETA " + left
	}
	return numbers{s, fmt.Sprintf(" %10s", rateText(p.rate)), fmt.Sprintf("  %-15s", left), fmt.Sprintf(" %-13s", grouped(p.running)+" at a time")}
}

// speed is the mean of the last three seconds.
type speed struct {
	at    [30]time.Time
	bytes [30]int64
	n     int
}

// now takes note of how many bytes have come by a time, and returns bytes a second.
func (s *speed) now(at time.Time, bytes int64) float64 {
	s.at[s.n%len(s.at)], s.bytes[s.n%len(s.at)] = at, bytes
	s.n++
	oldest := max(0, s.n-len(s.at)) % len(s.at)
	if d := at.Sub(s.at[oldest]); d > 0 {
		return float64(bytes-s.bytes[oldest]) / d.Seconds()
	}
	return 0
}
