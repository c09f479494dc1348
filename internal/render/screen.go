package render

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"braid/internal/problem"
	"braid/source"
)

// A Screen writes messages to standard error, and the progress below them. Only one goroutine at a time may use it.
type Screen struct {
	Out      io.Writer
	Meter    Meter // nil if no progress is shown
	Terminal bool
	Quiet    bool
	Verbose  bool
	Color    bool
	// replaces options of braid in messages by those of another program; may be nil
	Reword func(text string) string
}

// Say writes a message, unless Quiet is set.
func (s *Screen) Say(format string, args ...any) {
	if s.Quiet {
		return
	}
	s.clear()
	fmt.Fprintln(s.Out, source.Escape(fmt.Sprintf(format, args...)))
}

// conclude writes message, with its last part end in color if colors are on.
func (s *Screen) conclude(h hue, message, end string) {
	if s.Reword != nil {
		message, end = s.Reword(message), s.Reword(end)
	}
	head, ok := strings.CutSuffix(message, end)
	if s.Quiet || !s.Color || !ok {
		s.Say("%s", message)
		return
	}
	s.clear()
	fmt.Fprintln(s.Out, source.Escape(head)+h.paint(source.Escape(end)))
}

// Warn writes a warning, in color if colors are on.
func (s *Screen) Warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.conclude(yellow, text, text)
}

// Detail writes a message if -v is given.
func (s *Screen) Detail(format string, args ...any) {
	if s.Verbose {
		s.Say(format, args...)
	}
}

// Fail writes a message about f, even if Quiet is set.
func (s *Screen) Fail(f *problem.Problem) {
	s.clear()
	if s.Reword != nil {
		own := *f
		own.Hint = s.Reword(f.Hint)
		f = &own
	}
	line := ErrorLine(f)
	if rest, ok := strings.CutPrefix(line, errorPrefix); ok && s.Color {
		line = red.paint(errorPrefix) + rest
	}
	fmt.Fprintln(s.Out, line)
}

// answer writes the progress that a signal asked for, even if Quiet is set.
func (s *Screen) answer(p Progress) {
	s.clear()
	fmt.Fprintln(s.Out, source.Escape(p.sentence()))
}

// pass writes the output of a hook unchanged.
func (s *Screen) pass(output []byte) {
	if len(output) > 0 {
		s.clear()
		s.Out.Write(output)
	}
}

func (s *Screen) progress(at time.Time, p Progress) {
	if s.Meter != nil {
		s.Meter.Show(at, p)
	}
}

// clear erases the progress, if it is shown.
func (s *Screen) clear() {
	if s.Meter != nil {
		s.Meter.Clear()
	}
}

// columns returns the width of the terminal, or 0 if standard error is not a terminal.
func (s *Screen) columns() int {
	if !s.Terminal {
		return 0
	}
	columns, _ := terminalSize(s.Out)
	return columns
}

// ErrorLine returns the line that reports p, with control characters escaped.
func ErrorLine(p *problem.Problem) string { return errorPrefix + " " + source.Escape(p.Error()) }

// errorPrefix is how each line that reports a problem begins.
const errorPrefix = "braid:"

const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// Colored reports whether to use colors. word is the value of --color. It has precedence over NO_COLOR, which is for
// all programs and counts if it is not empty (no-color.org).
func Colored(word string, terminal bool) bool {
	switch word {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	return terminal && os.Getenv("NO_COLOR") == ""
}

// A hue is the escape sequence of a color (ECMA-48, SGR).
type hue string

const (
	red    hue = "\x1b[1;31m"
	green  hue = "\x1b[32m"
	yellow hue = "\x1b[33m"
)

// paint returns text in the color h. text must already be escaped.
func (h hue) paint(text string) string { return string(h) + text + "\x1b[0m" }
