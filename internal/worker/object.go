package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"

	"braid/antenna/release"
	"braid/download"
	"braid/fleet"
	"braid/internal/plug/jetstream"
	"braid/internal/plug/objectstore"
	"braid/internal/problem"
)

// A Store is an object store where workers place files. The record of a job has the ID of its upload. A worker that
// takes over the job aborts that upload, so that the previous worker cannot complete it.
type Store struct {
	store *objectstore.Store // has no lease itself; see leased
	log   *slog.Logger
}

// NewStore returns a Store for store, which must have no lease.
func NewStore(store *objectstore.Store, log *slog.Logger) *Store { return &Store{store, log} }

// prepare implements Place.
func (p *Store) prepare(t *task, r *download.Request) (*placed, error) {
	record := &t.claim.Record
	if err := checkLatest(&record.Job); err != nil {
		return nil, err
	}
	store := p.leased(t)
	r.Store, r.Name, r.MakeDir = store, record.Job.Name, false
	if record.Upload != "" || record.Tries > 1 {
		made, err := store.TakeOver(t.claim.Context, r.Name, record.Upload)
		if err != nil {
			return nil, err
		}
		r.IfExists.Overwrite = r.IfExists.Overwrite || made && record.Tries > 1
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

// checkLatest returns an error if j has the name of the object that stands for its link. This can happen because the
// name of a release file is partly from a feed.
func checkLatest(j *fleet.Job) error {
	if f := j.Follows; f != nil && f.Link != "" && j.Name == f.Link+latestEnding {
		return problem.Misuse("job "+j.Name, "the object for its link has the same name", "give link = another name")
	}
	return nil
}

// leased returns the store with the lease of a task.
func (p *Store) leased(t *task) *objectstore.Store {
	return p.store.Leased(objectstore.Lease{Job: attempts(&t.claim.Record), Opened: t.opened, Confirm: t.claim.Confirm})
}

// attempts identifies the attempts of a job in the metadata of objects. The object of a dropped job is not of a later
// job with the same ID.
func attempts(r *fleet.Record) string { return fmt.Sprintf("%s-%d", r.Job.ID(), r.First) }

func (p *Store) find(ctx context.Context, t *task) (placed, error) {
	name := t.claim.Record.Job.Name
	info, err := p.store.Existing(ctx, name)
	if err != nil {
		return placed{}, err
	}
	return placed{p.store.Path(name), info.Size, info.ModTime}, nil
}

// place implements Place. The download itself has created the object, after the proof and under the lease. If the
// release has a link, a small object that contains the newest version stands for the link.
func (p *Store) place(ctx context.Context, t *task, _ *download.Request, _ bool) (placed, error) {
	f := t.claim.Record.Job.Follows
	if f != nil && f.Link != "" {
		isOlder := func(than string) bool { return release.Compare(f.Version, than) < 0 }
		if err := p.leased(t).RaiseLatest(ctx, f.Link+latestEnding, f.Version, isOlder); err != nil {
			return placed{}, err
		}
	}
	in, err := p.find(ctx, t)
	if err == nil && f != nil && !keepsAll(f) {
		if untidy := prune(ctx, p.leased(t), &t.claim.Record.Job, in); untidy != nil {
			t.log.Error("old versions", "error", untidy)
		}
	}
	return in, err
}

// prune adds the object of j to the list of its releases, which is itself an object. It removes the objects of versions
// that need not be kept, unless they have changed since they were created.
func prune(ctx context.Context, store *objectstore.Store, j *fleet.Job, in placed) error {
	if !identity().MatchString(j.Follows.Of) {
		return problem.Misuse("job", fmt.Sprintf("%.40q identifies no releases", j.Follows.Of), "")
	}
	var surplus, gone []listed
	amend := func(change func([]listed) []listed) error {
		return store.Amend(ctx, lists+"/"+j.Follows.Of+".json", maxList, func(data []byte) ([]byte, error) {
			var list []listed
			if data != nil {
				if err := json.Unmarshal(data, &list); err != nil {
					return nil, err
				}
			}
			return json.Marshal(change(list))
		})
	}
	failed := amend(func(list []listed) []listed {
		list = withFile(list, j, in)
		surplus = list[:max(0, len(list)-*j.Follows.Keep-1)]
		return list
	})
	if failed != nil {
		return failed
	}
	for _, x := range surplus {
		if x.Name == j.Name {
			continue
		}
		err := store.Remove(ctx, x.Name, func(e *download.Existing) bool {
			return e.Size == x.Size && e.ModTime.Equal(x.ModTime)
		})
		if failed = errors.Join(failed, err); err == nil {
			gone = append(gone, x)
		}
	}
	if len(gone) == 0 {
		return failed
	}
	return errors.Join(failed, amend(func(list []listed) []listed {
		return slices.DeleteFunc(list, func(x listed) bool { return slices.Contains(gone, x) })
	}))
}

// latestEnding ends the name of the object that stands for a link.
const latestEnding = ".latest"

// clear implements Place.
func (p *Store) clear(ctx context.Context, t *task, now *fleet.Record) {
	p.abort(ctx, t, now.Upload)
}

// lost implements Place. The other worker has aborted the upload, but a part on its way to the store may have restored it.
func (p *Store) lost(t *task, _ bool) {
	ctx, stop := context.WithTimeout(context.Background(), endTime)
	defer stop()
	p.abort(ctx, t, t.upload)
}

// abort aborts an upload of the job of t, unless another worker on this machine uses it.
func (p *Store) abort(ctx context.Context, t *task, upload string) {
	if upload == "" {
		return
	}
	if err := p.store.Abort(ctx, t.claim.Record.Job.Name, upload); err != nil {
		p.log.Warn("an upload remains; braid parts removes it", "object", p.store.Path(t.claim.Record.Job.Name), "error", err)
	}
}

// sweep implements Place. It does nothing: after a week, the store aborts uploads that this machine began.
func (*Store) sweep(context.Context, *jetstream.Queue) error { return nil }

// ID implements Place.
func (p *Store) ID() (string, error) { return p.store.Path(""), nil }

// Endpoint implements Place.
func (p *Store) Endpoint() string { return p.store.Endpoint() }

// Close implements Place.
func (*Store) Close() {}

// opened stores the ID of an upload in the record of the job.
func (t *task) opened(ctx context.Context, upload string) error {
	t.upload = upload
	return t.claim.Opened(ctx, upload)
}
