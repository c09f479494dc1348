package worker

import (
	"context"
	"errors"
	"path"
	"strings"
	"time"

	"braid/download"
	"braid/fleet"
	"braid/internal/partfile"
	"braid/metalink"
	"braid/objectstore"
)

// A Place is where the workers of a queue put files: a [Folder] or a [Store].
type Place interface {
	// prepare makes a request bring the file of a task there. The request goes on with what an earlier try has left, or
	// that try can put nothing in place any more. It returns the file that is there, or nil.
	prepare(t *task, r *download.Request) (*placed, error)
	// place puts a file that is right in its place if changed is true, else the right one is there. It returns the one
	// that is there then.
	place(ctx context.Context, t *task, r *download.Request, changed bool) (placed, error)
	// clear removes what the tries of a job have left. The job is over, and now is its record.
	clear(ctx context.Context, t *task, now *fleet.Record)
	// lost is called when a job is another worker's.
	lost(t *task)
	// Close releases what the place was opened with.
	Close()
}

// A placed is a file in its place.
type placed struct {
	path    string
	size    int64
	modTime time.Time
}

// is reports whether a file, which may be nil, is the one of an ending.
func (f *placed) is(e *fleet.Ending) bool {
	return f != nil && f.size == e.Size && f.modTime.Equal(e.ModTime)
}

var errStages = errors.New(stages + " is the folder of unfinished files")

// CheckName says why no worker takes a job of a name, wherever it puts files.
func CheckName(name string) error {
	if err := metalink.CheckPath(name); err != nil {
		return err
	}
	switch {
	case strings.HasPrefix(name, stages):
		return errStages
	case objectstore.Reserved(name):
		return errors.New("a name of that ending is the one of the evidence beside an object")
	}
	return partfile.CheckName(path.Base(name))
}
