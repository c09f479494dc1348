package download

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"braid/internal/partfile"
)

// A disk performs the slow disk operations of a session, so that the session's loop does not wait for them.
type disk struct {
	part    *partfile.File
	fail    func(error) // receives errors of chores and updates
	workers *sync.WaitGroup
	busy    atomic.Bool // the journal is being updated
	due     bool        // the next update of the journal must be synced
	begun   bool        // record was called
	last    *chore
}

// A chore is one disk operation. Chores are done one after another.
type chore struct {
	done chan struct{}
	err  error // the first error of this chore and all earlier chores
}

// do runs f after all earlier chores, even if one of them failed: void ranges must become void on disk in any case.
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

// wait waits until c and all earlier chores are done. A nil chore is done. A fetch calls wait before its request and
// before its first write, so that wrong bytes in its range are void on disk, and the disk has space for the file.
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

// record updates the journal, unless an update is in progress. If durable is set, it syncs the part file and the
// journal, now or with the next update. The first call only stores durable for the second call: a small file is
// complete before the second call, and recording its progress would cost as much as the file.
func (d *disk) record(durable bool) {
	first := !d.begun
	d.begun, d.due = true, d.due || durable
	if first || !d.busy.CompareAndSwap(false, true) {
		return
	}
	what := d.part.Flush
	if d.due {
		what, d.due = d.part.Sync, false
	}
	d.workers.Go(func() {
		defer d.busy.Store(false)
		if err := what(); err != nil { // if the session has ended, Commit returns the error
			d.fail(local(err))
		}
	})
}

// allocate allocates disk space for size bytes in the way that how selects.
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

// An Allocation selects when disk space is allocated for a file.
type Allocation uint8

const (
	// AllocateNone allocates nothing. The file grows as bytes arrive, and may have holes until it is complete.
	AllocateNone Allocation = iota
	// AllocateTry allocates the space once the size is known, if the file system can do that without writing.
	AllocateTry
	// AllocateMust is like AllocateTry, but it is an error if the file system cannot do that.
	AllocateMust
)

var errNoAllocation = errors.New("the file system cannot preallocate a file")
