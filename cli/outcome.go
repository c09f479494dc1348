package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"braid/download"
	"braid/source"
)

// An outcome is what became of one file of a batch.
type outcome struct {
	file    int
	state   string // one of the words below
	url     string // masked
	path    string
	size    int64
	elapsed time.Duration
	proven  string // what by, or that it is not
	result  download.Result
	code    int
	why     string
}

// The states of an outcome.
const (
	wasDone        = "done"
	wasThere       = "there" // before
	wasLeft        = "left"  // another file of that name, which the user wants to keep
	wasFailed      = "failed"
	wasInterrupted = "unfinished"
)

const (
	// mostOutcomes are kept of a batch, for its last event.
	mostOutcomes = 1000
	// mostRows is how many files a table at the end has; of more, nobody would see the first ones.
	mostRows = 40
	// fewRows need no table: their results are the lines above.
	fewRows = 2
)

// outcomes are those of a batch, as many as are kept.
type outcomes struct {
	kept []outcome
	more int
}

func (o *outcomes) add(x outcome) {
	if len(o.kept) >= mostOutcomes {
		o.more++
		return
	}
	o.kept = append(o.kept, x)
}

// table says what became of each file, in the order of the list. It is empty if there are too many for one, or so few that their results
// have just been told.
func (o *outcomes) table(width int) []string {
	if n := len(o.kept) + o.more; n <= fewRows || n > mostRows {
		return nil
	}
	slices.SortStableFunc(o.kept, func(a, b outcome) int { return a.file - b.file })
	var rows [][]string
	for _, x := range o.kept {
		row := []string{"  " + x.state, filepath.Base(x.path), "", "", x.proven}
		if x.path == "" {
			row[1] = x.url
		}
		if x.size > 0 {
			row[2] = fmt.Sprintf("%8s", sizeText(x.size))
		}
		if x.elapsed > 0 && x.state == wasDone {
			row[3] = fmt.Sprintf("%8s", timeText(x.elapsed))
		}
		if x.why != "" {
			row[4] = shorten(x.why, 160)
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		for i := range row {
			row[i] = source.Escape(row[i])
		}
	}
	lines := columns(rows)
	for i := range lines {
		if width > 0 {
			lines[i] = shorten(lines[i], max(width, 3))
		}
	}
	return lines
}

// outcomeLine is one of the results in the last event of a batch.
type outcomeLine struct {
	File     int    `json:"file"`
	State    string `json:"state"` // "done", "there" before, "left" as it is, "failed", "unfinished"
	URL      string `json:"url"`
	Path     string `json:"path"`
	Size     int64  `json:"size,omitempty"`
	Verified bool   `json:"verified,omitempty"`
	Code     int    `json:"code,omitempty"`
	Why      string `json:"why,omitempty"`
}

func (o *outcomes) lines() []outcomeLine {
	lines := []outcomeLine{}
	for _, x := range o.kept {
		lines = append(lines, outcomeLine{x.file, x.state, x.url, x.path, x.size, x.result.Proof.Verified(), x.code, x.why})
	}
	return lines
}
