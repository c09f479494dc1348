package cli

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"braid/download"
	"braid/fleet"
	"braid/internal/partfile"
	"braid/metalink"
	"braid/objectstore"
)

// A workplace is where the workers of a queue put files.
type workplace interface {
	// prepare makes a request bring the file of a task there. The request goes on with what an earlier try has left, or
	// that try can put nothing in place any more. It returns the file that is there, or nil.
	prepare(t *workTask, r *download.Request) (*placedFile, error)
	// place puts a file that is right in its place if changed is true, else the right one is there. It returns the one
	// that is there then.
	place(ctx context.Context, t *workTask, r *download.Request, changed bool) (placedFile, error)
	// clear removes what the tries of a job have left. The job is over, and now is its record.
	clear(ctx context.Context, t *workTask, now *fleet.Record)
	// lost is called when a job is another worker's.
	lost(t *workTask)
	close()
}

func (w *workCommand) openPlace() (workplace, error) {
	if !objectstore.IsURL(w.To) {
		return openWorkFolder(w.To)
	}
	store, err := objectstore.Open(w.To, objectOptions(time.Duration(w.Timeout), func(text string) { w.log.Warn(text) }))
	if err != nil {
		return nil, err
	}
	return &workStore{store: store, log: w.log.Warn}, nil
}

// A placedFile is one in its place.
type placedFile struct {
	path    string
	size    int64
	modTime time.Time
}

// is reports whether a file, which may be nil, is the one of an ending.
func (f *placedFile) is(e *fleet.Ending) bool {
	return f != nil && f.size == e.Size && f.modTime.Equal(e.ModTime)
}

var errStages = errors.New(stages + " is the folder of unfinished files")

// checkJobName says why no worker takes a job of a name, wherever it puts files.
func checkJobName(name string) error {
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

// A workStore is an object store that workers put files in. The record of a job has the id of its upload. Another
// worker that takes the job over ends that upload, so a worker that is late has nothing to complete.
type workStore struct {
	store *objectstore.Store // without a lease
	log   func(text string, args ...any)
}

// prepare implements workplace.
func (p *workStore) prepare(t *workTask, r *download.Request) (*placedFile, error) {
	record := &t.claim.Record
	store := p.store.Leased(objectstore.Lease{Job: record.Job.ID(), Opened: t.opened, Confirm: t.claim.Confirm})
	r.Store, r.Name, r.MakeDir = store, record.Job.Name, false
	if record.Upload != "" || record.Tries > 1 {
		made, err := store.TakeOver(t.claim.Context, r.Name, record.Upload)
		if err != nil {
			return nil, err
		}
		r.Overwrite = r.Overwrite || made && record.Tries > 1
	}
	if t.claim.Record.Good == nil {
		return nil, nil
	}
	there, err := p.find(t.claim.Context, t)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return &there, err
}

func (p *workStore) find(ctx context.Context, t *workTask) (placedFile, error) {
	name := t.claim.Record.Job.Name
	info, err := p.store.Existing(ctx, name)
	if err != nil {
		return placedFile{}, err
	}
	return placedFile{p.store.Path(name), info.Size, info.ModTime}, nil
}

// place implements workplace: the object was made with the proof, under the lease.
func (p *workStore) place(ctx context.Context, t *workTask, _ *download.Request, _ bool) (placedFile, error) {
	return p.find(ctx, t)
}

// clear implements workplace.
func (p *workStore) clear(ctx context.Context, t *workTask, now *fleet.Record) {
	p.abort(ctx, t, now.Upload)
}

// lost implements workplace. The other worker has ended the upload; a part that was on its way then may have brought it back.
func (p *workStore) lost(t *workTask) {
	ctx, stop := context.WithTimeout(context.Background(), endTime)
	defer stop()
	p.abort(ctx, t, t.upload)
}

// abort ends an upload, unless another worker of this machine goes on with it.
func (p *workStore) abort(ctx context.Context, t *workTask, upload string) {
	if upload == "" {
		return
	}
	if err := p.store.Abort(ctx, t.claim.Record.Job.Name, upload); err != nil {
		p.log("an upload is left; braid parts removes it", "object", p.store.Path(t.claim.Record.Job.Name), "error", err)
	}
}

func (*workStore) close() {}

// opened stores the upload of a task with its job.
func (t *workTask) opened(ctx context.Context, upload string) error {
	t.upload = upload
	return t.claim.Opened(ctx, upload)
}
