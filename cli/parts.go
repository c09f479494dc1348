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
	"strings"
	"time"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/job"
	"braid/internal/option"
	"braid/internal/partfile"
	"braid/internal/plug/objectstore"
	"braid/internal/problem"
	"braid/internal/render"
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
			return problem.Misuse("parts "+words[0], "is neither a folder nor a command",
				cmp.Or(nearestBelow("parts", words[0]), "use list, resume or remove"))
		}
		return problem.Misuse("parts list", "only one folder can be given", "see braid parts --help")
	}
	left, aside, err := partfile.List(fsys.OS, filepath.Clean(dir))
	if err != nil {
		return problem.Local("parts", dir, err).WithHint(nearestBelow("parts", dir))
	}
	now := time.Now()
	var rows [][]string
	left = slices.DeleteFunc(left, func(l partfile.Left) bool { return l.Committed && !l.Due && !l.InUse }) // complete files
	if v.JSON {
		return v.writeJSON(left, aside, uploads)
	}
	for _, l := range left {
		rows = append(rows, partRow(now, l))
	}
	for _, a := range aside {
		rows = append(rows, []string{filepath.Base(a.Path), option.SizeText(a.Size), ago(a.Changed, now),
			"set aside: the part is damaged, or of another version of the file"})
	}
	rows = append(rows, uploadRows(uploads)...)
	if len(rows) == 0 {
		fmt.Fprintln(v.err, source.Escape(dir+": no unfinished downloads here"))
	}
	return printLines(v.out, render.Columns(rows))
}

// nearestBelow returns a hint if word may be a misspelt command of group, or "".
func nearestBelow(group, word string) string {
	if name := option.Nearest(word, []string{"list", "resume", "remove"}); name != "" {
		return "did you mean braid " + group + " " + name + "?"
	}
	return ""
}

func partRow(now time.Time, l partfile.Left) []string {
	here, size := l.Have.Len(), render.SizeOfLeft(l)
	done := option.SizeText(here)
	if size >= 0 {
		done = fmt.Sprintf("%s of %s (%d %%)", option.SizeText(here), option.SizeText(size), option.Percent(here, size))
	}
	state := "can be resumed"
	switch {
	case l.InUse:
		state = useText(l.InUse, l.PID)
	case l.Due:
		state = "downloaded; its --on-complete command has still to run"
	case l.Known && here == size:
		state = "all received, not verified"
	case !l.Known:
		state = "unknown: nothing records which download this part belongs to"
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
		changed := a.Changed.UTC().Truncate(time.Second)
		lines.Write(asideEvent{render.NewHead(time.Now(), "aside"), a.Path, a.Name, a.Size, changed})
	}
	writeUploads(lines, uploads)
	return outputFailure(lines.Err())
}

// partEvent is an incomplete download.
type partEvent struct {
	render.Head
	render.LeftLine
}

// asideEvent is a file that was set aside. Name is the intended name of the download.
type asideEvent struct {
	render.Head
	Path    string    `json:"path"`
	Name    string    `json:"name"`
	Size    int64     `json:"size"`
	Changed time.Time `json:"changed"`
}

// removedEvent is the removal of a file.
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
		return problem.Misuse("parts remove", "missing file name", "list the unfinished downloads with braid parts")
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

// inFolders replaces each folder in words with the unfinished files that parts list shows for it. code is the exit code
// for the last folder that could not be read, or 0.
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
			fmt.Fprintln(v.err, source.Escape(word+": no unfinished downloads here"))
		}
	}
	return files, code
}

// upload aborts the uploads of the object or below the folder that word names. It returns the exit code.
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

// placeOfPart returns the folder and the name of a download. word is its path, or the path of its part file.
func placeOfPart(word string) (dir, name string) {
	path := partfile.NameOf(word)
	return filepath.Dir(path), filepath.Base(path)
}

