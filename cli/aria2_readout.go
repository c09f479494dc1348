package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// A readout writes the progress to standard output in the form of aria2c: [#2089b0 400KiB/33MiB(1%) CN:1
// DL:115KiB ETA:4m51s]. On a terminal the line is overwritten; elsewhere each second adds a line.
type readout struct {
	w        io.Writer
	gid      string
	terminal bool
	last     time.Time
	width    int // of the line on the terminal
}

func (m *readout) show(at time.Time, p progress) {
	if m.last.IsZero() {
		m.last = at
	}
	if at.Sub(m.last) < time.Second || p.comparing {
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

func (m *readout) line(p progress) string {
	rate := "DL:" + aria2Size(int64(p.rate)) + "B"
	if p.several {
		return "[" + rate + " " + strings.TrimSpace(p.amount) + "]"
	}
	share := ""
	if p.size > 0 {
		share = fmt.Sprintf("(%d%%)", percent(p.done, p.size))
	}
	text := fmt.Sprintf("[#%.6s %sB/%sB%s CN:%d %s", m.gid, aria2Size(p.done), aria2Size(max(p.size, 0)), share, p.active, rate)
	if p.rate >= 1 && p.size > p.done {
		text += " ETA:" + (time.Duration(float64(p.size-p.done)/p.rate) * time.Second).String()
	}
	return text + "]"
}

// clear erases the line of progress.
func (m *readout) clear() {
	if m.width > 0 {
		fmt.Fprintf(m.w, "\r%*s\r", m.width, "")
		m.width = 0
	}
}
