package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"braid/internal/problem"
	"braid/source"
)

// A screen writes messages to standard error, with the progress below them. It is used by one goroutine at a
// time.
type screen struct {
	w        io.Writer
	meter    meter // nil shows no progress
	terminal bool
	quiet    bool
	verbose  bool
	color    bool
	// translates options in messages to those of another program; may be nil
	reword func(text string) string
}

// say writes a message, unless quiet.
func (s *screen) say(format string, args ...any) {
	if s.quiet {
		return
	}
	s.clear()
	fmt.Fprintln(s.w, source.Escape(fmt.Sprintf(format, args...)))
}

// conclude writes a message with its end in color, if colors are on.
func (s *screen) conclude(h hue, message, end string) {
	if s.reword != nil {
		message, end = s.reword(message), s.reword(end)
	}
	head, ok := strings.CutSuffix(message, end)
	if s.quiet || !s.color || !ok {
		s.say("%s", message)
		return
	}
	s.clear()
	fmt.Fprintln(s.w, source.Escape(head)+h.paint(source.Escape(end)))
}

// warn writes a warning in color.
func (s *screen) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.conclude(yellow, text, text)
}

// detail writes a message with -v.
func (s *screen) detail(format string, args ...any) {
	if s.verbose {
		s.say(format, args...)
	}
}

// fail writes a problem, even if quiet.
func (s *screen) fail(f *problem.Problem) {
	s.clear()
	if s.reword != nil {
		own := *f
		own.Hint = s.reword(f.Hint)
		f = &own
	}
	line := errorLine(f)
	if rest, ok := strings.CutPrefix(line, errorPrefix); ok && s.color {
		line = red.paint(errorPrefix) + rest
	}
	fmt.Fprintln(s.w, line)
}

// answer writes the progress that a signal requested, even if quiet.
func (s *screen) answer(p progress) {
	s.clear()
	fmt.Fprintln(s.w, source.Escape(p.sentence()))
}

// pass writes the output of a hook unchanged.
func (s *screen) pass(output []byte) {
	if len(output) > 0 {
		s.clear()
		s.w.Write(output)
	}
}

func (s *screen) progress(at time.Time, p progress) {
	if s.meter != nil {
		s.meter.show(at, p)
	}
}

// clear erases the progress.
func (s *screen) clear() {
	if s.meter != nil {
		s.meter.clear()
	}
}

// columns returns the width of the terminal; 0 without a terminal.
func (s *screen) columns() int {
	if !s.terminal {
		return 0
	}
	columns, _ := terminalSize(s.w)
	return columns
}
