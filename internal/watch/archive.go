package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"braid/internal/fsys"
)

const (
	// oldFolder is where old versions are, beside the file. Names of files do not begin with a dot, so that no feed reaches it.
	oldFolder = ".old"
	// oldTime is what stands behind the name of an old version: when it was written here.
	oldTime = "2006-01-02T15-04-05Z"
)

// keepOld gives the version that is there a second name, so that the first one always exists. It returns that name if
// it is new. The name says the version: doing it twice is doing it once.
func (t *task) keepOld() (linked string, err error) {
	if t.rule.Keep == 0 || !t.there {
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

// stayed reports whether the version that got a second name still is the one that is there. A download that failed late
// may have put the new one in its place.
func (t *task) stayed(linked string) bool {
	here, errHere := fsys.Lstat(t.files, t.path)
	old, errOld := fsys.Lstat(t.files, linked)
	return errHere == nil && errOld == nil && here.ID == old.ID
}

// linkOld gives base in d the name plain in old, or one with a number if another version has that.
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

// prune removes old versions that are too many, and those that are no old ones: an update that was broken off has left them.
func (t *task) prune() error {
	return t.visit(func(old fsys.Dir, versions, present []string) (err error) {
		for _, name := range append(present, versions[:max(len(versions)-t.rule.Keep, 0)]...) {
			err = errors.Join(err, old.Remove(name))
		}
		return err
	})
}

// findOld finds where the version before the present one is kept, if it is.
func (t *task) findOld() error {
	t.old = ""
	return t.visit(func(_ fsys.Dir, versions, _ []string) error {
		if n := len(versions); n > 0 {
			t.old = t.oldPath(versions[n-1])
		}
		return nil
	})
}

// oldPath is the path of an old version.
func (t *task) oldPath(name string) string {
	return filepath.Join(filepath.Dir(t.path), oldFolder, name)
}

// visit calls do with the folder of old versions, if there is one: their names from old to new, and further names of
// the present version.
func (t *task) visit(do func(old fsys.Dir, versions, present []string) error) error {
	if t.rule.Keep == 0 {
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

// isOld tells the name of an old version of base.
func isOld(name, base string) bool {
	rest, ok := strings.CutPrefix(name, base+".")
	if !ok || len(rest) < len(oldTime) {
		return false
	}
	_, err := time.Parse(oldTime, rest[:len(oldTime)])
	number := strings.TrimPrefix(rest[len(oldTime):], "-")
	return err == nil && strings.Trim(number, "0123456789") == "" && (number == "") == (len(rest) == len(oldTime))
}

// sortable is a name whose number sorts by value: -10 is younger than -9.
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
