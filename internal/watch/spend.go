package watch

import (
	"cmp"
	"context"
	"errors"

	"braid/antenna"
	"braid/download"
	"braid/internal/partfile"
)

// errSpent ends a download when the feed's allowance for today is used up. The bytes received so far are kept for
// another day.
var errSpent = errors.New("the feed has used up its bytes for today")

// Getter downloads the file of an update. When the download can start, and again after an interruption, the Getter
// calls prepare, which returns the request. prepare may call end later, which ends the attempt with an error that the
// Getter returns. The error ErrDeclined means that the user does not want this version, so the update is done.
type Getter func(ctx context.Context, u antenna.Update,
	prepare func(end func(error)) (download.Request, error)) (download.Result, error)

// ErrDeclined is returned by a Getter for a version that the user does not want.
var ErrDeclined = errors.New("the user removed this version from the queue")

// getNow is the default Getter. It downloads immediately with w.Client.
func (w *Updater) getNow(ctx context.Context, _ antenna.Update,
	prepare func(end func(error)) (download.Request, error)) (download.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := prepare(cancel)
	if err != nil {
		return download.Result{}, err
	}
	return w.Client.Get(ctx, r)
}

// get downloads the file and subtracts the received bytes from the allowance of the feed as they arrive.
func (t *task) get(ctx context.Context) (download.Result, error) {
	get := t.getRelease
	if t.update.Release == nil {
		get = func(ctx context.Context) (download.Result, error) { return t.Get(ctx, t.update, t.prepare) }
	}
	res, err := get(ctx)
	t.spend(max(0, res.Fetched-t.spent), nil) // bytes that no event reported
	if err != nil && t.out {
		return res, errSpent
	}
	if e, ok := errors.AsType[*download.Error](err); ok && e.Kind == download.Limit && t.ceiling > 0 {
		e.Hint = "wait until tomorrow, or raise bytes-a-day" // the limit was the allowance, not the size limit of files
	}
	return res, err
}

// prepare makes the request for an attempt, after it has linked the existing file as keepOld describes.
func (t *task) prepare(end func(error)) (r download.Request, err error) {
	if t.prepared { // the existing file may have changed since the previous attempt
		if err := t.place(context.Background()); err != nil { // used by the daemon, whose files are on disk
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
	most := t.left()
	if most > 0 && r.Store == nil {
		if part, ok, err := partfile.Look(t.files, t.rule.Dir, t.name); ok && err == nil {
			most += part.Have.Len() // these bytes are here already
		}
	}
	if most > 0 && (r.Limits.MaxSize == 0 || most < r.Limits.MaxSize) {
		r.Limits.MaxSize, t.ceiling = most, most
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

// spend subtracts n bytes from the allowance of the feed, and ends the attempt when the allowance is used up.
func (t *task) spend(n int64, end func(error)) {
	t.spent += n
	if t.update.Allowance != nil && t.update.Allowance.Add(-n) < 0 && end != nil {
		t.out = true
		end(errSpent)
	}
}

// left returns the number of bytes that remain of the feed's allowance for today, or 0 without an allowance.
func (t *task) left() int64 {
	if t.update.Allowance == nil {
		return 0
	}
	return max(t.update.Allowance.Load(), 0)
}
