package cli

import (
	"time"

	"braid/download/partfile"
)

// leftLine is what is there of a download that is not complete.
type leftLine struct {
	Name    string    `json:"name"`
	Path    string    `json:"path"` // of the part file
	URL     string    `json:"url"`  // without secrets
	Size    *int64    `json:"size,omitempty"`
	Here    int64     `json:"here"` // bytes
	Changed time.Time `json:"changed"`
	InUse   bool      `json:"in_use"`
	PID     int       `json:"pid,omitempty"` // of the process that has it open
	Require string    `json:"require,omitempty"`
}

func newLeftLine(l partfile.Left) leftLine {
	return leftLine{
		Name: l.Name, Path: l.Path, URL: l.Identity.URL, Size: known(sizeOfLeft(l)), Here: l.Have.Len(), Changed: l.Changed.UTC().Truncate(time.Second),
		InUse: l.InUse, PID: l.PID, Require: l.Identity.Require,
	}
}

// sizeOfLeft is that of the whole file; -1 if it is not known.
func sizeOfLeft(l partfile.Left) int64 {
	if !l.Known {
		return -1
	}
	return l.Identity.Size
}
