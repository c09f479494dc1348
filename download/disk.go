package download

import (
	"context"
	"sync"
	"sync/atomic"

	"braid/internal/partfile"
)

// A disk does for the session's loop what may take long on a disk, which the loop does not wait for.
type disk struct {
	part    *partfile.File
	fail    func(error) // is told of errors
	workers *sync.WaitGroup
	busy    atomic.Bool // the journal is brought up to date
	due     bool        // it is to be put on disk
	last    *chore
}

// A chore is done when those before it are.
type chore struct {
	done chan struct{}
	err  error // the first one, also of those before
}

// do lets f be done after all that was to be done before. What is void is void on disk in the end, also where something else failed.
func (d *disk) do(f func() error) {
	before, c := d.last, &chore{done: make(chan struct{})}
	d.last = c
	d.workers.Go(func() {
		defer close(c.done)
		c.err = before.wait(context.Background())
		if err := f(); err != nil && c.err == nil {
			c.err = local(err)
			d.fail(c.err)
		}
	})
}

// wait waits until c is done, and all before it; nil is. A range is asked for, and written to, only after what was wrong there is void on
// disk, and nothing before there is room for it.
func (c *chore) wait(ctx context.Context) error {
	if c == nil {
		return nil
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// record brings the journal up to date, unless that is being done. If durable says so, it puts it on disk with what it speaks of, now or
// as soon as it can.
func (d *disk) record(durable bool) {
	d.due = d.due || durable
	if !d.busy.CompareAndSwap(false, true) {
		return
	}
	what := d.part.Flush
	if d.due {
		what, d.due = d.part.Sync, false
	}
	d.workers.Go(func() {
		defer d.busy.Store(false)
		if err := what(); err != nil { // if nobody listens any more, Commit will say it
			d.fail(local(err))
		}
	})
}

// makeRoom checks that a file of a known size fits (rules 7 and 19), if it stays on this disk.
func makeRoom(part *partfile.File, size int64, stays bool) error {
	if !stays || size < 0 {
		return nil
	}
	return part.CheckSpace(size)
}

// allocate takes the room for a file, once its size is known (rule 19).
func allocate(part *partfile.File, size int64, how Allocation) error {
	if how == AllocateNone || size <= 0 {
		return nil
	}
	if err := part.Preallocate(size); err != nil || how == AllocateTry {
		return err
	}
	if ok, err := part.Allocated(size); err != nil || ok {
		return err
	}
	return errNoAllocation
}
