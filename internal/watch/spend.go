package watch

import (
	"cmp"
	"context"
	"errors"

	"braid/antenna"
	"braid/download"
)

// errSpent ends a download when its feed may cost nothing more today. What is here already is kept for another day.
var errSpent = errors.New("the feed has brought as many bytes as it may in a day")

// A Getter downloads for an update. When its turn comes, it calls prepare, which makes the request; once more, if what
// was begun was broken off. It calls the function of prepare's with which an attempt is ended early, with an error that
// Get returns. ErrDeclined says that the user does not want this version: the update is done then.
type Getter func(ctx context.Context, u antenna.Update, prepare func(end func(error)) (download.Request, error)) (download.Result, error)

// ErrDeclined is a Getter's error for a version that the user does not want.
var ErrDeclined = errors.New("the user does not want this version")

// getNow has the client download at once.
func (w *Updater) getNow(ctx context.Context, _ antenna.Update, prepare func(end func(error)) (download.Request, error)) (download.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := prepare(cancel)
	if err != nil {
		return download.Result{}, err
	}
	return w.Client.Get(ctx, r)
}

// get downloads, and spends what comes from the allowance of the feed while it comes.
func (t *task) get(ctx context.Context) (download.Result, error) {
	res, err := t.Get(ctx, t.update, t.prepare)
	t.spend(max(0, res.Fetched-t.spent), nil) // what no event told
	if err != nil && t.out {
		return res, errSpent
	}
	if e, ok := errors.AsType[*download.Error](err); ok && e.Kind == download.Limit && t.ceiling > 0 {
		e.Hint = "the feed may not bring more today (bytes-a-day)" // and it is not the size of files that is limited
	}
	return res, err
}

// prepare looks at what is there, gives it its second name, and makes the request.
func (t *task) prepare(end func(error)) (r download.Request, err error) {
	if t.prepared { // since when much may have happened
		if err := t.place(context.Background()); err != nil { // for the daemon, whose files are on disk
			return r, err
		}
	}
	t.prepared, t.spent, t.ceiling = true, 0, 0
	linked, err := t.keepOld()
	if err != nil {
		return r, err
	}
	t.linked = cmp.Or(linked, t.linked)
	if r, err = t.request(); err != nil || t.update.Allowance == nil {
		return r, err
	}
	if left := t.left(); left > 0 && (r.MaxSize == 0 || left < r.MaxSize) {
		r.MaxSize, t.ceiling = left, left
	}
	observe := r.Observe
	r.Detail = true
	r.Observe = func(ev download.Event) {
		if b, ok := ev.(download.Brought); ok {
			for _, p := range b.Pieces {
				t.spend(p.Range.Len(), end)
			}
		}
		observe(ev)
	}
	return r, nil
}

// spend takes what came from the allowance of the feed, and ends the attempt when that is used up.
func (t *task) spend(n int64, end func(error)) {
	t.spent += n
	if t.update.Allowance != nil && t.update.Allowance.Add(-n) < 0 && end != nil {
		t.out = true
		end(errSpent)
	}
}

// left returns how many bytes the feed may still bring today; 0 if that is not limited.
func (t *task) left() int64 {
	if t.update.Allowance == nil {
		return 0
	}
	return max(t.update.Allowance.Load(), 0)
}
