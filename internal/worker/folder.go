package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"braid/download"
	"braid/fleet"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/internal/problem"
)

// A Folder is the folder that workers put files in. Unfinished ones are in folders of their own below it, one for
// each fence: a worker that takes a job over renames the folder of the worker before it. So a worker that is late
// finds nothing to put in place.
type Folder struct {
	root *os.Root
	dir  string
}

// stages is the folder of the unfinished.
const stages = ".braid-work"

// OpenFolder opens the folder for a worker. It makes it if it is missing.
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

// prepare implements Place.
func (p *Folder) prepare(t *task, r *download.Request) (there *placed, err error) {
	replace := r.Overwrite || r.IfNewer
	if t.stage, err = p.stage(&t.claim.Record.Job, t.claim.Fence(), replace); err != nil {
		return nil, err
	}
	t.stage.replace = replace || t.stage.ours
	r.Dir, r.Name, r.MakeDir = t.stage.dir, t.stage.base, false
	r.Overwrite = r.Overwrite || t.stage.ours || t.stage.kept
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
	return p.put(t.stage, changed, t.stage.replace)
}

// A stage is the folder of one try.
type stage struct {
	name    string // below that of the place
	dir     string // of both
	base    string // the last name of the file
	placing string
	file    string // its path below the place
	there   os.FileInfo
	ours    bool // an earlier try of the job has put it there, and was killed before it told
	kept    bool // an earlier try has fetched the file that is in the stage, and could not put it in place
	replace bool // the file that is there
}

// placing is the name of a file of the job while it gets its own: it says whose file stands there, if the worker is
// killed then.
func placing(j *fleet.Job) string { return "." + j.ID() + ".placing" }

// stage makes the folder of a try, with what the try before has left, and with the file that is there. A whole file
// that was left stands there in its place, if one that is there may be replaced.
func (p *Folder) stage(j *fleet.Job, fence uint64, replace bool) (*stage, error) {
	if strings.HasPrefix(j.Name, stages) {
		return nil, problem.Misuse("job "+j.Name, errStages.Error(), "")
	}
	s := &stage{name: path.Join(stages, fmt.Sprintf("%s-%d", j.Key(), fence)), base: path.Base(j.Name),
		placing: placing(j), file: j.Name}
	s.dir = filepath.Join(p.dir, s.name)
	err := p.inherit(s, j.Key()+"-")
	if err == nil {
		err = p.showWhatIsThere(s, replace)
	}
	if err != nil {
		return nil, problem.Local("stage", s.dir, err)
	}
	return s, nil
}

// inherit gives a stage what the last worker has left. If that process still has the part file open, the stage
// begins empty.
func (p *Folder) inherit(s *stage, prefix string) error {
	before, err := p.namesIn(stages)
	if err != nil {
		return err
	}
	own := path.Base(s.name)
	before = slices.DeleteFunc(before, func(name string) bool { return !strings.HasPrefix(name, prefix) || name == own })
	slices.SortFunc(before, func(a, b string) int { return cmp.Compare(fenceOf(a), fenceOf(b)) })
	for i, name := range before {
		old := path.Join(stages, name)
		if i == len(before)-1 && p.root.Rename(old, s.name) == nil {
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

// namesIn is what is in a folder. fs.ReadDir would look at each entry, too, and most are of other jobs.
func (p *Folder) namesIn(dir string) ([]string, error) {
	f, err := p.root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// keep keeps the whole file that the last worker has fetched: the queue may have been away when it was to get its
// name. A second name of the file that is there is none.
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

func fenceOf(name string) uint64 {
	n, _ := strconv.ParseUint(name[strings.LastIndexByte(name, '-')+1:], 10, 64)
	return n
}

// isFree reports whether no process has the part file open.
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

// same reports whether two names are of one file.
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

// showWhatIsThere gives the file that is there a second name in the stage: a download there finds it as it would in
// its place. On a file system without second names the file is fetched whole.
func (p *Folder) showWhatIsThere(s *stage, replace bool) error {
	info, err := p.root.Lstat(s.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "open", Path: s.file, Err: errors.New("is no ordinary file")}
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

// put gives the file of a stage its name, if changed is true. A file that came there meanwhile is replaced only if
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

// sync has the names in a folder on disk.
func (p *Folder) sync(dir string) error {
	f, err := p.root.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// clear implements Place. What stays is taken by the next worker of the job.
func (p *Folder) clear(_ context.Context, t *task, _ *fleet.Record) {
	if t.stage != nil {
		p.root.RemoveAll(t.stage.name)
	}
}

// lost implements Place: the folder is that of the worker which has the job now.
func (*Folder) lost(*task) {}