func partFailure(what, word string, err error) *problem.Problem {
	f := problem.Local(what, word, err)
	if errors.Is(err, fs.ErrNotExist) {
		f.Why, f.Hint = "no unfinished download has this name", "list the unfinished downloads with braid parts"
		if _, statErr := os.Stat(word); statErr == nil && partfile.NameOf(word) == word {
			f.Why = "this file is complete, so it has no unfinished part"
		}
	}
	if use, ok := errors.AsType[*partfile.InUseError](err); ok {
		f.Why, f.Hint = useText(true, use.PID), "stop the other process with Ctrl-C"
	}
	return f
}

// uploadEvent is an incomplete upload to an object store.
type uploadEvent struct {
	render.Head
	Path   string    `json:"path"`          // path of the object after the upload
	URL    string    `json:"url,omitempty"` // URL without secrets; only if this machine has the upload's journal
	Upload string    `json:"upload"`        // ID that the store gave the upload
	Here   *int64    `json:"here,omitempty"`
	Began  time.Time `json:"began"`
	InUse  bool      `json:"in_use,omitempty"` // a process on this machine uses the upload
	PID    int       `json:"pid,omitempty"`    // ID of that process
}

// uploads returns the unfinished uploads that this user began on this machine. If word is the URL of an object store,
// uploads returns all unfinished uploads below that URL instead.
func (v *partsList) uploads(ctx context.Context, word string) ([]objectstore.Left, error) {
	if word == "" {
		folder := job.StateFolder()
		if folder == "" {
			return nil, nil
		}
		return objectstore.Journaled(filepath.Join(folder, "uploads"))
	}
	s, err := objectstore.Open(word, job.StoreOptions(agent(), 0, func(string) {}))
	if err != nil {
		return nil, err
	}
	return s.Left(ctx)
}

// place shows the unfinished uploads below word, the URL of an object store.
func (v *partsList) place(ctx context.Context, word string) error {
	left, err := v.uploads(ctx, word)
	if err != nil {
		return withoutKept(downloadProblem(ctx, err))
	}
	if v.JSON {
		lines := render.NewJSONWriter(v.out)
		writeUploads(lines, left)
		return outputFailure(lines.Err())
	}
	if len(left) == 0 {
		fmt.Fprintln(v.err, source.Escape(word+": no unfinished uploads there"))
	}
	return printLines(v.out, render.Columns(uploadRows(left)))
}

func withoutKept(f *problem.Problem) *problem.Problem {
	f.Kept = ""
	return f
}

func writeUploads(to *render.JSONWriter, left []objectstore.Left) {
	for _, l := range left {
		to.Write(uploadEvent{render.NewHead(time.Now(), "upload"), l.Path(), l.URL, l.Upload, render.SizeOf(l.Size),
			l.Began.UTC().Truncate(time.Second), l.InUse, l.PID})
	}
}

func uploadRows(left []objectstore.Left) (rows [][]string) {
	now := time.Now()
	for _, l := range left {
		done, state := "", "being uploaded by another process"
		if l.Size >= 0 {
			done, state = option.SizeText(l.Size), cmp.Or(useText(l.InUse, l.PID), "can be resumed")
		}
		rows = append(rows, []string{l.Path(), done, ago(l.Began, now), state, l.URL})
	}
	return rows
}

// removeUploads aborts the unfinished uploads of the object at word. If word ends with a slash, it aborts those of all
// objects below word.
func removeUploads(ctx context.Context, word string, told io.Writer, lines *render.JSONWriter) error {
	cut := strings.LastIndexByte(word, '/') + 1
	s, err := objectstore.Open(word[:cut], job.StoreOptions(agent(), 0, func(string) {}))
	if err != nil {
		return err
	}
	gone, err := s.Sweep(ctx, word[cut:])
	for _, l := range gone {
		if lines != nil {
			lines.Write(removedEvent{render.NewHead(time.Now(), "removed"), l.Path()})
		} else {
			fmt.Fprintln(told, source.Escape("removed the unfinished upload to "+l.Path()))
		}
	}
	if err == nil && len(gone) == 0 {
		return &problem.Problem{
			Kind: download.Local, What: "remove", Where: word, Why: "no unfinished upload has this name",
			Hint: "list the unfinished uploads with braid parts list s3://BUCKET/",
		}
	}
	return err
}
