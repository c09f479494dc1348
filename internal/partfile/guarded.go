package partfile

import (
	"errors"
	"sync"
	"sync/atomic"

	"braid/internal/fsys"
)

// TouchedError reports that another program changed the part file. The bytes must be checked again; see [File.Recheck].
type TouchedError struct {
	Path string
	What string // "was truncated by another program", ...
}

func (e *TouchedError) Error() string { return e.Path + ": " + e.What }

// A guarded is the open part file. It detects changes of the file by other programs. Before the watch begins, and on
// systems without a guard, it compares the size and times of the file with its state after braid's last write.
//
// Ending a watch takes the system longer than downloading a small file. So a new file, which no other program can have
// open yet, is watched only after watchedSize bytes or the first call of watch.
type guarded struct {
	fsys.File
	path     string      // for messages; empty for a temporary file, which nothing guards
	guard    fsys.Guard  // nil if the system has none
	accepted bool        // the whole file was read: ignore that it is open elsewhere or has holes
	early    atomic.Bool // not watched yet

	mu      sync.Mutex
	written int64     // bytes written while early; early writes are done one at a time
	last    fsys.Info // state after braid's last change
	touched error     // the change found while early, or the error of the comparison
}

const watchedSize = 1 << 20

// start begins to guard file. A file that is not new is watched immediately.
func (g *guarded) start(file fsys.File, isNew bool) error {
	g.File = file
	g.guard, _ = file.Guard()
	g.early.Store(true)
	if err := g.record(); err != nil || isNew {
		return err
	}
	return g.watch()
}

// watch starts the watch. On a system without a guard, the file is compared after each write from now on.
func (g *guarded) watch() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.endEarly()
}

// endEarly is watch for a caller that holds mu.
func (g *guarded) endEarly() error {
	if !g.early.Load() {
		return nil
	}
	if g.guard != nil && g.guard.Watch() != nil {
		g.guard = nil
	}
	g.early.Store(false)
	return g.compare()
}

// compare sets touched if the file was changed since braid's last write, or if its state cannot be read. The caller
// holds mu.
func (g *guarded) compare() error {
	info, err := g.Info()
	if g.touched == nil {
		if g.touched = err; err == nil {
			g.touched = g.differs(info)
		}
	}
	return err
}

// put writes p.
func (g *guarded) put(p []byte, off int64) (n int, err error) {
	switch {
	case g.path == "":
		return g.WriteAt(p, off)
	case g.early.Load():
		return g.putEarly(p, off)
	}
	n, err = g.WriteAt(p, off)
	if g.guard == nil {
		err = errors.Join(err, g.record())
	}
	return n, err
}

// putEarly writes p while the file is not watched.
func (g *guarded) putEarly(p []byte, off int64) (n int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.written += int64(len(p)); g.written > watchedSize {
		err = g.endEarly()
	} else if g.early.Load() {
		err = g.compare()
	}
	if err != nil {
		return 0, err
	}
	n, err = g.WriteAt(p, off)
	return n, errors.Join(err, g.keep())
}

// stop ends the watch and closes the file.
func (g *guarded) stop() error {
	if g.guard != nil {
		g.guard.Close()
		g.guard = nil
	}
	return g.Close()
}

// record records the present state of the file as the state after braid's last write.
func (g *guarded) record() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.keep()
}

// keep is record for a caller that holds mu.
func (g *guarded) keep() error {
	info, err := g.Info()
	if err == nil {
		g.last = info
	}
	return err
}

// recorded returns the state after braid's last write.
func (g *guarded) recorded() fsys.Info {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last
}

// accept forgets changes by other programs, because the caller will read the file. Later changes are detected.
func (g *guarded) accept() error {
	if g.guard != nil {
		g.guard.Forget()
	}
	err := g.watch()
	g.touched = nil
	g.accepted = true
	return errors.Join(err, g.record())
}

// untouched returns a *TouchedError if another program may have changed the first size bytes of the file. info is the
// present state of the file.
func (g *guarded) untouched(info fsys.Info, size int64) (err error) {
	touched := func(what string) error { return &TouchedError{g.path, what} }
	if info.Size < size {
		return touched("was truncated by another program")
	}
	g.mu.Lock()
	err = g.touched
	if err == nil && (g.early.Load() || g.guard == nil) {
		err = g.differs(info)
	}
	g.mu.Unlock()
	if err == nil && g.guard != nil {
		switch written, err := g.guard.Written(); {
		case err != nil:
			return err
		case written:
			return touched("was written to by another program")
		case !g.accepted && g.guard.Hole(size):
			return touched("was truncated by another program")
		case !g.accepted && g.guard.Open():
			return touched("is open in another program")
		}
	}
	return err
}

// unchanged returns a *TouchedError if another program changed the file since the last call of record. info is the
// present state of the file.
func (g *guarded) unchanged(info fsys.Info) error {
	g.mu.Lock()
	err := g.differs(info)
	g.mu.Unlock()
	if err == nil {
		err = g.untouched(info, info.Size)
	}
	return err
}

// differs returns a *TouchedError if info differs from the state after braid's last write. The caller holds mu.
func (g *guarded) differs(info fsys.Info) error {
	if info.Size != g.last.Size || !info.ModTime.Equal(g.last.ModTime) || !info.Changed.Equal(g.last.Changed) {
		return &TouchedError{g.path, "was changed by another program"}
	}
	return nil
}
