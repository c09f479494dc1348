package watch

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"braid/antenna"
	"braid/antenna/release"
	"braid/internal/fsys"
	"braid/internal/partfile"
)

// A begun is a version whose download has begun, and whose file has a name of its own. The part file of the download is
// useless once a newer version is in place, or the version was given up, renounced, withdrawn or excluded.
type begun struct {
	Name    string `json:"name"` // with slashes, in Dir
	Version string `json:"version"`
	Tag     string `json:"tag"`
	// Dir is the folder of the watch when the download began, and Sum the partfile.SumURL of the file's URL. Older
	// versions of braid recorded neither.
	Dir string `json:"dir,omitempty"`
	Sum string `json:"sum,omitempty"`
}

// isIn reports whether the download went to the folder dir, or may have gone there because b.Dir is unknown. It reports
// false if dir is empty: the watch has an object store.
func (b *begun) isIn(dir string) bool {
	at, err := filepath.Abs(dir)
	return dir != "" && (b.Dir == "" || err == nil && b.Dir == at)
}

// remove removes the part file of a download. The error is fs.ErrNotExist if there is none. If r has another folder by
// now, the journal must have the URL of the download and the seal of this watcher, because the part file may be that of
// another download, or one that the user has continued.
func (m *Memory) remove(files fsys.FS, b *begun, r *Rule) error {
	dir := r.Dir
	if !b.isIn(dir) {
		dir = b.Dir
		l, ok, err := partfile.Look(files, dir, b.Name)
		if err != nil {
			return err
		}
		if !ok || b.Sum != cmp.Or(l.Identity.Document.URLSum, l.Identity.URLSum) || !l.SealedBy(m.key) {
			return fs.ErrNotExist
		}
	}
	_, err := partfile.Remove(files, dir, b.Name)
	return err
}

// begin records that a download begins.
func (m *Memory) begin(watch string, b begun) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.Contains(m.Begun[watch], b) {
		return nil
	}
	if m.Begun == nil {
		m.Begun = map[string][]begun{}
	}
	m.Begun[watch] = append(m.Begun[watch], b)
	return m.save()
}

// hasBegun reports whether a download to name in the folder dir has begun and is not over.
func (m *Memory) hasBegun(watch, dir, name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.Begun[watch], func(b begun) bool { return b.Name == name && b.isIn(dir) })
}

// end forgets the downloads of a watch that are over, and removes their part files. A part file that another process
// has open stays.
func (m *Memory) end(files fsys.FS, r *Rule, over func(begun) bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var failed error
	list := slices.DeleteFunc(slices.Clone(m.Begun[r.Name]), func(b begun) bool {
		if !over(b) {
			return false
		}
		err := m.remove(files, &b, r)
		if errors.Is(err, fs.ErrNotExist) {
			return true
		}
		failed = errors.Join(failed, err)
		return err == nil
	})
	if len(list) == len(m.Begun[r.Name]) {
		return failed
	}
	if m.Begun[r.Name] = list; len(list) == 0 {
		delete(m.Begun, r.Name)
	}
	return errors.Join(failed, m.save())
}

// beginOf records that the download of t begins, if each version has a file name of its own.
func beginOf(t *task) error {
	if !t.rule.File.PerVersion() || t.rule.Request.Store != nil {
		return nil
	}
	dir, err := filepath.Abs(t.rule.Dir)
	if err != nil {
		return err
	}
	r := t.update.Release
	return t.memory.begin(t.update.Watch,
		begun{Name: t.name, Version: r.Version, Tag: r.Tag, Dir: dir, Sum: partfile.SumURL(t.url)})
}

// clearUpTo removes the part files of versions that are not newer than the version of t, which is in place.
func clearUpTo(t *task) error {
	if t.update.Release == nil {
		return nil
	}
	return t.memory.end(t.files, t.rule, func(b begun) bool {
		return release.Compare(b.Version, t.update.Release.Version) <= 0
	})
}

// abandon removes the part file of the version of t.
func abandon(t *task) error {
	return t.memory.end(t.files, t.rule, func(b begun) bool { return b.Name == t.name })
}

// withdraw removes the part file of a withdrawn version. It does not wait for the disk, because the antenna's loop calls it.
func (s *setup) withdraw(ev *antenna.Withdrawn, log *ServiceLog) {
	s.tidying.Go(func() {
		if err := s.memory.withdraw(fsys.OS, s.updater.Rules[ev.Watch], ev.Release); err != nil {
			log.Error("the incomplete file of a withdrawn version cannot be removed", "watch", ev.Watch, "error", err)
		}
	})
}

// withdraw removes the part file of a version that is no longer reported or wanted, unless another version has a file of the
// same name.
func (m *Memory) withdraw(files fsys.FS, r *Rule, of release.Release) error {
	err := m.end(files, r, func(b begun) bool {
		shared := slices.ContainsFunc(m.Begun[r.Name], func(o begun) bool {
			return o.Name == b.Name && (o.Version != b.Version || o.Tag != b.Tag)
		})
		return b.Version == of.Version && b.Tag == of.Tag && !shared
	})
	return unlessInUse(err)
}

// unlessInUse returns err, or nil if err says that a part file is in use.
func unlessInUse(err error) error {
	if _, used := errors.AsType[*partfile.InUseError](err); used {
		return nil
	}
	return err
}

// forgetVersion makes a watch never fetch a version, and removes the part file of that version.
func (s *setup) forgetVersion(ctx context.Context, name, version string) error {
	if err := s.antenna.ForgetRelease(ctx, name, version); err != nil {
		return err
	}
	return unlessInUse(s.memory.end(fsys.OS, s.updater.Rules[name], func(b begun) bool {
		return b.Version == version || b.Tag == version
	}))
}
