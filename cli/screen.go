package cli

import (
	"fmt"
	"io"
	"time"

	"braid/source"
)

// A screen is standard error: messages for people, with the progress below them. It is used by one goroutine
// at a time.
type screen struct {
	w       io.Writer
	meter   meter
	width   func() int // of the terminal; nil if there is none
	quiet   bool
	verbose bool
}

// newScreen shows progress as a word of --progress says.
func newScreen(w io.Writer, quiet, verbose bool, progress string, terminal bool) *screen {
	s := &screen{w: w, quiet: quiet, verbose: verbose, meter: newMeter(progress, w)}
	if terminal {
		s.width = func() int { return terminalWidth(w) }
	}
	return s
}

// say writes a message.
func (s *screen) say(format string, args ...any) {
	if s.quiet {
		return
	}
	s.meter.clear()
	fmt.Fprintln(s.w, source.Escape(fmt.Sprintf(format, args...)))
}

// detail writes a message for those who asked for details.
func (s *screen) detail(format string, args ...any) {
	if s.verbose {
		s.say(format, args...)
	}
}

// fail writes what went wrong, whatever the user wants to see.
func (s *screen) fail(f *failure) {
	s.meter.clear()
	fmt.Fprintln(s.w, f.line())
}

// pass writes what a program of the user's has printed, as it is.
func (s *screen) pass(output []byte) {
	if len(output) > 0 {
		s.meter.clear()
		s.w.Write(output)
	}
}

func (s *screen) progress(at time.Time, g gauge) { s.meter.show(at, g) }

// columns is how wide the terminal is; 0 if there is none.
func (s *screen) columns() int {
	if s.width == nil {
		return 0
	}
	return s.width()
}
