package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/internal/problem"
	"braid/internal/render"
	"braid/objectstore"
	"braid/source"
)

type partsList struct {
	streams
	JSON bool
}

func newPartsList(s streams) (action, targets) {
	v := &partsList{streams: s}
	return v.run, targetsOf(v)
}

func (v *partsList) run(ctx context.Context, words []string) error {
	dir := "."
	var uploads []objectstore.Left
	switch len(words) {
	case 0:
		uploads, _ = v.uploads(ctx, "")
	case 1:
		if dir = words[0]; objectstore.IsURL(dir) {
			return v.place(ctx, dir)
		}
	default:
		if _, err := os.Stat(words[0]); err != nil {
			return problem.Misuse("parts "+words[0], "neither a folder nor a command",
				cmp.Or(nearestBelow("parts", words[0]), "there are list, resume, remove"))
		}
		return problem.Misuse("parts list", "one folder is enough", "braid parts --help")
	}
	left, aside, err := partfile.List(fsys.OS, filepath.Clean(dir))
	if err != nil {
		return problem.Local("parts", dir, err).WithHint(nearestBelow("parts", dir))
	}
	now := time.Now()
	var rows [][]string
	left = slices.DeleteFunc(left, func(l partfile.Left) bool { return l.Committed && !l.Due && !l.InUse }) // complete
	if v.JSON {
		return v.writeJSON(left, aside, uploads)
	}
	for _, l := range left {
		rows = append(rows, partRow(now, l))
	}
	for _, a := range aside {
		rows = append(rows, []string{filepath.Base(a.Path), sizeText(a.Size), ago(a.Changed, now),
			"set aside: damaged, or of another version"})
	}
	rows = append(rows, uploadRows(uploads)...)
	if len(rows) == 0 {
		fmt.Fprintln(v.err, source.Escape(dir+": nothing is unfinished here"))
	}
	return printLines(v.out, render.Columns(rows))
}

// nearestBelow returns a hint for a word that may be a misspelt command.
func nearestBelow(group, word string) string {
	if name := nearestWord(word, []string{"list", "resume", "remove"}); name != "" {
		return "did you mean braid " + group + " " + name + "?"
	}
	return ""
}

func partRow(now time.Time, l partfile.Left) []string {
	here, size := l.Have.Len(), render.SizeOfLeft(l)
	done := sizeText(here)
	if size >= 0 {
		done = fmt.Sprintf("%s of %s (%d %%)", sizeText(here), sizeText(size), percent(here, size))
	}
	state := "to be resumed"
	switch {
	case l.InUse:
		state = useText(l.InUse, l.PID)
	case l.Due:
		state = "in place; its --on-complete is due"
	case !l.Known:
		state = "nothing says what it is a part of"
	}
	return []string{l.Name, done, ago(l.Changed, now), state, l.Identity.URL}
}

// useText names the process that uses a part file, or returns "" if inUse is false.
func useText(inUse bool, pid int) string {
	switch {
	case !inUse:
		return ""
	case pid > 0:
		return fmt.Sprintf("in use by process %d", pid)
	}
	return "in use by another process"
}

func (v *partsList) writeJSON(left []partfile.Left, aside []partfile.Aside, uploads []objectstore.Left) error {
	lines := render.NewJSONWriter(v.out)
	for _, l := range left {
		lines.Write(partEvent{render.NewHead(time.Now(), "part"), render.NewLeftLine(l)})
	}
	for _, a := range aside {
		lines.Write(asideEvent{render.NewHead(time.Now(), "aside"), a.Path, a.Name, a.Size, a.Changed.UTC().Truncate(time.Second)})
	}
	writeUploads(lines, uploads)
	return outputFailure(lines.Err())
}

// partEvent is a download that is not complete.
type partEvent struct {
	render.Head
	render.LeftLine
}

