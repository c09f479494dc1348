package render

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"braid/download"
	"braid/internal/option"
	"braid/source"
)

// A Progress is the progress of a download or of a batch.
type Progress struct {
	Done, Size int64      // how far the bar is filled; Size is -1 if unknown
	text       string     // the name and the amount
	Amount     string     // amount beside the bar
	Rate       float64    // bytes per second
	left       string     // remaining time, or "" if it is unknown
	by         string     // number of mirrors or files in use, or ""
	Comparing  bool       // some bytes are wrong, and mirrors are compared
	Active     int        // number of mirrors in use or, in a batch, of files
	Several    bool       // a batch, so Done and Size are not bytes
	table      [][]string // table of the sources
}

// fileProgress returns the progress p of the download of the file called name. If p.Active is -1, a local file is read
// and no mirror is used.
func fileProgress(name string, p download.Progress) Progress {
	q := Progress{
		Done: p.Done, Size: p.Size, Rate: p.Rate, left: timeLeft(p.Done, p.Size, p.Rate),
		text: name + ": " + option.SizeText(p.Done), Amount: fmt.Sprintf("%8s", option.SizeText(p.Done)),
	}
	if p.Size >= 0 {
		q.text += fmt.Sprintf(" of %s (%d %%)", option.SizeText(p.Size), option.Percent(p.Done, p.Size))
		q.Amount += fmt.Sprintf(" of %-8s", option.SizeText(p.Size))
	}
	switch {
	case p.Active > 0:
		q.by, q.Active = fmt.Sprintf("%-10s", option.Count(p.Active, "mirror")), p.Active
	case p.Active == 0:
		q.by = fmt.Sprintf("%-10s", "waiting")
	}
	return q
}

// compareProgress returns the progress c of the comparison of mirrors.
func compareProgress(name string, c download.Comparing) Progress {
	return Progress{
		Done: c.Done, Size: c.Size, Comparing: true,
		text: fmt.Sprintf("%s: some bytes are wrong; comparing mirrors: %s of %s",
			name, option.SizeText(c.Done), option.SizeText(c.Size)),
		Amount: fmt.Sprintf("comparing mirrors: %8s of %-8s", option.SizeText(c.Done), option.SizeText(c.Size)),
	}
}

// timeLeft returns the estimated remaining time, or "" if it cannot be estimated.
func timeLeft(done, size int64, rate float64) string {
	if size < 0 || rate < 1 || done > size {
		return ""
	}
	seconds := float64(size-done) / rate
	switch {
	case seconds > 100*24*60*60:
		return ""
	case seconds < 60: // tenths of seconds would only flicker
		return fmt.Sprintf("%d s", max(1, int(seconds+0.5)))
	}
	return option.TimeText(time.Duration(seconds * float64(time.Second)))
}

// sentence returns the progress as one line of text.
func (p Progress) sentence() string {
	if p.Comparing {
		return p.text
	}
	text := p.text + ", " + option.RateText(p.Rate)
	if p.left != "" {
		text += ", " + p.left + " left"
	}
	if p.by != "" {
		text += ", " + strings.TrimSpace(p.by)
	}
	return text
}

// numbers returns the texts beside a bar: amount, rate, remaining time, and the number of mirrors or files. Their
// widths are constant, so that the bar does not jump.
func (p Progress) numbers() (n [4]string) {
	if n[0] = p.Amount; p.Comparing {
		return n
	}
	left := p.left
	if left != "" {
		left = "ETA " + left
	}
	n[1], n[2] = fmt.Sprintf(" %10s", option.RateText(p.Rate)), fmt.Sprintf("  %-15s", left)
	if p.by != "" {
		n[3] = " " + p.by
	}
	return n
}

// fit returns as many of the numbers as fit into width. It drops the remaining time before the rate.
func (p Progress) fit(width int) string {
	n := p.numbers()
	for _, part := range [][]string{n[:], n[:3], n[1:3], n[1:2]} {
		if s := strings.Join(part, ""); len(s) <= width {
			return s
		}
	}
	return p.Amount
}

// A Meter shows progress. All calls are from one goroutine.
type Meter interface {
	Show(at time.Time, p Progress)
	// Clear erases the progress, so that a line of text can be written.
	Clear()
}

// The values of --progress.
const (
	ProgressBar   = "bar"
	progressPlain = "plain"
	ProgressNone  = "none"
)

// ProgressWord returns the value of --progress, or the default if chosen is "". The default is a bar on a terminal, but
// nothing with JSON, which has progress events.
func ProgressWord(chosen string, quiet, json, terminal bool) string {
	switch {
	case quiet:
		return ProgressNone
	case chosen != "":
		return chosen
	case json:
		return ProgressNone
	case terminal:
		return ProgressBar
	}
	return progressPlain
}

// NewMeter returns the meter for word, a value of --progress, or nil for "none".
func NewMeter(word string, w io.Writer) Meter {
	switch word {
	case ProgressBar:
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

func (m *plain) Show(at time.Time, p Progress) {
	if m.last.IsZero() {
		m.last = at
	}
	if at.Sub(m.last) < plainEvery {
		return
	}
	m.last = at
	for _, line := range append([]string{p.sentence()}, Columns(p.table)...) {
		fmt.Fprintln(m.w, source.Escape(line))
	}
}

func (m *plain) Clear() {}

// IsTerminal reports whether w is a terminal that can move its cursor.
func IsTerminal(w io.Writer) bool {
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
