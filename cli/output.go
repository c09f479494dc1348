package cli

import (
	"fmt"
	"io"
	"os"

	"braid/source"
)

// outputFlags say what a person sees of a command that takes its time.
type outputFlags struct {
	Quiet, Verbose, JSON bool
	Progress, Color      choice

	terminal bool                     // standard error is one
	reword   func(text string) string // see screen
	meter    meter                    // in place of that of Progress, also of a quiet command; may be nil
}

func newOutputFlags(s streams) outputFlags {
	return outputFlags{terminal: isTerminal(s.err)}
}

// screen is where messages go, with the progress below them.
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

// colored decides whether to use colours. What this run's command line says beats NO_COLOR, which is for all programs
// (no-color.org: set and not empty).
func colored(word string, terminal bool) bool {
	switch word {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	return terminal && os.Getenv("NO_COLOR") == ""
}

// A hue is a colour of words, as terminals understand it (ECMA-48, SGR).
type hue string

const (
	red    hue = "\x1b[1;31m"
	green  hue = "\x1b[32m"
	yellow hue = "\x1b[33m"
)

// paint colours text that was escaped.
func (h hue) paint(text string) string { return string(h) + text + "\x1b[0m" }

// printLines writes lines to standard output.
func printLines(w io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, source.Escape(line)); err != nil {
			return outputFailure(err)
		}
	}
	return nil
}
