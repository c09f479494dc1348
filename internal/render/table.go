package render

import (
	"slices"
	"strings"
	"unicode/utf8"

	"braid/internal/option"
)

// Columns aligns the cells of rows in columns, two spaces apart.
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

// fitting aligns the rows in the given width. If rows are too wide, it leaves out the share, which follows from the
// bytes, then the speed, and then truncates the lines.
func fitting(rows [][]string, width int) []string {
	for figures := 4; width > 0 && figures > 2 && tableWidth(rows, figures) > width; figures-- {
		for i := range rows {
			rows[i] = slices.Delete(rows[i], 2, 3)
		}
	}
	return narrow(Columns(rows), width)
}

// narrow truncates lines to width; 0 means any width.
func narrow(lines []string, width int) []string {
	for i := range lines {
		if width > 0 {
			lines[i] = option.Shorten(lines[i], max(width, 3))
		}
	}
	return lines
}

// leastReason is the width below which a truncated reason is useless.
const leastReason = 20

// tableWidth returns the least width of a table, with reasons truncated to leastReason.
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
