package fsys

import (
	"io/fs"
	"path"
	"sync"
	"sync/atomic"
)

// Shared returns a file system like files, but all users of a folder share one open Dir. A folder is opened again only
// if its path now leads to another folder. A Sync that begins during another Sync of the folder waits for the next
// Sync, which serves all callers that wait. Shared is for many small files in few folders: each file needs the open
// folder for a moment, and a Sync of the folder takes longer than the download of the file.
func Shared(files FS) FS {
	return &sharing{FS: Or(files), open: map[folderKey]*sharedFolder{}}
}

type sharing struct {
	FS

	mu   sync.Mutex
	open map[folderKey]*sharedFolder
}

// A folderKey identifies an open folder. The key contains the path because messages show the path.
type folderKey struct {
	id   ID
	path string
}

// OpenDir implements FS.
func (s *sharing) OpenDir(name string) (Dir, error) {
	stat := func() (Info, error) { return s.FS.Stat(name) }
	return s.dir(name, stat, func() (Dir, error) { return s.FS.OpenDir(name) })
}

// dir returns the folder at a path. If the folder that stat finds there is open, dir does not open it.
func (s *sharing) dir(name string, stat func() (Info, error), open func() (Dir, error)) (Dir, error) {
	if info, err := stat(); err == nil {
		if d := s.use(folderKey{info.ID, name}); d != nil {
			return d, nil
		}
	}
	d, err := open()
	if err != nil {
		return nil, err
	}
	info, err := d.Stat(".") // the path may have changed since stat
	if err != nil || info.ID == (ID{}) {
		return d, nil
	}
	return s.add(folderKey{info.ID, name}, d), nil
}

// use returns the open folder of a key, or nil.
func (s *sharing) use(key folderKey) Dir {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.open[key]
	if f == nil {
		return nil
	}
	f.users++
	return &sharedDir{sharedFolder: f}
}

// add shares d. If a folder with the same key was opened meanwhile, add closes d and returns that folder.
func (s *sharing) add(key folderKey, d Dir) Dir {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.open[key]
	if f == nil {
		f = &sharedFolder{Dir: d, of: s, key: key, turn: make(chan struct{}, 1)}
		s.open[key] = f
	} else {
		d.Close()
	}
	f.users++
	return &sharedDir{sharedFolder: f}
}

// drop ends a use of f, and closes the folder after the last use.
func (s *sharing) drop(f *sharedFolder) error {
	s.mu.Lock()
	f.users--
	last := f.users == 0
	if last {
		delete(s.open, f.key)
	}
	s.mu.Unlock()
	if last {
		return f.Dir.Close()
	}
	return nil
}

// A sharedFolder is an open folder with its users.
type sharedFolder struct {
	Dir
	of    *sharing
	key   folderKey
	users int // of.mu guards it

	turn chan struct{} // has a value during a Sync
	mu   sync.Mutex
	next *sharedSync // the Sync that has not begun; nil if no caller waits
}

// A sharedSync is one Sync for all callers that wait for it.
type sharedSync struct {
	done chan struct{}
	err  error
}

// sync implements Dir.Sync.
func (f *sharedFolder) sync() error {
	f.mu.Lock()
	s, first := f.next, f.next == nil
	if first {
		s = &sharedSync{done: make(chan struct{})}
		f.next = s
	}
	f.mu.Unlock()
	if !first {
		<-s.done
		return s.err
	}
	f.turn <- struct{}{}
	f.mu.Lock()
	f.next = nil // later entries need another Sync
	f.mu.Unlock()
	s.err = f.Dir.Sync()
	<-f.turn
	close(s.done)
	return s.err
}

// A sharedDir is one use of a folder.
type sharedDir struct {
	*sharedFolder
	closed atomic.Bool
}

func (d *sharedDir) OpenDir(name string) (Dir, error) {
	stat := func() (Info, error) { return d.Dir.Stat(name) }
	return d.of.dir(path.Join(d.key.path, name), stat, func() (Dir, error) { return d.Dir.OpenDir(name) })
}

func (d *sharedDir) Link(from string, other Dir, to string) error {
	if o, ok := other.(*sharedDir); ok {
		other = o.Dir
	}
	return d.Dir.Link(from, other, to)
}

func (d *sharedDir) Sync() error { return d.sync() }

func (d *sharedDir) Close() error {
	if d.closed.Swap(true) {
		return &fs.PathError{Op: "close", Path: d.key.path, Err: fs.ErrClosed}
	}
	return d.of.drop(d.sharedFolder)
}

var _ Dir = (*sharedDir)(nil)
