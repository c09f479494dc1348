package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"braid/download"
	"braid/source"
)

// A progress is how far a download is, or a batch.
type progress struct {
	done, size int64      // as the bar shows it; size is -1 while it is not known
	text       string     // what there is
	amount     string     // the same beside the bar
	rate       float64    // bytes a second
	left       string     // the time for the rest, or "" if that cannot be told
	by         string     // how many bring it, or ""
	comparing  bool       // what came is compared with what other mirrors have
	active     int        // sources or, of a batch, files
	several    bool       // a batch: done and size are no bytes
	table      [][]string // of the sources
}

// fileProgress is that of one download. No mirror brings the file if Active is -1: it is on disk already.
func fileProgress(name string, p download.Progress) progress {
	q := progress{
		done: p.Done, size: p.Size, rate: p.Rate, left: timeLeft(p.Done, p.Size, p.Rate),
		text: name + ": " + sizeText(p.Done), amount: fmt.Sprintf("%8s", sizeText(p.Done)),
	}
	if p.Size >= 0 {
		q.text += fmt.Sprintf(" of %s (%d %%)", sizeText(p.Size), percent(p.Done, p.Size))
		q.amount += fmt.Sprintf(" of %-8s", sizeText(p.Size))
	}
	switch {
	case p.Active > 0:
		q.by, q.active = fmt.Sprintf("%-10s", count(p.Active, "mirror")), p.Active
	case p.Active == 0:
		q.by = fmt.Sprintf("%-10s", "waiting")
	}
	return q
}

// compareProgress is that of a file that is wrong somewhere.
func compareProgress(name string, c download.Comparing) progress {
	return progress{
		done: c.Done, size: c.Size, comparing: true,
		text:   fmt.Sprintf("%s: wrong somewhere; mirrors are compared: %s of %s", name, sizeText(c.Done), sizeText(c.Size)),
		amount: fmt.Sprintf("comparing mirrors: %8s of %-8s", sizeText(c.Done), sizeText(c.Size)),
	}
}

// timeLeft is the time that the rest will take, or "" if that cannot be told.
func timeLeft(done, size int64, rate float64) string {
	if size < 0 || rate < 1 || done > size {
		return ""
	}
	seconds := float64(size-done) / rate
	switch {
	case seconds > 100*24*60*60:
		return ""
	case seconds < 60: // no tenths: they would only flicker
		return fmt.Sprintf("%d s", max(1, int(seconds+0.5)))
	}
	return timeText(time.Duration(seconds * float64(time.Second)))
}

// sentence says all of it in one line.
func (p progress) sentence() string {
	if p.comparing {
		return p.text
	}
	text := p.text + ", " + rateText(p.rate)
	if p.left != "" {
		text += ", " + p.left + " left"
	}
	if p.by != "" {
		text += ", " + strings.TrimSpace(p.by)
	}
	return text
}

// numbers are what stands beside a bar: amount, rate, time left, and by how many. They keep their width, so that the
// bar does not tremble.
func (p progress) numbers() (n [4]string) {
	if n[0] = p.amount; p.comparing {
		return n
	}
	left := p.left
	if left != "" {
		left = "ETA " + left
	}
	n[1], n[2] = fmt.Sprintf(" %10s", rateText(p.rate)), fmt.Sprintf("  %-15s", left)
	if p.by != "" {
		n[3] = " " + p.by
	}
	return n
}

// fit is as much of the numbers as fits. Rate and time left stay longest.
func (p progress) fit(width int) string {
	n := p.numbers()
	for _, part := range [][]string{n[:], n[:3], n[1:3], n[1:2]} {
		if s := strings.Join(part, ""); len(s) <= width {
			return s
		}
	}
	return p.amount
}

// A meter shows progress. It is used by one goroutine.
type meter interface {
	show(at time.Time, p progress)
	// clear makes room for a line of text.
	clear()
}

// The words of --progress.
const (
	progressBar   = "bar"
	progressPlain = "plain"
	progressNone  = "none"
)

// progressWord decides how progress is shown when the user did not: a bar is for terminals that can draw it, and JSON
// has it anyway.
func progressWord(chosen string, quiet, json, terminal bool) string {
	switch {
	case quiet:
		return progressNone
	case chosen != "":
		return chosen
	case json:
		return progressNone
	case terminal:
		return progressBar
	}
	return progressPlain
}

// newMeter makes the meter for a word of --progress; nil shows none.
func newMeter(word string, w io.Writer) meter {
	switch word {
	case progressBar:
		return &bar{w: w, size: func() (int, int) { return terminalSize(w) }}
	case progressPlain:
		return &plain{w: w}
	}
	return nil
}

// plain writes a line now and then, for logs.
type plain struct {
	w    io.Writer
	last time.Time
}

const plainEvery = 10 * time.Second

func (m *plain) show(at time.Time, p progress) {
	if m.last.IsZero() {
		m.last = at
	}
	if at.Sub(m.last) < plainEvery {
		return
	}
	m.last = at
	for _, line := range append([]string{p.sentence()}, columns(p.table)...) {
		fmt.Fprintln(m.w, source.Escape(line))
	}
}

func (m *plain) clear() {}

// isTerminal reports whether w is a terminal that knows how to move its cursor.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" && understands(f)
}

// terminalSize is how many columns and lines a terminal has now.
func terminalSize(w io.Writer) (columns, lines int) {
	if f, ok := w.(*os.File); ok {
		if columns, lines, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns, lines
		}
	}
	return 80, 24
}
