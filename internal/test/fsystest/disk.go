// Package fsystest provides file systems for tests that fail in the ways in which real ones can fail.
//
// [Disk] is a file system in memory. It logs each change, and can reproduce its state after a loss of power at any
// moment: without all unsynced changes, with all of them, or torn, where each sector and each name may survive. It
// relies only on what POSIX guarantees: the entries of a folder are durable only after a sync of that folder, whatever
// was synced of its files.
//
// [Tap] wraps a file system. It calls a function before each operation, which may make the operation fail.
//
// The package checks nothing itself. The tests decide what must be true after a crash.
//
//	disk := fsystest.NewDisk()
//	... use disk as a fsys.FS ...
//	for n := range disk.Changes() + 1 {
//		after := disk.Crash(n, fsystest.Lost)
//		... recover on after ...
//	}
package fsystest

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"braid/internal/fsys"
)

// Disk is a file system in memory. It is safe for concurrent use.
type Disk struct {
	mu   sync.Mutex
	root *inode
	last uint64 // the last inode number
	base map[uint64]*inode
	log  []change
}

// inode is a file or a folder.
type inode struct {
	id      uint64
	dir     bool
	born    fs.FileMode // permissions at creation
	mode    fs.FileMode // permissions now
	data    content
	room    int64 // reserved bytes
	time    time.Time
	entries map[string]*inode
	names   int
	holder  *file // holder of the lock
	writes  map[*file]int
}

// NewDisk returns an empty Disk.
func NewDisk() *Disk {
	d := &Disk{base: map[uint64]*inode{}}
	d.root = d.make(true, 0o777)
	d.root.names = 1
	d.Settle()
	return d
}

// make returns a new inode without a name.
func (d *Disk) make(dir bool, mode fs.FileMode) *inode {
	d.last++
	n := &inode{id: d.last, dir: dir, born: mode.Perm(), mode: mode.Perm(), time: time.Now()}
	if dir {
		n.entries = map[string]*inode{}
	}
	return n
}

// Settle syncs everything and clears the log.
func (d *Disk) Settle() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.base = map[uint64]*inode{}
	d.log = nil
	d.root.walk(func(n *inode) { d.base[n.id] = n.copied() })
}

func (n *inode) walk(visit func(*inode)) {
	visit(n)
	for _, e := range n.entries {
		e.walk(visit)
	}
}

// copied returns a copy of n for the synced state. The entries of a folder still refer to the original inodes.
func (n *inode) copied() *inode {
	c := *n
	c.holder, c.writes, c.data, c.entries = nil, nil, n.data.clone(), maps.Clone(n.entries)
	return &c
}

func (n *inode) info() fsys.Info {
	info := fsys.Info{
		ID: fsys.ID{Dev: 1, Ino: n.id}, Mode: n.mode, Links: uint64(n.names), UID: os.Geteuid(),
		Size: n.data.size, Allocated: max(n.data.size, n.room), BlockSize: sector, ModTime: n.time, Changed: n.time,
	}
	if n.dir {
		info.Mode |= fs.ModeDir
	}
	return info
}

// wrote counts a write, for guards.
func (n *inode) wrote(f *file) {
	if n.writes == nil {
		n.writes = map[*file]int{}
	}
	n.writes[f]++
}

// foreign returns the number of writes through files other than f.
func (n *inode) foreign(f *file) (count int) {
	for by, c := range n.writes {
		if by != f {
			count += c
		}
	}
	return count
}

// guard implements fsys.Guard.
type guard struct {
	f    *file
	seen int
}

func (g *guard) Watch() error {
	if err := g.f.enter("watch"); err != nil {
		return err
	}
	defer g.f.disk.mu.Unlock()
	g.seen = g.f.n.foreign(g.f)
	return nil
}

func (g *guard) Written() (bool, error) {
	g.f.disk.mu.Lock()
	defer g.f.disk.mu.Unlock()
	return g.f.n.foreign(g.f) > g.seen, nil
}

func (g *guard) Open() bool { return false }

func (g *guard) Hole(int64) bool { return false }

func (g *guard) Forget() {
	g.f.disk.mu.Lock()
	defer g.f.disk.mu.Unlock()
	g.seen = g.f.n.foreign(g.f)
}

func (g *guard) Close() error { return nil }

// find returns the inode at a path. The caller holds mu.
func (d *Disk) find(op, name string) (*inode, error) {
	n := d.root
	for part := range strings.SplitSeq(path.Clean("/" + name)[1:], "/") {
		if part == "" {
			continue
		}
		if !n.dir {
			return nil, &fs.PathError{Op: op, Path: name, Err: syscall.ENOTDIR}
		}
		if n = n.entries[part]; n == nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: syscall.ENOENT}
		}
	}
	return n, nil
}

// OpenDir implements fsys.FS. Paths are relative to the root of the disk, with or without a leading slash.
func (d *Disk) OpenDir(name string) (fsys.Dir, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find("open", name)
	if err == nil && !n.dir {
		err = &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return nil, err
	}
	return &dir{handle{disk: d, n: n, path: name}}, nil
}

// Open implements fsys.FS.
func (d *Disk) Open(name string) (fsys.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find("open", name)
	if err != nil {
		return nil, err
	}
	return &file{handle: handle{disk: d, n: n, path: name}, readOnly: true}, nil
}

// Stat implements fsys.FS.
func (d *Disk) Stat(name string) (fsys.Info, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find("stat", name)
	if err != nil {
		return fsys.Info{}, err
	}
	return n.info(), nil
}

// OpenTemp implements fsys.FS.
func (d *Disk) OpenTemp(name string) (fsys.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &file{handle: handle{disk: d, n: d.make(false, 0o600), path: path.Join(name, "(temporary file)")}}, nil
}

// handle is an open file or folder.
type handle struct {
	disk *Disk
	n    *inode
	path string
	shut bool
}

// enter locks the disk, unless the handle is closed. If it returns nil, the caller must unlock the disk.
func (h *handle) enter(op string) error {
	h.disk.mu.Lock()
	if h.shut {
		h.disk.mu.Unlock()
		return &fs.PathError{Op: op, Path: h.path, Err: fs.ErrClosed}
	}
	return nil
}

func (h *handle) fail(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: path.Join(h.path, name), Err: err}
}
