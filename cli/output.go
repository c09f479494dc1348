package cli

import (
	"fmt"
	"io"

	"braid/internal/render"
	"braid/source"
)

// outputFlags are the flags of messages and progress.
type outputFlags struct {
	Quiet, Verbose, JSON bool
	Progress, Color      choice

	terminal bool                     // standard error is a terminal
	reword   func(text string) string // see render.Screen.Reword
	meter    render.Meter             // used instead of the meter for Progress, even with Quiet; may be nil
}

func newOutputFlags(s streams) outputFlags {
	return outputFlags{terminal: render.IsTerminal(s.err)}
}

// screen returns the screen for messages and progress.
func (o *outputFlags) screen(s streams) *render.Screen {
	word := render.ProgressWord(o.Progress.Word, o.Quiet, o.JSON, o.terminal)
	m := render.NewMeter(word, s.err)
	if o.meter != nil {
		m = o.meter
	}
	return &render.Screen{
		Out: s.err, Meter: m, Terminal: o.terminal, Quiet: o.Quiet, Verbose: o.Verbose,
		Color: render.Colored(o.Color.Word, o.terminal), Reword: o.reword,
	}
}

// printLines writes lines to w, which is standard output. It escapes control characters.
func printLines(w io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, source.Escape(line)); err != nil {
			return outputFailure(err)
		}
	}
	return nil
}
