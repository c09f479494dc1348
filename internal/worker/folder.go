package worker

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"braid/download"
	"braid/fleet"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/internal/problem"
)

// A Folder is the folder where workers place files. Each queue and fence has a stage, a subfolder for unfinished files.
// A worker that takes over a job renames the stage of the previous worker, so that the previous worker can no longer
// place the file.
type Folder struct {
	root *os.Root
	dir  string
}

// stages is the path of the folder with all stages.
const stages = ".braid-work"

// OpenFolder opens the folder dir for a worker. It creates a missing folder.
func OpenFolder(dir string) (*Folder, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, stages), 0o777)
	}
	if err != nil {
		return nil, problem.Local("work", dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, problem.Local("work", dir, err)
	}
	return &Folder{root, dir}, nil
}

// Close implements Place.
func (p *Folder) Close() { p.root.Close() }

// Endpoint implements Place.
func (*Folder) Endpoint() string { return "" }

// prepare implements Place.
func (p *Folder) prepare(t *task, r *download.Request) (there *placed, err error) {
	if err := p.checkFollows(t.claim.Record.Job.Follows); err != nil {
		return nil, err
	}
	replace := r.IfExists.Overwrite || r.IfExists.IfNewer
	if t.stage, err = p.stage(&t.claim.Record.Job, t.worker.queue.ID(), t.claim.Fence(), replace); err != nil {
		return nil, err
	}
	t.stage.replace = replace || t.stage.ours
	r.Dir, r.Name, r.MakeDir = t.stage.dir, t.stage.base, false
	r.IfExists.Overwrite = r.IfExists.Overwrite || t.stage.ours || t.stage.kept
	if info := t.stage.there; info != nil && !t.stage.kept {
		there = &placed{size: info.Size(), modTime: info.ModTime()}
	}
	return there, nil
}

// place implements Place.
func (p *Folder) place(ctx context.Context, t *task, _ *download.Request, changed bool) (placed, error) {
	if err := t.claim.Confirm(ctx); err != nil {
		return placed{}, err
	}
	f, err := p.put(t.stage, changed, t.stage.replace)
	if err != nil {
		return f, err
	}
	untidy, err := p.lead(ctx, &t.claim.Record.Job, f)
	if untidy != nil {
		t.log.Error("old versions", "error", untidy)
	}
	return f, err
}

// A stage is the folder of one attempt at a job.
type stage struct {
	name    string // path relative to the Folder
	dir     string // absolute path
	base    string // last element of the path of the job's file
	placing string
	file    string // path of the job's file, relative to the Folder
	there   os.FileInfo
	ours    bool // an earlier attempt placed the file, but was killed before it stored the result
	kept    bool // an earlier attempt left the complete file in the stage, because it could not place the file
	replace bool // the existing file may be replaced
}

// placing returns a temporary name for the file of j while it is being placed. If the worker is killed then, this name
// shows that the file in place is that of j.
func placing(j *fleet.Job) string { return "." + j.ID() + ".placing" }

// stage creates the stage of an attempt. The stage contains what the previous attempt left, and a link to the existing
// file of j. If that file may be replaced, a complete file of the previous attempt takes the place of the link.
func (p *Folder) stage(j *fleet.Job, queue string, fence uint64, replace bool) (*stage, error) {
	if strings.HasPrefix(j.Name, stages) {
		return nil, problem.Misuse("job "+j.Name, errStages.Error(), "")
	}
	own := stageName{j.Key(), queue, fence}
	s := &stage{name: path.Join(stages, own.String()), base: path.Base(j.Name), placing: placing(j), file: j.Name}
	s.dir = filepath.Join(p.dir, s.name)
	err := p.inherit(s, own)
	if err == nil {
		err = p.showWhatIsThere(s, replace)
	}
	if err != nil {
		return nil, problem.Local("stage", s.dir, err)
	}
	return s, nil
}

// inherit moves what the previous worker left into s. If the job was dropped and reported again, the previous stage has
// the same name. If the previous worker still has the part file open, s is empty.
func (p *Folder) inherit(s *stage, own stageName) error {
	names, err := p.namesIn(stages)
	if err != nil {
		return err
	}
	var before []stageName
	for _, name := range names {
		if n := parseStage(name); n.key == own.key && (n.queue == own.queue || n.queue == "") {
			before = append(before, n)
		}
	}
	slices.SortFunc(before, func(a, b stageName) int { return cmp.Compare(a.fence, b.fence) })
	for i, n := range before {
		old := path.Join(stages, n.String())
		if i == len(before)-1 && (old == s.name || p.root.Rename(old, s.name) == nil) {
			s.ours = p.same(path.Join(s.name, s.placing), s.file)
			if p.isFree(s) {
				return p.keep(s)
			}
			old = s.name
		}
		if err := p.root.RemoveAll(old); err != nil {
			return err
		}
	}
	err = p.root.Mkdir(s.name, 0o700)
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return err
}

