package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"braid/internal/problem"
	"braid/source"
)

// A screen is standard error: messages, with the progress below them. It is used by one goroutine at a time.
type screen struct {
	w        io.Writer
	meter    meter // nil shows no progress
	terminal bool
	quiet    bool
	verbose  bool
	color    bool
	reword   func(text string) string // for a command that has the options of another program; may be nil
}

// say writes a message.
func (s *screen) say(format string, args ...any) {
	if s.quiet {
		return
	}
	s.clear()
	fmt.Fprintln(s.w, source.Escape(fmt.Sprintf(format, args...)))
}

// conclude writes a message whose end has a colour, if there are any.
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

// warn writes a message that should not be overlooked.
func (s *screen) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.conclude(yellow, text, text)
}

// detail writes a message that only -v shows.
func (s *screen) detail(format string, args ...any) {
	if s.verbose {
		s.say(format, args...)
	}
}

// fail writes what went wrong, whatever the user wants to see.
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

// answer writes how far the command is when a signal asks for that, whatever else is wanted on the screen.
func (s *screen) answer(p progress) {
	s.clear()
	fmt.Fprintln(s.w, source.Escape(p.sentence()))
}

// pass writes what a program of the user's has printed, as it is.
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

// clear makes room for a line of text.
func (s *screen) clear() {
	if s.meter != nil {
		s.meter.clear()
	}
}

// columns is how wide the terminal is; 0 if there is none.
func (s *screen) columns() int {
	if !s.terminal {
		return 0
	}
	columns, _ := terminalSize(s.w)
	return columns
}
