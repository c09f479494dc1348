package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"

	"braid/source"
)

// bar draws on a terminal: one for everything, as two would overwrite each other, and below it the table of the sources.
//
// After each drawing the cursor is back where it began. So what was drawn is erased by erasing what follows the cursor,
// also when the terminal has become narrower meanwhile and has broken the lines.
type bar struct {
	w     io.Writer
	size  func() (columns, lines int)
	drawn bool
	last  time.Time
	turn  int
}

const (
	// barEvery is how often a bar is drawn.
	barEvery = 100 * time.Millisecond
	// beside is the width of what the bar itself needs at least, with its percentage.
	beside = 20
	// leastBar is what a bar must be wide to say anything.
	leastBar = 10

	eraseBelow = "\r\x1b[J"
)

func (m *bar) show(at time.Time, p progress) {
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

// below are the lines below the bar, as many as there is room for.
func below(rows [][]string, columns, most int) []string {
	if len(rows) == 0 || most < 2 {
		return nil
	}
	var more []string
	if n := len(rows) - most; n > 0 {
		rows, more = rows[:most-1], []string{fmt.Sprintf("  and %d more", n+1)}
	}
	for _, row := range rows { // before they are measured
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

// line is the bar in so many columns. Where it is narrow, the bar makes way for the numbers, and then the amount for
// rate and time left.
func (m *bar) line(p progress, width int) string {
	numbers := p.fit(width - beside)
	if p.size <= 0 {
		m.turn++
		return cut(drawn(-1, 0, m.turn)+" "+numbers, width)
	}
	n := p.numbers()
	share := min(percent(p.done, p.size), 99) // it is full only when the file is proven, and then it makes way for the result
	percentage := fmt.Sprintf("%4d%% ", share)
	if width-beside < len(n[0])+len(n[1])+len(n[2]) {
		return cut(percentage+strings.TrimLeft(p.fit(width-len(percentage)), " "), width)
	}
	if room := width - len(percentage) - utf8.RuneCountInString(numbers) - 3; room >= leastBar {
		return cut(drawn(share, room, 0)+" "+numbers, width)
	}
	return cut(percentage+numbers, width)
}

// drawn is a bar that is full to so many percent, or a spinner for -1, as the library draws it. That goes nowhere, and
// for each frame it begins anew: the library knows one line only, which must not be broken by a terminal that has
// become narrower.
func drawn(share, width, turn int) string {
	most := 100
	if share < 0 {
		most, share = -1, 1 // a spinner turns only when something has come
	}
	b := progressbar.NewOptions(most,
		progressbar.OptionSetWriter(io.Discard),
		progressbar.OptionSetWidth(width),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetSpinnerChangeInterval(0), // else it starts a goroutine that never ends
		progressbar.OptionSpinnerCustom([]string{string(`-\|/`[turn%4])}),
	)
	b.RenderBlank()
	b.Set(share)
	return strings.TrimRight(strings.TrimPrefix(b.String(), "\r"), " ")
}

// cut leaves what fits, without a mark: a column is worth more than that.
func cut(s string, width int) string {
	if n := utf8.RuneCountInString(s); n > width {
		return string([]rune(s)[:max(width, 0)])
	}
	return s
}

func (m *bar) clear() {
	if m.drawn {
		io.WriteString(m.w, eraseBelow)
	}
	m.drawn = false
}
