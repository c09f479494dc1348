package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"braid/antenna"
	"braid/internal/fsys"
)

const (
	// oldFolder is the folder of old versions, beside the file. File names do not begin with a dot, so no feed can name
	// a file in it.
	oldFolder = ".old"
	// oldTime is the format of the time in the name of an old version: its modification time on disk.
	oldTime = "2006-01-02T15-04-05Z"
)

// keepOld links the current version into the folder of old versions, so that the final name exists at all times. It
// returns the path of the link, or an empty path if the link existed before. The name of the link is derived from the
// version, so that a second call changes nothing.
func (t *task) keepOld() (linked string, err error) {
	if !t.keepsOld() || !t.there {
		return "", nil
	}
	d, base, err := fsys.OpenParent(t.files, t.path)
	if err != nil {
		return "", err
	}
	defer d.Close()
	if err := fsys.Mkdir(d, oldFolder, 0o777); err != nil {
		return "", fmt.Errorf("the old version cannot be kept: %w", err)
	}
	old, err := d.OpenDir(oldFolder)
	if err != nil {
		return "", err
	}
	defer old.Close()
	name, isNew, err := linkOld(d, base, old, base+"."+t.modTime.UTC().Format(oldTime))
	if err != nil {
		return "", fmt.Errorf("the old version cannot be kept: %w", err)
	}
	t.old = t.oldPath(name)
	if !isNew {
		return "", nil
	}
	return t.old, old.Sync()
}

// stayed reports whether the version at linked is still the current file. A download that failed late may have replaced
// it.
func (t *task) stayed(linked string) bool {
	here, errHere := fsys.Lstat(t.files, t.path)
	old, errOld := fsys.Lstat(t.files, linked)
	return errHere == nil && errOld == nil && here.ID == old.ID
}

// linkOld links base in d to the name plain in old. It appends a number to the name if another version has the name.
func linkOld(d fsys.Dir, base string, old fsys.Dir, plain string) (name string, isNew bool, err error) {
	for n := 1; ; n++ {
		if name = plain; n > 1 {
			name = fmt.Sprintf("%s-%d", plain, n)
		}
		err := d.Link(base, old, name)
		switch {
		case err == nil:
			return name, true, nil
		case !errors.Is(err, fs.ErrExist):
			return "", false, err
		case sameFile(d, base, old, name):
			return name, false, nil
		}
	}
}

// prune removes surplus old versions. It also removes links to the current version, which an interrupted update left.
func (t *task) prune() error {
	return t.visit(func(old fsys.Dir, versions, present []string) (err error) {
		for _, name := range append(present, versions[:max(len(versions)-*t.rule.Keep, 0)]...) {
			err = errors.Join(err, old.Remove(name))
		}
		return err
	})
}

// findOld sets t.old to the path of the newest old version, or to "" without old versions.
func (t *task) findOld() error {
	t.old = ""
	return t.visit(func(_ fsys.Dir, versions, _ []string) error {
		if n := len(versions); n > 0 {
			t.old = t.oldPath(versions[n-1])
		}
		return nil
	})
}

func (t *task) oldPath(name string) string {
	return filepath.Join(filepath.Dir(t.path), oldFolder, name)
}

// visit calls do if the folder of old versions exists. The arguments are the folder, the names of old versions from
// oldest to newest, and the names of links to the current version.
func (t *task) visit(do func(old fsys.Dir, versions, present []string) error) error {
	if !t.keepsOld() {
		return nil
	}
	d, base, err := fsys.OpenParent(t.files, t.path)
	if err != nil {
		return err
	}
	defer d.Close()
	old, err := d.OpenDir(oldFolder)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	defer old.Close()
	entries, err := old.Names()
	if err != nil {
		return err
	}
	var versions, present []string
	for _, name := range entries {
		switch {
		case !isOld(name, base):
		case sameFile(d, base, old, name):
			present = append(present, name)
		default:
			versions = append(versions, name)
		}
	}
	slices.SortStableFunc(versions, func(a, b string) int { return strings.Compare(sortable(a), sortable(b)) })
	return do(old, versions, present)
}

// isOld reports whether name is the name of an old version of base.
func isOld(name, base string) bool {
	rest, ok := strings.CutPrefix(name, base+".")
	if !ok || len(rest) < len(oldTime) {
		return false
	}
	_, err := time.Parse(oldTime, rest[:len(oldTime)])
	number := strings.TrimPrefix(rest[len(oldTime):], "-")
	return err == nil && strings.Trim(number, "0123456789") == "" && (number == "") == (len(rest) == len(oldTime))
}

// sortable returns name with its number padded, so that -10 sorts after -9.
func sortable(name string) string {
	i := strings.LastIndexByte(name, 'Z')
	if number := strings.TrimPrefix(name[i+1:], "-"); number != "" {
		return fmt.Sprintf("%s-%20s", name[:i+1], number)
	}
	return name
}

func sameFile(a fsys.Dir, nameA string, b fsys.Dir, nameB string) bool {
	x, errA := a.Stat(nameA)
	y, errB := b.Stat(nameB)
	return errA == nil && errB == nil && x.ID == y.ID
}

// remove removes the file of an old version, unless the file was changed since braid put it in place.
func (t *task) remove(v version) error {
	if v.Name == t.name {
		return nil
	}
	path := filepath.Join(t.rule.Dir, filepath.FromSlash(v.Name))
	info, err := fsys.Lstat(t.files, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode.IsRegular() || info.Size != v.Size || !info.ModTime.Equal(v.ModTime):
		t.log.Info("an old version was changed after its download and is kept", "path", path)
		return nil
	}
	return fsys.Remove(t.files, path)
}

// keepsOld reports whether old versions are kept in the folder of old versions.
func (t *task) keepsOld() bool {
	return t.rule.Keep != nil && *t.rule.Keep > 0 && !t.rule.File.PerVersion()
}

// settle makes the link lead to the file. If each version has a file name of its own, settle records the file, which
// may be removed later, and sets t.old to the path of the previous version.
func (t *task) settle(ctx context.Context, o *antenna.Outcome) error {
	if t.update.Release == nil {
		return nil
	}
	if t.rule.Request.Store != nil {
		return latestObject{t.rule}.lead(ctx, t.update.Release.Version)
	}
	if err := (latestLink{t.rule, t.memory}).lead(t.name); err != nil {
		return err
	}
	if !t.rule.File.PerVersion() {
		return nil
	}
	if t.update.Previous != "" {
		t.old = cmp.Or(t.old, t.update.Last.Path)
	}
	if t.rule.Keep == nil {
		return nil
	}
	return t.memory.kept(t.update.Watch, version{Name: t.name, Size: o.Size, ModTime: o.ModTime})
}

// pruneReleases removes the files of surplus versions. A file that was changed after its download stays.
func (t *task) pruneReleases() error {
	if t.rule.Keep == nil || t.update.Release == nil || !t.rule.File.PerVersion() || t.rule.Request.Store != nil {
		return nil
	}
	var failed error
	err := t.memory.prune(t.update.Watch, *t.rule.Keep+1, func(v version) bool {
		err := t.remove(v)
		failed = errors.Join(failed, err)
		return err == nil
	})
	return errors.Join(failed, err)
}
