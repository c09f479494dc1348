package download

import (
	"cmp"
	"errors"
	"fmt"

	"braid/internal/partfile"
)

// remains describes the bytes that a failed download left for the next one.
type remains struct {
	kept     int64                // bytes
	keptAt   string               // path; empty: that of the part file
	moved    *partfile.MovedError // the kept part file was moved, or is gone
	useful   bool                 // the next run could resume it
	unproven bool                 // the rest may be of another file; see Request.IfExists.Continue
	listed   bool                 // ... unless the next run finds the digest beside the file again
	refuted  bool                 // it is complete, and has another digest than the request gave
	aside    []string             // paths of the files that were set aside
	there    string               // path of the existing file
}

// explain adds to an error the kept bytes, in the part file at the path part, and the next step.
func (x *remains) explain(e *Error, err error, part string) {
	if e.Kept = x.kept; x.kept > 0 {
		e.Part = cmp.Or(x.keptAt, part)
		x.advise(e, err)
	} else {
		e.Aside, e.There = x.aside, x.there
	}
	x.explainMoved(e, err)
}

// advise sets the hint of an error if bytes were kept.
func (x *remains) advise(e *Error, err error) {
	none, _ := errors.AsType[*NoSourceError](err)
	switch {
	case x.refuted:
		e.Hint = "if the digest was mistyped, the corrected command will not fetch it again"
	case x.unproven && !x.listed && e.Kind != Limit && e.Kind != Local: // those need another step first
		e.Hint = cmp.Or(e.Hint, HintUnproven)
	}
	if none != nil && none.Budget() && !x.unproven {
		e.Kind = Budget
	}
}

// explainMoved reports a folder that was moved or removed during the download: that is a fault of its own,
// whatever else ended the download.
func (x *remains) explainMoved(e *Error, err error) {
	if moved, ok := errors.AsType[*partfile.MovedError](err); ok { // the file itself
		e.Kind, e.Hint = Local, "the same command starts over"
		if moved.Now != "" {
			e.Hint = "the file is complete and right: nothing is left to be fetched"
		}
		return
	}
	if x.moved != nil {
		e.Kind, e.Err, e.Hint = Local, fmt.Errorf("%w; %w", e.Err, x.moved), "the same command starts over"
		if x.kept > 0 {
			e.Hint = HintFolder
		}
	}
}
