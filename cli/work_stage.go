package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"braid/fleet"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/metalink"
)

// A workplace is the folder that workers put files in. Unfinished ones are in folders of their own below it, one for each fence: who takes a
// job over gives that of the worker before the name of its own. So a worker that is late finds nothing to put in place.
type workplace struct {
	root *os.Root
	dir  string
}

// stages is the folder of the unfinished.
const stages = ".braid-work"

func openWorkplace(dir string) (*workplace, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, stages), 0o777)
	}
	if err != nil {
		return nil, localFailure("work", dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, localFailure("work", dir, err)
	}
	return &workplace{root, dir}, nil
}

func (p *workplace) close() { p.root.Close() }

// A stage is the folder of one try.
type stage struct {
	name  string // below that of the place
	dir   string // of both
	base  string // the last name of the file
	file  string // its path below the place
	there os.FileInfo
}

// stage makes the folder of a try, with what the try before has left, and with the file that is there.
func (p *workplace) stage(j *fleet.Job, fence uint64) (*stage, error) {
	if err := metalink.CheckPath(j.Name); err != nil || strings.HasPrefix(j.Name, stages) {
		return nil, misuse("job "+j.Name, "no name for a file", "")
	}
	s := &stage{name: path.Join(stages, fmt.Sprintf("%s-%d", j.Key(), fence)), base: path.Base(j.Name), file: j.Name}
	s.dir = filepath.Join(p.dir, s.name)
	err := p.inherit(s, j.Key()+"-")
	if err == nil {
		err = p.showWhatIsThere(s)
	}
	if err != nil {
		return nil, localFailure("stage", s.dir, err)
	}
	return s, nil
}

// inherit takes what the last worker has left. If its process is still there, though it was not heard of, that begins anew: it has the files open.
func (p *workplace) inherit(s *stage, prefix string) error {
	names, err := fs.ReadDir(p.root.FS(), stages)
	if err != nil {
		return err
	}
	var before []string
	for _, e := range names {
		if strings.HasPrefix(e.Name(), prefix) && path.Join(stages, e.Name()) != s.name {
			before = append(before, e.Name())
		}
	}
	slices.SortFunc(before, func(a, b string) int { return cmp.Compare(fenceOf(a), fenceOf(b)) })
	for i, name := range before {
		old := path.Join(stages, name)
		if i == len(before)-1 && p.root.Rename(old, s.name) == nil {
			if p.isFree(s) {
				return p.dropIfThere(path.Join(s.name, s.base))
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

func fenceOf(name string) uint64 {
	n, _ := strconv.ParseUint(name[strings.LastIndexByte(name, '-')+1:], 10, 64)
	return n
}

// isFree reports whether no process has the part file open.
func (p *workplace) isFree(s *stage) bool {
	if _, err := p.root.Lstat(path.Join(s.name, s.base+".part")); err != nil {
		return true
	}
	f, err := partfile.Open(fsys.OS, s.dir, s.base)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

func (p *workplace) dropIfThere(name string) error {
	err := p.root.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// showWhatIsThere gives the file that is there a second name in the stage: a download there finds it as it would in its place. On a file
// system without second names the file is fetched whole.
func (p *workplace) showWhatIsThere(s *stage) error {
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
	if err := p.dropIfThere(path.Join(s.name, s.base)); err != nil {
		return err
	}
	if err := p.root.Link(s.file, path.Join(s.name, s.base)); err != nil {
		s.there = nil
	}
	return nil
}

// is reports whether the file that is there is the one of an ending.
func (s *stage) is(e *fleet.Ending) bool {
	return s.there != nil && s.there.Size() == e.Size && s.there.ModTime().Equal(e.ModTime)
}

// A placed file is one in its place.
type placedFile struct {
	path    string
	size    int64
	modTime time.Time
}

// put gives the file of a stage its name, if it is another one than is there. One that came there meanwhile is replaced only if that was asked for.
func (p *workplace) put(s *stage, changed, replace bool) (f placedFile, err error) {
	f.path = filepath.Join(p.dir, filepath.FromSlash(s.file))
	if changed {
		if err := p.rename(s, replace || s.there != nil); err != nil {
			return f, localFailure("put in place", f.path, err)
		}
	}
	info, err := p.root.Lstat(s.file)
	if err != nil {
		return f, localFailure("put in place", f.path, err)
	}
	f.size, f.modTime = info.Size(), info.ModTime()
	return f, nil
}

func (p *workplace) rename(s *stage, replace bool) error {
	from, above := path.Join(s.name, s.base), path.Dir(s.file)
	if err := p.root.MkdirAll(above, 0o777); err != nil {
		return err
	}
	if !replace {
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
func (p *workplace) sync(dir string) error {
	f, err := p.root.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// clear removes the stage of a job that is over. What stays is taken by the next worker of it.
func (p *workplace) clear(s *stage) {
	if s != nil {
		p.root.RemoveAll(s.name)
	}
}
