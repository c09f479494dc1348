package torture

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// yard is the folders of a run: the target folder, a folder beside it, and a home with the state of the client.
type yard struct {
	root    string
	work    string // the target folder, and the working directory of the client
	outside string // target of a symbolic link in work
	home    string
}

const (
	neighbour = "neighbour.txt"
	way       = "way-out" // the symbolic link
	oldBytes  = "what was there before\n"
)

func newYard(root string) (yard, error) {
	y := yard{root, filepath.Join(root, "work"), filepath.Join(root, "outside"), filepath.Join(root, "home")}
	for _, dir := range []string{y.work, y.outside, y.home} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return y, err
		}
		if dir == y.home {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, neighbour), []byte("somebody else's\n"), 0o644); err != nil {
			return y, err
		}
	}
	return y, os.Symlink(y.outside, filepath.Join(y.work, way))
}

// tree maps the paths below the root to their type, and their content or target.
type tree map[string]string

// look reads everything except home, which belongs to the client.
func (y yard) look() (tree, error) {
	t := tree{}
	err := filepath.WalkDir(y.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == y.root {
			return err
		}
		if path == y.home {
			return fs.SkipDir
		}
		name, err := filepath.Rel(y.root, path)
		if err != nil {
			return err
		}
		t[name], err = describe(path, d)
		return err
	})
	return t, err
}

// describe returns a description that distinguishes one entry from another in its place. For large files it contains
// only type and size.
func describe(path string, d fs.DirEntry) (string, error) {
	info, err := d.Info()
	switch {
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink != 0:
		return os.Readlink(path)
	case !info.Mode().IsRegular() || info.Size() > 1<<20:
		return fmt.Sprint(info.Mode().Type(), info.Size()), nil
	}
	data, err := os.ReadFile(path)
	return "file " + string(data), err
}

// compare returns the differences between two trees that are not the work of r: new entries in the target folder, and
// foreign entries that were changed or are new elsewhere.
func compare(before, after tree, r request) (added, touched []string) {
	for path := range union(before, after) {
		inWork, isWork := strings.CutPrefix(path, "work"+string(filepath.Separator))
		if isWork && r.work(inWork) {
			continue
		}
		was, existed := before[path]
		switch {
		case was == after[path] && existed || folderOf(path, r):
		case isWork && !existed:
			added = append(added, fmt.Sprintf("%q", inWork))
		default:
			touched = append(touched, fmt.Sprintf("%q", path))
		}
	}
	slices.Sort(added)
	slices.Sort(touched)
	return added, touched
}

// folderOf reports whether a path is a parent folder of a final name.
func folderOf(path string, r request) bool {
	return slices.ContainsFunc(r.finals(), func(name string) bool {
		return strings.HasPrefix(filepath.Join("work", name), path+string(filepath.Separator))
	})
}

func union(a, b tree) map[string]bool {
	all := map[string]bool{}
	for path := range a {
		all[path] = true
	}
	for path := range b {
		all[path] = true
	}
	return all
}

// state returns the state of a final name, whose description was begin before the run.
func (y yard) state(name string, body []byte, begin string, existed bool) (state, error) {
	path := filepath.Join(y.work, name)
	info, err := os.Lstat(path)
	switch {
	case os.IsNotExist(err) || err != nil && !existed:
		return absent, nil
	case err != nil:
		return absent, err
	case existed:
		if now, err := describe(path, fs.FileInfoToDirEntry(info)); err != nil || now == begin {
			return old, err
		}
	}
	if !info.Mode().IsRegular() || info.Size() != int64(len(body)) {
		return other, nil
	}
	data, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(data, body) {
		return other, err
	}
	return whole, nil
}

// secrets returns the files in home and in the target folder that contain a secret, except those of final names.
func (y yard) secrets(word string, r request) (found []string, err error) {
	for _, dir := range []string{y.work, y.home} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || slices.Contains(r.finals(), d.Name()) || path == r.document {
				return err
			}
			data, err := os.ReadFile(path)
			if bytes.Contains(data, []byte(word)) {
				found = append(found, "a secret in "+d.Name())
			}
			return err
		})
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// size returns the disk usage of the target folder.
func (y yard) size() (n int64) {
	// Files that a client removes meanwhile are not counted, as intended.
	filepath.WalkDir(y.work, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += blocks(info)
			}
		}
		return nil
	})
	return n
}
