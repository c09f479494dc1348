package render

import (
	"slices"
	"strings"
	"unicode/utf8"

	"braid/internal/option"
)

// Columns returns rows as lines, with their cells aligned in columns that are two spaces apart.
func Columns(rows [][]string) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		lines[n] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// fitting returns rows as lines of at most width columns. If rows are too wide, it omits the share, which follows from
// the bytes, and then the speed. If that is not enough, it cuts the lines.
func fitting(rows [][]string, width int) []string {
	for figures := 4; width > 0 && figures > 2 && tableWidth(rows, figures) > width; figures-- {
		for i := range rows {
			rows[i] = slices.Delete(rows[i], 2, 3)
		}
	}
	return narrow(Columns(rows), width)
}

// narrow cuts lines to width columns; 0 means any width.
func narrow(lines []string, width int) []string {
	for i := range lines {
		if width > 0 {
			lines[i] = option.Shorten(lines[i], max(width, 3))
		}
	}
	return lines
}

// leastReason is the width in columns below which a shortened reason is useless.
const leastReason = 20

// tableWidth returns the smallest width of a table of rows with reasons shortened to leastReason. Each row has that
// number of figures before the reason.
func tableWidth(rows [][]string, figures int) (width int) {
	short := make([][]string, len(rows))
	for i, row := range rows {
		short[i] = append(short[i], row...)
		if len(row) > figures {
			short[i][figures] = option.Shorten(row[figures], leastReason)
		}
	}
	for _, line := range Columns(short) {
		width = max(width, utf8.RuneCountInString(line))
	}
	return width
}