// namesIn returns the names in the folder dir. Unlike fs.ReadDir, it does not stat the files: most are those of other jobs.
func (p *Folder) namesIn(dir string) ([]string, error) {
	f, err := p.root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// keep keeps the complete file that the previous worker left in s. That worker may have been unable to place the file
// because the queue could not be reached. A second link to the existing file does not count.
func (p *Folder) keep(s *stage) error {
	whole, placing := path.Join(s.name, s.base), path.Join(s.name, s.placing)
	if _, err := p.root.Lstat(placing); err == nil && !s.ours {
		if err := p.root.Rename(placing, whole); err != nil {
			return err
		}
	}
	info, err := p.root.Lstat(whole)
	if s.kept = err == nil && info.Mode().IsRegular() && !p.same(whole, s.file); s.kept {
		return nil
	}
	return errors.Join(p.dropIfThere(whole), p.dropIfThere(placing))
}

// isFree reports whether no process has the part file in s open.
func (p *Folder) isFree(s *stage) bool {
	if _, err := p.root.Lstat(path.Join(s.name, s.base+".part")); err != nil {
		return true
	}
	f, err := partfile.Open(fsys.OS, s.dir, s.base)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// same reports whether the paths a and b lead to the same file.
func (p *Folder) same(a, b string) bool {
	one, err := p.root.Lstat(a)
	two, gone := p.root.Lstat(b)
	return err == nil && gone == nil && os.SameFile(one, two)
}

func (p *Folder) dropIfThere(name string) error {
	err := p.root.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// showWhatIsThere links the existing file into s, where the download finds it. If the file system does not support
// links, the whole file is downloaded again.
func (p *Folder) showWhatIsThere(s *stage, replace bool) error {
	info, err := p.root.Lstat(s.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "open", Path: s.file, Err: errors.New("is not a regular file")}
	}
	s.there = info
	if s.kept = s.kept && replace; s.kept {
		return nil
	}
	if err := p.dropIfThere(path.Join(s.name, s.base)); err != nil {
		return err
	}
	if err := p.root.Link(s.file, path.Join(s.name, s.base)); err != nil {
		s.there = nil
	}
	return nil
}

// put places the file in s if changed is true. A file that has appeared there in the meantime is replaced only if
// replace is true.
func (p *Folder) put(s *stage, changed, replace bool) (f placed, err error) {
	f.path = filepath.Join(p.dir, filepath.FromSlash(s.file))
	if changed {
		if err := p.rename(s, replace || s.there != nil); err != nil {
			return f, problem.Local("put in place", f.path, err)
		}
	}
	info, err := p.root.Lstat(s.file)
	if err != nil {
		return f, problem.Local("put in place", f.path, err)
	}
	f.size, f.modTime = info.Size(), info.ModTime()
	return f, nil
}

func (p *Folder) rename(s *stage, replace bool) error {
	from, above := path.Join(s.name, s.base), path.Dir(s.file)
	if above != "." {
		if err := p.root.MkdirAll(above, 0o777); err != nil {
			return err
		}
	}
	if !replace {
		to := path.Join(s.name, s.placing)
		if err := p.root.Rename(from, to); err != nil {
			return err
		}
		from = to
		err := p.root.Link(from, s.file)
		if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, p.sync(above))
		}
	}
	if err := p.root.Rename(from, s.file); err != nil {
		return err
	}
	return p.sync(above)
}

// sync syncs the folder dir.
func (p *Folder) sync(dir string) error {
	f, err := p.root.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// clear implements Place. If it fails, the next worker with the job removes the stage.
func (p *Folder) clear(_ context.Context, t *task, _ *fleet.Record) {
	if t.stage != nil {
		p.discard(path.Base(t.stage.name))
	}
}

// lost implements Place. If the job was not dropped, the stage now belongs to the worker that has the job. If the job
// was dropped and reported again, its next worker begins with the first fence, and has a stage of the same name.
func (p *Folder) lost(t *task, dropped bool) {
	if dropped && t.stage != nil && p.isFree(t.stage) {
		p.discard(path.Base(t.stage.name))
	}
}