// asideEvent is a file that was set aside, and the name of the file that it is not.
type asideEvent struct {
	render.Head
	Path    string    `json:"path"`
	Name    string    `json:"name"`
	Size    int64     `json:"size"`
	Changed time.Time `json:"changed"`
}

// removedEvent: a file was removed.
type removedEvent struct {
	render.Head
	Path string `json:"path"`
}

type partsRemove struct {
	streams
	Quiet, JSON bool
}

func newPartsRemove(s streams) (action, targets) {
	v := &partsRemove{streams: s}
	return v.run, targetsOf(v)
}

func (v *partsRemove) run(ctx context.Context, words []string) error {
	if len(words) == 0 {
		return problem.Misuse("parts remove", "no file", "braid parts shows what there is")
	}
	lines := render.NewJSONWriter(v.out)
	words, code := v.inFolders(words)
	for _, word := range words {
		if objectstore.IsURL(word) {
			code = max(code, v.upload(ctx, word, lines))
			continue
		}
		dir, name := placeOfPart(word)
		removed, err := partfile.Remove(fsys.OS, dir, name)
		for _, path := range removed {
			if v.JSON {
				lines.Write(removedEvent{render.NewHead(time.Now(), "removed"), path})
			} else if !v.Quiet {
				fmt.Fprintln(v.err, source.Escape("removed "+path))
			}
		}
		if err != nil {
			f := partFailure("remove", word, err)
			fmt.Fprintln(v.err, render.ErrorLine(f))
			code = exitCode(f)
		}
	}
	if code != exitDone {
		return reported(code)
	}
	return outputFailure(lines.Err())
}

// inFolders replaces each folder by the unfinished files in it, as parts list shows them. The code is that of
// the last folder that cannot be read.
func (v *partsRemove) inFolders(words []string) (files []string, code int) {
	for _, word := range words {
		if info, err := os.Stat(word); objectstore.IsURL(word) || err != nil || !info.IsDir() {
			files = append(files, word)
			continue
		}
		left, aside, err := partfile.List(fsys.OS, filepath.Clean(word))
		if err != nil {
			f := partFailure("remove", word, err)
			fmt.Fprintln(v.err, render.ErrorLine(f))
			code = exitCode(f)
			continue
		}
		had := len(files)
		for _, l := range left {
			if !l.Committed || l.Due || l.InUse {
				files = append(files, l.Path)
			}
		}
		for _, a := range aside {
			files = append(files, a.Path)
		}
		if len(files) == had && !v.Quiet {
			fmt.Fprintln(v.err, source.Escape(word+": nothing is unfinished here"))
		}
	}
	return files, code
}

// upload aborts the uploads that word names and returns the exit code.
func (v *partsRemove) upload(ctx context.Context, word string, lines *render.JSONWriter) int {
	told := v.err
	if v.Quiet {
		told = io.Discard
	}
	if !v.JSON {
		lines = nil
	}
	err := removeUploads(ctx, word, told, lines)
	if err == nil {
		return exitDone
	}
	f := withoutKept(downloadProblem(ctx, err))
	fmt.Fprintln(v.err, render.ErrorLine(f))
	return exitCode(f)
}

// placeOfPart returns the folder and the name of a file from its path or the path of its part file.
func placeOfPart(word string) (dir, name string) {
	path := partfile.NameOf(word)
	return filepath.Dir(path), filepath.Base(path)
}

func partFailure(what, word string, err error) *problem.Problem {
	f := problem.Local(what, word, err)
	if errors.Is(err, fs.ErrNotExist) {
		f.Why, f.Hint = "nothing unfinished of that name is there", "braid parts shows what there is"
		if _, statErr := os.Stat(word); statErr == nil && partfile.NameOf(word) == word {
			f.Why = "the file is there, and nothing unfinished of it"
		}
	}
	if use, ok := errors.AsType[*partfile.InUseError](err); ok {
		f.Why, f.Hint = useText(true, use.PID), "that one ends in good order with Ctrl-C"
	}
	return f
}
