package antenna

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"braid/antenna/feed"
	"braid/antenna/formats"
	"braid/internal/fsys"
)

const (
	filePage   = "index.html" // the page, beside the feeds
	gzipEnding = ".gz"
)

// FolderOptions say how it is published. The zero value works.
type FolderOptions struct {
	// Title is what page and Atom feed are called. If empty, it is that of an antenna.
	Title string

	files fsys.FS // where the folder is; nil: that of the system. Tests have others.
}

// A FolderReport says what was published.
type FolderReport struct {
	// Files are those of the folder that were written. Those that were the same are not.
	Files []string
	// Records is how many each file has.
	Records map[string]int
	// Refused is how many records of others were not passed on, and why; what was not written in another format than it was
	// read in is not among them.
	Refused map[feed.Refusal]int
	// Unwritable is how many records a format could not write: they have no valid URL, or are too long.
	Unwritable int
}

// A foreignError names files of the folder that have the name of one that is to be published, and that this package did
// not write.
type foreignError struct{ names []string }

func (e *foreignError) Error() string {
	return strings.Join(e.names, ", ") + ": not published, as there is something else of that name, which stays; publish into a folder of its own"
}

// WriteFolder writes the files into a folder, which it makes if it is not there. Each changes whole or not at all, and
// only if it is another one. A feed that has nothing to say any more goes; where nothing is known, nothing is made.
// What is there and was not written by this package stays: the others are written, and the error names it.
func WriteFolder(dir string, s feed.Snapshot, o FolderOptions) (FolderReport, error) {
	files := fsys.Or(o.files)
	documents, empty, report, err := compose(s, o)
	if err != nil {
		return report, err
	}
	for _, name := range empty {
		path := filepath.Join(dir, name)
		if own, err := written(files, path, name); err == nil && !own {
			continue
		}
		if err := fsys.Remove(files, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return report, err
		}
	}
	if len(documents) == 1 && report.Records[filePage] == 0 { // the page alone: it says so where there is one
		if _, err := fsys.Lstat(files, filepath.Join(dir, filePage)); err != nil {
			return report, nil
		}
	}
	if err := fsys.MkdirAll(files, dir, 0o755); err != nil {
		return report, err
	}
	var foreign foreignError
	for _, d := range documents {
		path := filepath.Join(dir, d.name)
		if same(files, path, d.data) {
			continue
		}
		own, err := written(files, path, d.name)
		if err != nil {
			return report, fmt.Errorf("%s: %w", d.name, err)
		}
		if !own {
			foreign.names = append(foreign.names, d.name)
			continue
		}
		if err := fsys.WriteFile(files, path, d.data, 0o644); err != nil {
			return report, fmt.Errorf("%s: %w", d.name, err)
		}
		report.Files = append(report.Files, d.name)
	}
	if len(foreign.names) > 0 {
		return report, &foreign
	}
	return report, nil
}

// marksOf returns what the beginning of a file of that name has in it if this package wrote it: one of these. A feed for
// antennas is known by its format.
func marksOf(name string) []string {
	if name == filePage {
		return []string{`<meta name="generator" content="braid">`, `href="antenna.lirs.gz"`}
	}
	for _, w := range formats.Writings() {
		switch name {
		case w.File:
			return []string{w.Mark}
		case w.File + gzipEnding:
			return []string{string(gzipMagic)}
		}
	}
	return nil
}

// mostMark is how much of a file is looked at for its mark: more than a page has before its heading, with the style in it.
const mostMark = 64 << 10

// written reports whether the file of that name does not exist, or was written by this package.
func written(files fsys.FS, path, name string) (bool, error) {
	info, err := fsys.Lstat(files, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	case info.Mode.IsDir():
		return false, nil
	case info.Mode.IsRegular() && info.Size == 0:
		return true, nil
	}
	head, err := fsys.ReadFile(files, path, mostMark) // of a link what it leads to
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(marksOf(name), func(mark string) bool { return bytes.Contains(head, []byte(mark)) }), nil
}

// same reports whether there is a regular file with that content.
func same(files fsys.FS, path string, data []byte) bool {
	info, err := fsys.Lstat(files, path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode.IsRegular() || info.Size != int64(len(data))) {
		return false
	}
	old, err := fsys.ReadFile(files, path, int64(len(data))+1)
	return err == nil && bytes.Equal(old, data)
}
