package fsystest

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"syscall"
	"time"

	"braid/internal/fsys"
)

// dir is an open folder of a Disk.
type dir struct{ handle }

// bind applies bindings and logs them. The caller holds mu.
func (d *dir) bind(bindings ...binding) {
	for _, b := range bindings {
		if old := d.n.entries[b.name]; old != nil {
			old.names--
			delete(d.n.entries, b.name)
		}
		if b.n != nil {
			b.n.names++
			d.n.entries[b.name] = b.n
		}
	}
	d.disk.note(change{kind: entries, n: d.n, bindings: bindings})
}

// entry returns an entry. The caller holds mu.
func (d *dir) entry(op, name string) (*inode, error) {
	n := d.n.entries[name]
	if n == nil {
		return nil, d.fail(op, name, syscall.ENOENT)
	}
	return n, nil
}

func (d *dir) OpenDir(name string) (fsys.Dir, error) {
	if err := d.enter("open"); err != nil {
		return nil, err
	}
	defer d.disk.mu.Unlock()
	n, err := d.entry("open", name)
	if err == nil && !n.dir {
		err = d.fail("open", name, syscall.ENOTDIR)
	}
	if err != nil {
		return nil, err
	}
	return &dir{handle{disk: d.disk, n: n, path: path.Join(d.path, name)}}, nil
}

// add creates an entry.
func (d *dir) add(op, name string, folder bool, perm fs.FileMode) (*inode, error) {
	if err := d.enter(op); err != nil {
		return nil, err
	}
	defer d.disk.mu.Unlock()
	if d.n.entries[name] != nil {
		return nil, d.fail(op, name, syscall.EEXIST)
	}
	n := d.disk.make(folder, perm)
	d.bind(binding{name, n})
	return n, nil
}

func (d *dir) Create(name string, perm fs.FileMode) (fsys.File, error) {
	n, err := d.add("open", name, false, perm)
	if err != nil {
		return nil, err
	}
	return &file{handle: handle{disk: d.disk, n: n, path: path.Join(d.path, name)}}, nil
}

func (d *dir) Mkdir(name string, perm fs.FileMode) error {
	_, err := d.add("make folder", name, true, perm)
	return err
}

func (d *dir) Open(name string) (fsys.File, error) {
	if err := d.enter("open"); err != nil {
		return nil, err
	}
	defer d.disk.mu.Unlock()
	n, err := d.entry("open", name)
	if err == nil && n.dir {
		err = d.fail("open", name, syscall.EISDIR)
	}
	if err != nil {
		return nil, err
	}
	return &file{handle: handle{disk: d.disk, n: n, path: path.Join(d.path, name)}}, nil
}

func (d *dir) Stat(name string) (fsys.Info, error) {
	if err := d.enter("stat"); err != nil {
		return fsys.Info{}, err
	}
	defer d.disk.mu.Unlock()
	if name == "." {
		return d.n.info(), nil
	}
	n, err := d.entry("stat", name)
	if err != nil {
		return fsys.Info{}, err
	}
	return n.info(), nil
}

func (d *dir) SetTime(name string, t time.Time) error {
	if err := d.enter("set the time of"); err != nil {
		return err
	}
	defer d.disk.mu.Unlock()
	n, err := d.entry("set the time of", name)
	if err != nil {
		return err
	}
	n.time = t
	d.disk.note(change{kind: meta, n: n, mode: n.mode, time: t})
	return nil
}

func (d *dir) Remove(name string) error {
	if err := d.enter("remove"); err != nil {
		return err
	}
	defer d.disk.mu.Unlock()
	n, err := d.entry("remove", name)
	if err == nil && n.dir {
		err = d.fail("remove", name, syscall.EISDIR)
	}
	if err == nil {
		d.bind(binding{name, nil})
	}
	return err
}

func (d *dir) Rename(from, to string) error    { return d.rename(from, to, true) }
func (d *dir) RenameNew(from, to string) error { return d.rename(from, to, false) }

func (d *dir) rename(from, to string, replace bool) error {
	if err := d.enter("rename to"); err != nil {
		return err
	}
	defer d.disk.mu.Unlock()
	n, old := d.n.entries[from], d.n.entries[to]
	switch {
	case n == nil:
		return d.fail("rename to", to, syscall.ENOENT)
	case old != nil && !replace:
		return d.fail("rename to", to, syscall.EEXIST)
	case old != nil && old.dir:
		return d.fail("rename to", to, syscall.EISDIR)
	case old != n: // rename(2): if both names refer to the same file, both stay
		d.bind(binding{from, nil}, binding{to, n})
	}
	return nil
}

func (d *dir) Link(from string, other fsys.Dir, to string) error {
	o, ok := other.(*dir)
	if !ok || o.disk != d.disk {
		return d.fail("link to", to, syscall.EXDEV)
	}
	if err := d.enter("link to"); err != nil {
		return err
	}
	defer d.disk.mu.Unlock()
	n, err := d.entry("link to", from)
	switch {
	case err != nil:
		return err
	case o.shut:
		return o.fail("link to", to, fs.ErrClosed)
	case n.dir:
		return d.fail("link to", to, syscall.EPERM)
	case o.n.entries[to] != nil:
		return o.fail("link to", to, syscall.EEXIST)
	}
	o.bind(binding{to, n})
	return nil
}

func (d *dir) Names() ([]string, error) {
	if err := d.enter("read"); err != nil {
		return nil, err
	}
	defer d.disk.mu.Unlock()
	return slices.Sorted(maps.Keys(d.n.entries)), nil
}

func (d *dir) Where() string { return "" }

func (d *dir) Sync() error {
	if err := d.enter("sync"); err != nil {
		return err
	}
	defer d.disk.mu.Unlock()
	d.disk.note(change{kind: syncEntries, n: d.n})
	return nil
}

func (d *dir) Close() error {
	if err := d.enter("close"); err != nil {
		return err
	}
	defer d.disk.mu.Unlock()
	d.shut = true
	return nil
}
