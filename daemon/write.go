package daemon

import (
	"errors"
	"fmt"
	"path/filepath"

	"braid/daemon/queue"
	"braid/internal/fsys"
	"braid/internal/partfile"
)

// A waiter is a call that is waiting for its changes to be written.
type waiter struct {
	done chan<- error
	err  error // result of the function that was called
}

// A commit is one write of pending changes and its result.
type commit struct {
	batch   batch
	waiters []waiter
	settled []queue.GID // entries with journals that were removed
	err     error
}

// write starts to write pending changes, but not before writeAfter, unless a call waits for them or final is true.
func (l *loop) write(final bool) {
	switch {
	case l.writing || l.pending.empty() && len(l.due) == 0:
	case len(l.waiters) > 0 || final:
		l.writeNow()
	case !l.timed:
		l.timed = true
		l.timer.Reset(writeAfter)
	}
}

// writeNow writes all pending changes in one transaction. Another goroutine does this.
func (l *loop) writeNow() {
	if l.writing {
		return
	}
	c, due := commit{batch: l.pending, waiters: l.waiters}, l.due
	l.pending, l.waiters, l.due, l.writing = batch{}, nil, map[queue.GID]string{}, true
	go func() {
		if !c.batch.empty() {
			c.err = l.store.write(c.batch)
		}
		for g, path := range due {
			if c.err == nil && l.clear(path) {
				c.settled = append(c.settled, g)
			}
		}
		l.written <- c
	}()
}

// enter adds c to the pending changes.
func (l *loop) enter(c *queue.Changes) {
	for _, e := range c.Store {
		if e.Status == queue.Waiting && e.Outcome.Attempts == 0 {
			if l.new == nil {
				l.new = map[queue.GID]bool{}
			}
			l.new[e.GID] = true
		}
	}
	l.pending.add(c)
}

// unwritten reports whether the entry g is missing on disk. If it is, unwritten starts to write it. A download must not
// begin before its entry is stored: if the process were killed, nothing would refer to the partial file.
func (l *loop) unwritten(g queue.GID) bool {
	if !l.new[g] {
		return false
	}
	if l.failed == nil && !l.pending.empty() {
		l.writeNow()
	}
	return true
}

// clear removes the journal of the complete file at path, and reports whether it succeeded. The store must already
// record that the entry is complete.
func (d *Daemon) clear(path string) bool {
	err := partfile.Clear(fsys.OS, filepath.Dir(path), filepath.Base(path))
	if err != nil {
		d.log.Warn("the journal of a complete file was not removed", "file", path, "error", err)
	}
	return err == nil
}

// commit handles the end of the write c. If the write failed, its changes are written again later, together with newer ones.
func (l *loop) commit(c commit) {
	l.writing, l.failed = false, c.err
	for _, g := range c.settled {
		l.q.Settled(g)
	}
	for _, w := range c.waiters {
		if c.err != nil {
			w.err = errors.Join(w.err, fmt.Errorf("the queue could not be written: %w", c.err))
		}
		w.done <- w.err
	}
	if c.err == nil {
		for g := range c.batch.entries {
			delete(l.new, g)
			// A stopped entry is reported here. An entry to be downloaded again was reported when its download ended.
			if e, there := l.q.Entry(g); !there || e.Status >= queue.Complete {
				l.tellStopped(g)
			}
		}
		return
	}
	l.log.Error("the queue could not be written; retrying", "error", c.err)
	l.pending.before(c.batch)
	l.timed = true
	l.timer.Reset(writeAgain)
}

// tellStopped calls Config.Stopped for the entry g of a watch, unless its download is running or its state is not stored.
func (l *loop) tellStopped(g queue.GID) {
	e, there := l.q.Entry(g)
	// It is called again when the download has ended, and when the store has the state of a stopped entry.
	if _, again := l.pending.entries[g]; l.runs[g] != nil || again && e.Status >= queue.Complete {
		return
	}
	r := l.results[g]
	if !there && r.entry.GID == g {
		e = r.entry // the entry has been forgotten
	} else if !there {
		e = queue.Entry{GID: g, Status: queue.Removed}
	}
	if l.config.Stopped != nil && (e.Watch != "" || !there) {
		l.config.Stopped(e, r.res, r.err)
	}
	delete(l.results, g)
}
