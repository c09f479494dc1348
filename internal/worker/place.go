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
	"braid/internal/plug/jetstream"
	"braid/internal/plug/objectstore"
	"braid/metalink"
)

// A Place is where the workers of a queue place files: a [Folder] or a [Store].
type Place interface {
	// prepare makes r store the file of t in this Place. No earlier attempt at the job can place the file after that. r
	// continues an earlier attempt if possible. prepare returns the file that is in place, or nil.
	prepare(t *task, r *download.Request) (*placed, error)
	// place places the new file of t if changed is true. Otherwise, the file in place is right. It returns the file in place.
	place(ctx context.Context, t *task, r *download.Request, changed bool) (placed, error)
	// clear removes what attempts at the finished job of t have left. now is the record of the job.
	clear(ctx context.Context, t *task, now *fleet.Record)
	// lost is called when another worker has the job of t, or when the job was dropped.
	lost(t *task, dropped bool)
	// sweep removes the remains of jobs that were dropped while no worker had them.
	sweep(ctx context.Context, queue *jetstream.Queue) error
	// ID returns a text that is the same for all workers with this Place, and different for other Places.
	ID() (string, error)
	// Endpoint returns the endpoint of the object store, or "" for a folder.
	Endpoint() string
	// Close releases the resources of the Place.
	Close()
}

// A placed is a file that is in place.
type placed struct {
	path    string
	size    int64
	modTime time.Time
}

// is reports whether f is the file that e describes. f may be nil.
func (f *placed) is(e *fleet.Ending) bool {
	return f != nil && f.size == e.Size && f.modTime.Equal(e.ModTime)
}

var errStages = errors.New(stages + " is the folder of unfinished files")

// CheckName returns an error if no worker with any Place accepts a job with that name.
func CheckName(name string) error {
	if err := metalink.CheckPath(name); err != nil {
		return err
	}
	switch {
	case strings.HasPrefix(name, stages):
		return errStages
	case objectstore.Reserved(name):
		return errors.New("this suffix is reserved for the evidence beside an object")
	}
	return partfile.CheckName(path.Base(name))
}
