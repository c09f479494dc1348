package cli

import (
	"fmt"
	"io"
	"os"

	"braid/source"
)

// outputFlags are the flags of messages and progress.
type outputFlags struct {
	Quiet, Verbose, JSON bool
	Progress, Color      choice

	terminal bool                     // standard error is a terminal
	reword   func(text string) string // see screen
	meter    meter                    // replaces the meter of Progress, even with Quiet; may be nil
}

func newOutputFlags(s streams) outputFlags {
	return outputFlags{terminal: isTerminal(s.err)}
}

// screen returns the screen for messages and progress.
func (o *outputFlags) screen(s streams) *screen {
	word := progressWord(o.Progress.Word, o.Quiet, o.JSON, o.terminal)
	m := newMeter(word, s.err)
	if o.meter != nil {
		m = o.meter
	}
	return &screen{
		w: s.err, meter: m, terminal: o.terminal, quiet: o.Quiet, verbose: o.Verbose,
		color: colored(o.Color.Word, o.terminal), reword: o.reword,
	}
}

const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// colored reports whether to use colors. The flag of this run has precedence over NO_COLOR, which is for all
// programs (no-color.org: set and not empty).
func colored(word string, terminal bool) bool {
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

// paint colors text, which must be escaped already.
func (h hue) paint(text string) string { return string(h) + text + "\x1b[0m" }

// printLines writes lines to w, which is standard output, with control characters escaped.
func printLines(w io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, source.Escape(line)); err != nil {
			return outputFailure(err)
		}
	}
	return nil
}
