package cli

import (
	"cmp"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"braid/download"
)

// folders are those that were missing before downloads began. Those of them that are empty in the end are removed: a run that
// brought nothing leaves nothing.
type folders struct {
	missing map[string]bool
	last    string // that was looked at
}

// note looks which folders on the way to dir are missing, dir included.
func (f *folders) note(dir string) {
	dir = filepath.Clean(dir)
	if dir == f.last {
		return
	}
	f.last = dir
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !os.IsNotExist(err) || filepath.Dir(dir) == dir {
			return
		}
		if f.missing == nil {
			f.missing = map[string]bool{}
		}
		f.missing[dir] = true
	}
}

// made takes note of folders that a download has made, as those of a document's name, which came as the answer to a URL.
func (f *folders) made(paths []string) {
	for _, path := range paths {
		if f.missing == nil {
			f.missing = map[string]bool{}
		}
		f.missing[path] = true
	}
}

// noted are requests whose folders have been looked at.
func (f *folders) noted(requests iter.Seq[download.Request]) iter.Seq[download.Request] {
	return func(yield func(download.Request) bool) {
		for r := range requests {
			if r.Stream == nil {
				f.note(filepath.Dir(filepath.Join(r.Dir, filepath.FromSlash(cmp.Or(r.Name, "x")))))
			}
			if !yield(r) {
				return
			}
		}
	}
}

// tidy removes what is empty, the deepest first.
func (f *folders) tidy() {
	paths := slices.SortedFunc(maps.Keys(f.missing), func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeDir {
			os.Remove(path) // fails if something is in it
		}
	}
}
