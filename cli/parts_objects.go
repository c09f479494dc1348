package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"braid/download"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/render"
	"braid/objectstore"
	"braid/source"
)

// uploadEvent is an upload into an object store that is not complete.
type uploadEvent struct {
	render.Head
	Path   string    `json:"path"`          // that the object would have
	URL    string    `json:"url,omitempty"` // without secrets; if a journal is here
	Upload string    `json:"upload"`        // its id at the store
	Here   *int64    `json:"here,omitempty"`
	Began  time.Time `json:"began"`
	InUse  bool      `json:"in_use,omitempty"` // a process of this machine works at it
	PID    int       `json:"pid,omitempty"`    // of that process
}

// uploads returns the unfinished uploads that this user began on this machine or, if word is a URL of an
// object store, those below it.
func (v *partsList) uploads(ctx context.Context, word string) ([]objectstore.Left, error) {
	if word == "" {
		folder := job.StateFolder()
		if folder == "" {
			return nil, nil
		}
		return objectstore.Journaled(filepath.Join(folder, "uploads"))
	}
	s, err := objectstore.Open(word, job.StoreOptions(agent(), 0, func(string) {}))
	if err != nil {
		return nil, err
	}
	return s.Left(ctx)
}

// place lists the uploads below a URL of an object store.
func (v *partsList) place(ctx context.Context, word string) error {
	left, err := v.uploads(ctx, word)
	if err != nil {
		return withoutKept(downloadProblem(ctx, err))
	}
	if v.JSON {
		lines := render.NewJSONWriter(v.out)
		writeUploads(lines, left)
		return outputFailure(lines.Err())
	}
	if len(left) == 0 {
		fmt.Fprintln(v.err, source.Escape(word+": no upload is unfinished there"))
	}
	return printLines(v.out, render.Columns(uploadRows(left)))
}

func withoutKept(f *problem.Problem) *problem.Problem {
	f.Kept = ""
	return f
}

func writeUploads(to *render.JSONWriter, left []objectstore.Left) {
	for _, l := range left {
		to.Write(uploadEvent{render.NewHead(time.Now(), "upload"), l.Path(), l.URL, l.Upload, render.SizeOf(l.Size),
			l.Began.UTC().Truncate(time.Second), l.InUse, l.PID})
	}
}

func uploadRows(left []objectstore.Left) (rows [][]string) {
	now := time.Now()
	for _, l := range left {
		done, state := "", "uploaded by another"
		if l.Size >= 0 {
			done, state = sizeText(l.Size), cmp.Or(useText(l.InUse, l.PID), "to be resumed")
		}
		rows = append(rows, []string{l.Path(), done, ago(l.Began, now), state, l.URL})
	}
	return rows
}

// removeUploads aborts the uploads of an object or, if word ends with a slash, all uploads below it.
func removeUploads(ctx context.Context, word string, told io.Writer, lines *render.JSONWriter) error {
	cut := strings.LastIndexByte(word, '/') + 1
	s, err := objectstore.Open(word[:cut], job.StoreOptions(agent(), 0, func(string) {}))
	if err != nil {
		return err
	}
	gone, err := s.Sweep(ctx, word[cut:])
	for _, l := range gone {
		if lines != nil {
			lines.Write(removedEvent{render.NewHead(time.Now(), "removed"), l.Path()})
		} else {
			fmt.Fprintln(told, source.Escape("removed what was uploaded to "+l.Path()))
		}
	}
	if err == nil && len(gone) == 0 {
		return &problem.Problem{
			Kind: download.Local, What: "remove", Where: word, Why: "no upload is unfinished there",
			Hint: "braid parts list s3://BUCKET/ shows what there is",
		}
	}
	return err
}
