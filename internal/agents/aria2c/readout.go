package aria2c

import (
	"fmt"
	"io"
	"strings"
	"time"

	"braid/internal/option"
	"braid/internal/render"
)

// A readout writes the progress to standard output in the form of aria2c: [#2089b0 400KiB/33MiB(1%) CN:1 DL:115KiB
// ETA:4m51s]. On a terminal the line is overwritten; elsewhere each second adds a line.
type readout struct {
	w        io.Writer
	gid      string
	terminal bool
	last     time.Time
	width    int // of the line on the terminal
}

func (m *readout) Show(at time.Time, p render.Progress) {
	if m.last.IsZero() {
		m.last = at
	}
	if at.Sub(m.last) < time.Second || p.Comparing {
		return
	}
	m.last = at
	line := m.line(p)
	if !m.terminal {
		fmt.Fprintln(m.w, line)
		return
	}
	fmt.Fprintf(m.w, "\r%-*s", m.width, line)
	m.width = len(line)
}

func (m *readout) line(p render.Progress) string {
	rate := "DL:" + sizeText(int64(p.Rate)) + "B"
	if p.Several {
		return "[" + rate + " " + strings.TrimSpace(p.Amount) + "]"
	}
	share := ""
	if p.Size > 0 {
		share = fmt.Sprintf("(%d%%)", option.Percent(p.Done, p.Size))
	}
	text := fmt.Sprintf("[#%.6s %sB/%sB%s CN:%d %s", m.gid, sizeText(p.Done), sizeText(max(p.Size, 0)), share, p.Active, rate)
	if p.Rate >= 1 && p.Size > p.Done {
		text += " ETA:" + (time.Duration(float64(p.Size-p.Done)/p.Rate) * time.Second).String()
	}
	return text + "]"
}

// Clear erases the progress line.
func (m *readout) Clear() {
	if m.width > 0 {
		fmt.Fprintf(m.w, "\r%*s\r", m.width, "")
		m.width = 0
	}
}
