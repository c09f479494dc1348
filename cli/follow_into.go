package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"braid/internal/follow"
	"braid/internal/fsys"
	"braid/internal/job"
	"braid/internal/problem"
	"braid/internal/watch"
)

// add appends an entry to the configuration of --into, unless that has it. It writes nothing that braid watch check
// would refuse. name is that of the watch.
func (f *followCommand) add(e follow.Entry) (name string, added bool, err error) {
	path, err := filepath.Abs(f.Into)
	if err != nil {
		return "", false, problem.Local("follow", f.Into, err)
	}
	mode := fs.FileMode(0o644)
	var data []byte
	switch info, err := os.Stat(path); {
	case err == nil:
		if mode = info.Mode().Perm(); !info.Mode().IsRegular() {
			return "", false, problem.Misuse("--into "+f.Into, "not a regular file", "")
		}
		if data, err = job.ReadFile("--into", f.Into, mostConfig); err != nil {
			return "", false, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return "", false, problem.Local("follow", f.Into, err)
	}
	known, err := f.warningsOf(path, data)
	if err != nil {
		return "", false, err
	}
	changed, name, err := follow.Add(data, e)
	if err != nil || bytes.Equal(changed, data) {
		return name, false, err
	}
	warnings, err := f.warningsOf(path, changed)
	if err != nil {
		return "", false, err
	}
	for _, text := range warnings {
		if !slices.Contains(known, text) {
			f.tell("braid: warning %s: %s", f.Into, text)
		}
	}
	if err := fsys.WriteFile(nil, job.Resolved(path), changed, mode); err != nil {
		return "", false, problem.Local("follow", f.Into, err)
	}
	return name, true, nil
}

// warningsOf checks a configuration, and returns the warnings about it.
func (f *followCommand) warningsOf(path string, data []byte) ([]string, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	w := &watchCommand{streams: f.streams}
	c, err := w.fromText(f.Into, path, data, toWatch)
	if err == nil {
		err = watch.Check(c)
	}
	if err != nil {
		return nil, err
	}
	var warnings []string
	for _, text := range c.Warnings() {
		warnings = append(warnings, c.Hider().Replace(text))
	}
	return warnings, nil
}
