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

// A progress is the progress of a download or of a batch.
type progress struct {
	done, size int64      // for the bar; size is -1 if it is unknown
	text       string     // the name and the amount
	amount     string     // the amount beside the bar
	rate       float64    // bytes a second
	left       string     // the remaining time, or "" if it is unknown
	by         string     // the number of mirrors or files in progress, or ""
	comparing  bool       // the file is wrong somewhere, and mirrors are compared
	active     int        // the number of sources; in a batch, of files
	several    bool       // a batch: done and size are not bytes
	table      [][]string // of the sources
}

// fileProgress returns the progress of a download. An Active of -1 means that the file is on disk and no
// mirror is used.
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

// compareProgress returns the progress of the comparison of mirrors.
func compareProgress(name string, c download.Comparing) progress {
	return progress{
		done: c.Done, size: c.Size, comparing: true,
		text:   fmt.Sprintf("%s: wrong somewhere; mirrors are compared: %s of %s", name, sizeText(c.Done), sizeText(c.Size)),
		amount: fmt.Sprintf("comparing mirrors: %8s of %-8s", sizeText(c.Done), sizeText(c.Size)),
	}
}

// timeLeft estimates the remaining time. It returns "" if no estimate is possible.
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

// sentence returns the progress as one line of text.
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

// numbers returns the texts beside a bar: amount, rate, time left, and the number of mirrors or files. Their
// widths are constant, so that the bar does not jump.
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

// fit joins as many of the numbers as fit into width. The rate stays longest, then the time left.
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
	// clear erases the progress before a line of text is written.
	clear()
}

// The words of --progress.
const (
	progressBar   = "bar"
	progressPlain = "plain"
	progressNone  = "none"
)

// progressWord returns the kind of progress to show. The default is a bar on a terminal, and nothing with
// JSON, which has events of progress.
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

// newMeter returns the meter for a word of --progress; nil for none.
func newMeter(word string, w io.Writer) meter {
	switch word {
	case progressBar:
		return &bar{w: w, size: func() (int, int) { return terminalSize(w) }}
	case progressPlain:
		return &plain{w: w}
	}
	return nil
}

// A plain meter writes a line every plainEvery, for logs.
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

// isTerminal reports whether w is a terminal that can move its cursor.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" && understands(f)
}

// terminalSize returns the current size of the terminal, or 80 columns and 24 lines if it is unknown.
func terminalSize(w io.Writer) (columns, lines int) {
	if f, ok := w.(*os.File); ok {
		if columns, lines, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns, lines
		}
	}
	return 80, 24
}
