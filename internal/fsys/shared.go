package fsys

import (
	"io/fs"
	"path"
	"sync"
	"sync/atomic"
)

// Shared returns files with folders that all their users share. A folder that is open already is not opened again,
// unless its path leads to another folder by now. A Sync that begins while another one of the same folder runs waits
// for the next one, which serves all that wait. That is for many small files in few folders: each of them needs an
// open folder for a moment, and a Sync of its name, which takes longer than its download.
func Shared(files FS) FS {
	return &sharing{FS: Or(files), open: map[folderKey]*sharedFolder{}}
}

type sharing struct {
	FS

	mu   sync.Mutex
	open map[folderKey]*sharedFolder
}

// A folderKey identifies an open folder. The path is part of it because messages show the path.
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
	info, err := d.Stat(".") // the path may lead elsewhere by now
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

// add shares d. If a folder with its key was opened meanwhile, it closes d and returns that one.
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

// drop ends a use of f. The last one closes it.
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
	next *sharedSync // has not begun; nil if nobody waits for one
}

// A sharedSync is a Sync of all that waited for it.
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
	f.next = nil // entries that are made from now on need another one
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
