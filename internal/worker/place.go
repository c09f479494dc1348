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

// A Place is the destination of the files of a queue: a [Folder] or a [Store].
type Place interface {
	// prepare sets the place of a task's file in a request. The request continues an earlier attempt, unless prepare
	// ensures that the earlier attempt can no longer place a file. It returns the existing file, or nil.
	prepare(t *task, r *download.Request) (*placed, error)
	// place puts a new file in its place if changed is true. Otherwise the existing file is right. It returns the file
	// in place.
	place(ctx context.Context, t *task, r *download.Request, changed bool) (placed, error)
	// clear removes the remains of a finished job's attempts. now is the record of the job.
	clear(ctx context.Context, t *task, now *fleet.Record)
	// lost is called when another worker has the job, or when the job was dropped.
	lost(t *task, dropped bool)
	// sweep removes the remains of jobs that were dropped while no worker had them.
	sweep(ctx context.Context, queue *jetstream.Queue) error
	// ID returns a text that is equal for all workers with this place, and differs for other places.
	ID() (string, error)
	// Endpoint returns the endpoint of the store with this Place, or "".
	Endpoint() string
	// Close releases the resources of the Place.
	Close()
}

// A placed is a file in its final place.
type placed struct {
	path    string
	size    int64
	modTime time.Time
}

// is reports whether f, which may be nil, is the file of an ending.
func (f *placed) is(e *fleet.Ending) bool {
	return f != nil && f.size == e.Size && f.modTime.Equal(e.ModTime)
}

var errStages = errors.New(stages + " is the folder of unfinished files")

// CheckName returns an error if no worker accepts a job with the name, for any Place.
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
