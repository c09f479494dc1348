// Package publish writes what an antenna knows into a folder that a web server shows to others: feeds in hina-di, LIRS and SOIF for
// other agents, Atom and a page for people.
//
//	report, err := publish.Write("/srv/www/antenna", snapshot, publish.Options{Title: "Mirrors"})
//
// What was read elsewhere is passed on by the rules of feed.Relay, in the format that it was read in: whole, as the word of who
// obtained it. Own observations are in all formats. The package asks nobody, and keeps nothing.
package publish

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"braid/antenna/feed"
	"braid/internal/atomicfile"
	"braid/internal/fsys"
)

// The names of the files.
const (
	HinaDI   = "hina.di"
	LIRS     = "antenna.lirs"
	LIRSGzip = "antenna.lirs.gz"
	SOIF     = "antenna.soif"
	Atom     = "atom.xml"
	Page     = "index.html"
)

// Options say how it is published. The zero value works.
type Options struct {
	// Title is what page and Atom feed are called. If empty, it is that of an antenna.
	Title string
	// MaxHops and Keeps are those of feed.Relay.
	MaxHops int
	Keeps   func(feed.Field) bool
	// Rows is how many sites the page lists. If zero, it is 2,000.
	Rows int
	// Files is where the folder is. If nil, it is the file system of the system.
	Files fsys.FS
}

// A Report says what was published.
type Report struct {
	// Files are those of the folder that were written. Those that were the same are not.
	Files []string
	// Records is how many each file has.
	Records map[string]int
	// Refused is how many records of others were not passed on, and why; what was not written in another format than it was
	// read in is not among them.
	Refused map[feed.Refusal]int
	// Unwritable is how many records a format could not write: their URL is none, or they are too long.
	Unwritable int
}

// Write writes the files into a folder, which it makes if it is not there. Each changes whole or not at all, and only if it is another
// one. A feed that has nothing to say any more goes; where nothing is known, nothing is made.
func Write(dir string, s feed.Snapshot, o Options) (Report, error) {
	files := fsys.Or(o.Files)
	documents, empty, report, err := compose(s, o)
	if err != nil {
		return report, err
	}
	for _, name := range empty {
		if err := fsys.Remove(files, filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return report, err
		}
	}
	if len(documents) == 1 && report.Records[Page] == 0 { // the page alone: it says so where there is one
		if _, err := fsys.Lstat(files, filepath.Join(dir, Page)); err != nil {
			return report, nil
		}
	}
	if err := fsys.MkdirAll(files, dir, 0o755); err != nil {
		return report, err
	}
	for _, d := range documents {
		path := filepath.Join(dir, d.name)
		if same(files, path, d.data) {
			continue
		}
		if err := atomicfile.In(files).WriteFile(path, d.data, 0o644); err != nil {
			return report, fmt.Errorf("%s: %w", d.name, err)
		}
		report.Files = append(report.Files, d.name)
	}
	return report, nil
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
