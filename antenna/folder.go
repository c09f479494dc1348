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

// FolderOptions configures WriteFolder. The zero value is usable.
type FolderOptions struct {
	// Title is the title of the page and the Atom feed. If empty, a default is used.
	Title string

	files fsys.FS // file system for tests; nil: the system's
}

// A FolderReport is the result of WriteFolder.
type FolderReport struct {
	// Files lists the files that were written. Unchanged files are not included.
	Files []string
	// Records has the number of records of each file.
	Records map[string]int
	// Refused counts the records of other agents that must not be passed on, by reason. Records that are omitted
	// because they were read in another format are not counted.
	Refused map[feed.Refusal]int
	// Unwritable counts the records that a format could not represent: those that have no valid URL or are too long.
	Unwritable int
}

// A foreignError lists files that could not be published, because the folder has files of these names that this package
// did not write.
type foreignError struct{ names []string }

func (e *foreignError) Error() string {
	return strings.Join(e.names, ", ") + ": not published, because a file of another origin has that name " +
		"and is kept; publish into an empty folder"
}

// WriteFolder writes the page and the feeds of s into the folder dir, which it creates if necessary. It replaces a file
// only if its content differs, atomically. It removes feeds that have become empty. If nothing is to be published, it
// creates nothing. A file that this package did not write is kept. All other files are written nevertheless, and the
// error names the kept files.
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
	if len(documents) == 1 && report.Records[filePage] == 0 { // only an empty page, which replaces an existing one
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

// marksOf returns texts that identify the files of this package: if the package wrote a file called name, its beginning
// contains one of the texts.
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

// mostMark is the number of bytes of a file that are searched for a mark. In a page, a style sheet may precede the
// mark.
const mostMark = 64 << 10

// written reports whether path does not exist, is empty, or was written by this package as the file called name.
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
	head, err := fsys.ReadFile(files, path, mostMark) // follows links
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(marksOf(name), func(mark string) bool { return bytes.Contains(head, []byte(mark)) }), nil
}

// same reports whether path is a regular file with the content data.
func same(files fsys.FS, path string, data []byte) bool {
	info, err := fsys.Lstat(files, path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode.IsRegular() || info.Size != int64(len(data))) {
		return false
	}
	old, err := fsys.ReadFile(files, path, int64(len(data))+1)
	return err == nil && bytes.Equal(old, data)
}
