// Package fsystest has file systems for tests, which do what real ones do on their worst day.
//
// A [Disk] is in memory. It logs each change, and can be had as it would be found after a loss of power at any moment:
// with everything gone that no sync put on disk, with all of it there, or torn, sector by sector and name by name. It
// assumes nothing that POSIX does not promise: the entries of a folder are on disk when that folder was synced, and not
// before, whatever was synced of the files.
//
// [Tap] stands before any file system and is asked about each operation before it is done, which may fail in its place.
//
// The package refuses to have opinions: what must be true of what is found is for the tests to say.
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

// A Disk is a file system in memory. It may be used by several goroutines.
type Disk struct {
	mu   sync.Mutex
	root *inode
	last uint64 // inode number
	base map[uint64]*inode
	log  []change
}

// An inode is a file or a folder.
type inode struct {
	id      uint64
	dir     bool
	born    fs.FileMode // permissions when it was made
	mode    fs.FileMode // and now
	data    content
	room    int64 // reserved
	time    time.Time
	entries map[string]*inode
	names   int
	holder  *file // who has locked it
	writes  map[*file]int
}

// NewDisk makes an empty one.
func NewDisk() *Disk {
	d := &Disk{base: map[uint64]*inode{}}
	d.root = d.make(true, 0o777)
	d.root.names = 1
	d.Settle()
	return d
}

// make makes an inode without a name.
func (d *Disk) make(dir bool, mode fs.FileMode) *inode {
	d.last++
	n := &inode{id: d.last, dir: dir, born: mode.Perm(), mode: mode.Perm(), time: time.Now()}
	if dir {
		n.entries = map[string]*inode{}
	}
	return n
}

// Settle puts everything on disk, and begins the log anew.
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

// copied is n as it is on disk; the entries of a folder are still those of n.
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

// wrote counts writes, for guards.
func (n *inode) wrote(f *file) {
	if n.writes == nil {
		n.writes = map[*file]int{}
	}
	n.writes[f]++
}

// foreign is how many there were by others than f.
func (n *inode) foreign(f *file) (count int) {
	for by, c := range n.writes {
		if by != f {
			count += c
		}
	}
	return count
}

// A guard is that of a file.
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

// find finds what is at a path. The caller holds mu.
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

// OpenDir is that of fsys.FS. Paths begin at the root of the disk, with a slash or without.
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

// Open is that of fsys.FS.
func (d *Disk) Open(name string) (fsys.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find("open", name)
	if err != nil {
		return nil, err
	}
	return &file{handle: handle{disk: d, n: n, path: name}, readOnly: true}, nil
}

// Stat is that of fsys.FS.
func (d *Disk) Stat(name string) (fsys.Info, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find("stat", name)
	if err != nil {
		return fsys.Info{}, err
	}
	return n.info(), nil
}

// OpenTemp is that of fsys.FS.
func (d *Disk) OpenTemp(name string) (fsys.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &file{handle: handle{disk: d, n: d.make(false, 0o600), path: path.Join(name, "(temporary file)")}}, nil
}

// A handle is something that is open.
type handle struct {
	disk *Disk
	n    *inode
	path string
	shut bool
}

// enter takes the lock of the disk, if the handle is open. Who calls it has to unlock.
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
