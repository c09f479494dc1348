package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// oldFolder is where old versions are, beside the file. Names of files do not begin with a dot (rule 10), so that no feed reaches it.
	oldFolder = ".old"
	// oldTime is what stands behind the name of an old version: when it was written here.
	oldTime = "2006-01-02T15-04-05Z"
)

// keepOld gives the version that is there a second name, so that the first one always exists. It returns that name if it is new. The
// name says the version: who does it twice does it once.
func (t *task) keepOld() (linked string, err error) {
	if t.rule.Keep == 0 || !t.there {
		return "", nil
	}
	dir, base := filepath.Split(t.path)
	dir += oldFolder
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return "", errors.Join(err, fmt.Errorf("%s is no folder", dir))
	}
	plain := filepath.Join(dir, base+"."+t.modTime.UTC().Format(oldTime))
	for n := 1; ; n++ {
		t.old = plain
		if n > 1 {
			t.old = fmt.Sprintf("%s-%d", plain, n)
		}
		err := os.Link(t.path, t.old)
		switch {
		case err == nil:
			return t.old, syncFolder(dir)
		case !errors.Is(err, fs.ErrExist):
			return "", fmt.Errorf("the old version cannot be kept: %w", err)
		case sameFile(t.path, t.old):
			return "", nil
		}
	}
}

// prune removes old versions that are too many, and those that are no old ones: an update that was broken off has left them.
func (t *task) prune() error {
	if t.rule.Keep == 0 {
		return nil
	}
	dir, base := filepath.Split(t.path)
	dir += oldFolder
	entries, err := os.ReadDir(dir) // by name, and so by age
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	var names []string
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case !isOld(e.Name(), base):
		case sameFile(name, t.path):
			err = errors.Join(err, os.Remove(name))
		default:
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return strings.Compare(sortable(a), sortable(b)) })
	for len(names) > t.rule.Keep {
		err = errors.Join(err, os.Remove(names[0]))
		names = names[1:]
	}
	return err
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

func sameFile(a, b string) bool {
	x, errA := os.Lstat(a)
	y, errB := os.Lstat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

// syncFolder puts the names of a folder on disk.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
