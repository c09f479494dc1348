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

// A bar draws the progress on a terminal, with the table of sources below it. A terminal must have only one bar,
// because two would overwrite each other.
//
// After each drawing, the cursor is at the start of the bar. Erasing everything after the cursor therefore erases the
// whole drawing, even if the terminal has become narrower and has wrapped its lines.
type bar struct {
	w     io.Writer
	size  func() (columns, lines int)
	drawn bool
	last  time.Time
	turn  int
}

const (
	// barEvery is the minimum time between two drawings.
	barEvery = 100 * time.Millisecond
	// beside is the width of the percentage and of the narrowest bar together.
	beside = 20
	// leastBar is the width below which no bar is drawn.
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

// below returns the table as lines, cut to columns and limited in number by most. It is shown below the bar.
func below(rows [][]string, columns, most int) []string {
	if len(rows) == 0 || most < 2 {
		return nil
	}
	var more []string
	if n := len(rows) - most; n > 0 {
		rows, more = rows[:most-1], []string{fmt.Sprintf("  and %d more", n+1)}
	}
	for _, row := range rows { // escape them before the widths of columns are measured
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

// line returns the line with the bar and the numbers, at most width columns wide. If that is too narrow for both, it
// omits the bar first, and then the numbers that [progress.fit] drops.
func (m *bar) line(p Progress, width int) string {
	numbers := p.fit(width - beside)
	if p.Size <= 0 {
		m.turn++
		return cut(drawn(-1, 0, m.turn)+" "+numbers, width)
	}
	n := p.numbers()
	// The result replaces the bar after verification, so the bar never shows 100 %.
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
// Each call uses a new bar of the library, which writes to io.Discard. The library's own output would assume that the
// terminal never wraps the line, which is wrong after the terminal has become narrower.
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

// cut shortens s to width columns. It adds no mark, because that would need a column.
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
