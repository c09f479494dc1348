package watch

import (
	"context"
	"errors"

	"braid/download"
)

// errSpent ends a download when its feed may cost nothing more today. What is here already is kept for another day.
var errSpent = errors.New("the feed has brought as many bytes as it may in a day")

// get downloads, and spends what comes from the allowance of the feed while it comes.
func (t *task) get(ctx context.Context, r download.Request) (download.Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var spent int64
	allowance := t.update.Allowance
	spend := func(n int64) {
		if spent += n; allowance != nil && allowance.Add(-n) < 0 {
			cancel(errSpent)
		}
	}
	if allowance != nil {
		observe := r.Observe
		r.Detail = true
		r.Observe = func(ev download.Event) {
			if b, ok := ev.(download.Brought); ok {
				for _, p := range b.Pieces {
					spend(p.Range.Len())
				}
			}
			observe(ev)
		}
	}
	client := t.client()
	left := t.left()
	res, err := client.Get(ctx, r)
	spend(max(0, res.Fetched-spent)) // what no event told
	if err != nil && context.Cause(ctx) == errSpent {
		return res, errSpent
	}
	if e, ok := errors.AsType[*download.Error](err); ok && e.Kind == download.Limit && left > 0 && client.MaxSize == left {
		e.Hint = "the feed may not bring more today (bytes-a-day)" // and it is not the size of files that is limited
	}
	return res, err
}

// left returns how many bytes the feed may still bring today; 0 if that is not limited.
func (t *task) left() int64 {
	if t.update.Allowance == nil {
		return 0
	}
	return max(t.update.Allowance.Load(), 0)
}
