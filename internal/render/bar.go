package render

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"

	"braid/internal/option"
	"braid/source"
)

// A bar draws the progress on a terminal, with the table of sources below. A terminal has one bar, because two bars
// would overwrite each other.
//
// After each drawing the cursor is at the start of the bar. Erasing everything after the cursor then erases the drawing,
// even if the terminal has become narrower and has wrapped the lines.
type bar struct {
	w     io.Writer
	size  func() (columns, lines int)
	drawn bool
	last  time.Time
	turn  int
}

const (
	// barEvery is the interval between two drawings.
	barEvery = 100 * time.Millisecond
	// beside is the width of the bar's percentage and of the narrowest bar.
	beside = 20
	// leastBar is the width below which the bar is left out.
	leastBar = 10

	eraseBelow = "\r\x1b[J"
)

func (m *bar) Show(at time.Time, p Progress) {
	if m.drawn && at.Sub(m.last) < barEvery && !at.IsZero() {
		return
	}
	m.last = at
	columns, height := m.size()
	lines := append([]string{m.line(p, columns-1)}, below(p.table, columns-1, height-2)...)
	var b strings.Builder
	b.WriteString(eraseBelow + strings.Join(lines, "\r\n"))
	if n := len(lines) - 1; n > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", n)
	}
	b.WriteString("\r")
	io.WriteString(m.w, b.String())
	m.drawn = true
}

// below returns the lines of the table, at most as many as fit below the bar.
func below(rows [][]string, columns, most int) []string {
	if len(rows) == 0 || most < 2 {
		return nil
	}
	var more []string
	if n := len(rows) - most; n > 0 {
		rows, more = rows[:most-1], []string{fmt.Sprintf("  and %d more", n+1)}
	}
	for _, row := range rows { // shortened before the widths of columns are measured
		for i := range row {
			row[i] = source.Escape(row[i])
		}
	}
	lines := append(fitting(rows, columns), more...)
	for i := range lines {
		lines[i] = cut(lines[i], columns)
	}
	return lines
}

// line returns the bar in the given width. If the width is too small, the bar itself is left out first, and then the
// numbers in the order in which [progress.fit] drops them.
func (m *bar) line(p Progress, width int) string {
	numbers := p.fit(width - beside)
	if p.Size <= 0 {
		m.turn++
		return cut(drawn(-1, 0, m.turn)+" "+numbers, width)
	}
	n := p.numbers()
	// After verification the result replaces the bar, so that it never shows 100 %.
	share := min(option.Percent(p.Done, p.Size), 99)
	percentage := fmt.Sprintf("%4d%% ", share)
	if width-beside < len(n[0])+len(n[1])+len(n[2]) {
		return cut(percentage+strings.TrimLeft(p.fit(width-len(percentage)), " "), width)
	}
	if room := width - len(percentage) - utf8.RuneCountInString(numbers) - 3; room >= leastBar {
		return cut(drawn(share, room, 0)+" "+numbers, width)
	}
	return cut(percentage+numbers, width)
}

// drawn returns a bar that is filled to share percent, as the library draws it. If share is -1, it returns a spinner.
// Each drawing uses a new bar of the library that writes to io.Discard: the library assumes that its line is never
// wrapped, which is wrong after the terminal has become narrower.
func drawn(share, width, turn int) string {
	most := 100
	if share < 0 {
		most, share = -1, 1 // a spinner turns only after progress
	}
	b := progressbar.NewOptions(most,
		progressbar.OptionSetWriter(io.Discard),
		progressbar.OptionSetWidth(width),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetSpinnerChangeInterval(0), // else the library starts a goroutine that never ends
		progressbar.OptionSpinnerCustom([]string{string(`-\|/`[turn%4])}),
	)
	b.RenderBlank()
	b.Set(share)
	return strings.TrimRight(strings.TrimPrefix(b.String(), "\r"), " ")
}

// cut truncates s to width. It adds no mark, because a mark would take a column.
func cut(s string, width int) string {
	if n := utf8.RuneCountInString(s); n > width {
		return string([]rune(s)[:max(width, 0)])
	}
	return s
}

func (m *bar) Clear() {
	if m.drawn {
		io.WriteString(m.w, eraseBelow)
	}
	m.drawn = false
}
