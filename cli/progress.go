package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"braid/source"
)

// progress is how far a download is.
type progress struct {
	name       string
	done, size int64   // size is -1 while it is not known
	rate       float64 // bytes a second
	mirrors    int     // at work; -1 if it is on disk already
	sources    *roster // nil: nobody asked for them
	comparing  bool    // what came is compared with what others have; done and size are of that
}

// details is a table of the sources.
func (p progress) details(at time.Time) [][]string {
	if p.sources == nil {
		return nil
	}
	return p.sources.rows(at)
}

// left is the time that the rest will take, or "" when nobody can tell.
func (p progress) left() string {
	if p.size < 0 || p.rate < 1 || p.done > p.size {
		return ""
	}
	seconds := float64(p.size-p.done) / p.rate
	if seconds > 100*24*60*60 {
		return ""
	}
	if seconds < 60 { // no tenths: they would only flicker
		return fmt.Sprintf("%d s", max(1, int(seconds+0.5)))
	}
	return timeText(time.Duration(seconds * float64(time.Second)))
}

// sentence says all of it in one line.
func (p progress) sentence() string {
	if p.comparing {
		return fmt.Sprintf("%s: wrong somewhere; mirrors are compared: %s of %s", p.name, sizeText(p.done), sizeText(p.size))
	}
	parts := []string{sizeText(p.done)}
	if p.size >= 0 {
		parts[0] = fmt.Sprintf("%s of %s (%d %%)", sizeText(p.done), sizeText(p.size), percent(p.done, p.size))
	}
	parts = append(parts, rateText(p.rate))
	if left := p.left(); left != "" {
		parts = append(parts, left+" left")
	}
	if p.mirrors >= 0 {
		parts = append(parts, count(p.mirrors, "mirror"))
	}
	return p.name + ": " + strings.Join(parts, ", ")
}

// numbers are the parts of what stands beside the bar. They keep their width, so that the bar does not tremble.
func (p progress) numbers() numbers {
	if p.comparing {
		return numbers{amount: fmt.Sprintf("comparing mirrors: %8s of %-8s", sizeText(p.done), sizeText(p.size))}
	}
	s := fmt.Sprintf("%8s", sizeText(p.done))
	if p.size >= 0 {
		s += fmt.Sprintf(" of %-8s", sizeText(p.size))
	}
	left := p.left()
	if left != "" {
		left = "ETA " + left
	}
	mirrors := ""
	if p.mirrors >= 0 {
		mirrors = fmt.Sprintf(" %-10s", count(p.mirrors, "mirror"))
	}
	return numbers{s, fmt.Sprintf(" %10s", rateText(p.rate)), fmt.Sprintf("  %-15s", left), mirrors}
}

// numbers stand beside a bar: how much there is, how fast it comes, how long the rest will take, and by how many.
type numbers struct{ amount, rate, left, rest string }

// core is how wide the first three are.
func (n numbers) core() int { return len(n.amount) + len(n.rate) + len(n.left) }

// fit is as much of them as fits. Rate and time left stay longest.
func (n numbers) fit(width int) string {
	for _, parts := range [][]string{{n.amount, n.rate, n.left, n.rest}, {n.amount, n.rate, n.left}, {n.rate, n.left}, {n.rate}} {
		if s := strings.Join(parts, ""); len(s) <= width {
			return s
		}
	}
	return n.amount
}

// part is how much of it is done; size is -1 while that is not known.
func (p progress) part() (done, size int64) { return p.done, p.size }

// A gauge is how far something is, in words.
type gauge interface {
	sentence() string
	numbers() numbers
	part() (done, size int64)
	// details are a table of what it consists of; there may be none.
	details(at time.Time) [][]string
}

// A meter shows progress. It is used by one goroutine.
type meter interface {
	show(at time.Time, g gauge)
	// clear makes room for a line of text.
	clear()
}

// The words of --progress.
const (
	progressBar   = "bar"
	progressPlain = "plain"
	progressNone  = "none"
)

// progressWord decides how progress is shown when the user did not: a bar is for terminals that can draw it,
// and those who read JSON have it there.
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

// newMeter makes the meter for a word of --progress.
func newMeter(word string, w io.Writer) meter {
	switch word {
	case progressBar:
		return &bar{w: w, size: func() (int, int) { return terminalSize(w) }}
	case progressPlain:
		return &plain{w: w}
	}
	return hidden{}
}

type hidden struct{}

func (hidden) show(time.Time, gauge) {}
func (hidden) clear()                {}

// plain writes a line now and then, for logs.
type plain struct {
	w    io.Writer
	last time.Time
}

const plainEvery = 10 * time.Second

func (m *plain) show(at time.Time, g gauge) {
	if m.last.IsZero() {
		m.last = at
	}
	if at.Sub(m.last) < plainEvery {
		return
	}
	m.last = at
	fmt.Fprintln(m.w, source.Escape(g.sentence()))
	for _, line := range columns(g.details(at)) {
		fmt.Fprintln(m.w, source.Escape(line))
	}
}

func (m *plain) clear() {}

// isTerminal says that somebody is looking, at something that knows how to move its cursor.
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
