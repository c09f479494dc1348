package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"braid/antenna/release"
	"braid/fleet"
	"braid/internal/fsys"
	"braid/internal/once"
	"braid/internal/problem"
)

// The release files that a watch requested are listed in files in this folder. Workers with the same Folder may place
// versions at the same time. So a worker locks the list while it reads it, changes the link and removes files.
const lists = stages + "/releases"

const (
	// maxListed limits the files in a list if all versions are kept. The link only needs the newest file.
	maxListed = 1000
	maxList   = 16 << 20 // bytes
	lockWait  = 20 * time.Millisecond
)

// A listed is a release file that a worker has placed.
type listed struct {
	Name    string    `json:"name"` // path relative to the Folder, with slashes
	Version string    `json:"version"`
	Size    int64     `json:"size"`
	ModTime time.Time `json:"modified"`
}

// A linkError reports that something else than a link of braid is at the path of a link.
type linkError struct{}

func (linkError) Error() string { return "was not made by braid, and is kept" }

var errNoLinks = errors.New("links need a privilege on Windows")

var identity = once.Pattern(`^[0-9a-f]{24}$`)

// checkFollows returns an error if the release file cannot be placed as f requires.
func (p *Folder) checkFollows(f *fleet.Follows) error {
	switch {
	case f == nil:
		return nil
	case !identity().MatchString(f.Of):
		return problem.Misuse("job", fmt.Sprintf("%.40q identifies no releases", f.Of), "")
	case f.Link == "":
		return nil
	case runtime.GOOS == "windows":
		return problem.Local("link", f.Link, errNoLinks)
	}
	if err := CheckName(f.Link); err != nil {
		return problem.Misuse("link "+f.Link, err.Error(), "")
	}
	target, made, err := p.readLink(f.Link) // first the link: when it leads to a file, the list has the file
	if err != nil || !made {
		return err
	}
	list, err := p.listed(f.Of)
	return errors.Join(err, owned(f, target, list))
}

// readLink returns where the link at that path leads, relative to the Folder. made is false if nothing is at that path.
func (p *Folder) readLink(link string) (target string, made bool, err error) {
	target, err = p.root.Readlink(link)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, nil
	case err != nil || filepath.IsAbs(target):
		return "", false, problem.Local("link", link, linkError{})
	}
	return path.Join(path.Dir(link), filepath.ToSlash(target)), true, nil
}

// owned returns an error unless target, where the link of f leads, is in list. Only workers make links to listed files.
func owned(f *fleet.Follows, target string, list []listed) error {
	if slices.ContainsFunc(list, func(x listed) bool { return x.Name == target }) {
		return nil
	}
	return problem.Local("link", f.Link, linkError{}).WithHint("remove it, or give link = another name")
}

// listed returns the list of the given releases, sorted by version with the newest last.
func (p *Folder) listed(of string) (list []listed, err error) {
	at := filepath.Join(p.dir, filepath.FromSlash(lists), of+".json")
	data, err := fsys.ReadFile(fsys.OS, at, maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		return nil, problem.Local("releases", at, err)
	}
	return list, nil
}

// list stores the list of the given releases.
func (p *Folder) list(of string, list []listed) error {
	at := filepath.Join(p.dir, filepath.FromSlash(lists), of+".json")
	data, err := json.Marshal(list)
	if err == nil {
		err = fsys.WriteFile(fsys.OS, at, data, 0o600)
	}
	if err != nil {
		return problem.Local("releases", at, err)
	}
	return nil
}

// lock locks the list of some releases, and returns a function that unlocks it.
func (p *Folder) lock(ctx context.Context, of string) (unlock func(), err error) {
	at := filepath.Join(p.dir, filepath.FromSlash(lists))
	if err := p.root.MkdirAll(lists, 0o777); err != nil {
		return nil, problem.Local("releases", at, err)
	}
	d, err := fsys.OS.OpenDir(at)
	if err != nil {
		return nil, problem.Local("releases", at, err)
	}
	defer d.Close()
	f, err := d.Create(of+".lock", 0o600)
	if errors.Is(err, fs.ErrExist) {
		f, err = d.Open(of + ".lock")
	}
	if err != nil {
		return nil, problem.Local("releases", at, err)
	}
	for {
		locked, err := f.TryLock()
		if locked {
			return func() { f.Close() }, nil
		}
		if err != nil {
			f.Close()
			return nil, problem.Local("releases", at, err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(lockWait):
		}
	}
}

// lead adds the file of j to the list of its releases, makes the link lead to the newest version, and removes the files of
// versions that need not be kept. untidy is the error of such removals; files that could not be removed stay in the list.
func (p *Folder) lead(ctx context.Context, j *fleet.Job, in placed) (untidy, err error) {
	f := j.Follows
	if f == nil {
		return nil, nil
	}
	unlock, err := p.lock(ctx, f.Of)
	if err != nil {
		return nil, err
	}
	defer unlock()
	list, err := p.listed(f.Of)
	if err != nil {
		return nil, err
	}
	list = withFile(list, j, in)
	if err := p.list(f.Of, list); err != nil {
		return nil, err
	}
	newest := p.newest(list)
	if err := p.link(f, newest, list); err != nil {
		return nil, err
	}
	left, untidy := p.prune(f, list, j.Name, newest)
	if len(left) == len(list) {
		return untidy, nil
	}
	return errors.Join(untidy, p.list(f.Of, left)), nil
}

// withFile returns list with the file of j added, sorted by version.
func withFile(list []listed, j *fleet.Job, in placed) []listed {
	list = slices.DeleteFunc(list, func(x listed) bool { return x.Name == j.Name })
	list = append(list, listed{Name: j.Name, Version: j.Follows.Version, Size: in.size, ModTime: in.modTime})
	slices.SortStableFunc(list, func(a, b listed) int {
		return cmp.Or(release.Compare(a.Version, b.Version), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// isThere reports whether the file x is in place and has not changed since a worker placed it.
func (p *Folder) isThere(x listed) bool {
	info, err := p.root.Lstat(x.Name)
	return err == nil && info.Mode().IsRegular() && info.Size() == x.Size && info.ModTime().Equal(x.ModTime)
}

// newest returns the name of the newest file in list that is in place, or "" if none is.
func (p *Folder) newest(list []listed) string {
	for _, x := range slices.Backward(list) {
		if p.isThere(x) {
			return x.Name
		}
	}
	return ""
}

// link makes the link of f lead to newest, a file in list, unless newest is "".
func (p *Folder) link(f *fleet.Follows, newest string, list []listed) error {
	if f.Link == "" {
		return nil
	}
	had, made, err := p.readLink(f.Link)
	if err == nil && made {
		err = owned(f, had, list)
	}
	if err != nil || newest == "" || made && had == newest {
		return err
	}
	if err := p.relink(f, newest); err != nil {
		return problem.Local("link", filepath.Join(p.dir, filepath.FromSlash(f.Link)), err)
	}
	return nil
}

// relink makes the link of f lead to name, and syncs its folder. It replaces the link atomically, so that the link
// always leads to a file.
func (p *Folder) relink(f *fleet.Follows, name string) error {
	above := path.Dir(f.Link)
	target, err := filepath.Rel(filepath.FromSlash(above), filepath.FromSlash(name))
	if err != nil {
		return err
	}
	if err := p.root.MkdirAll(above, 0o777); err != nil {
		return err
	}
	next := path.Join(lists, f.Of+".link")
	if err := p.dropIfThere(next); err != nil {
		return err
	}
	if err := p.root.Symlink(target, next); err != nil {
		return err
	}
	if err := p.root.Rename(next, f.Link); err != nil {
		return err
	}
	return p.sync(above)
}

// keepsAll reports whether no version is removed. A negative number, which braid never writes, removes none either.
func keepsAll(f *fleet.Follows) bool { return f.Keep == nil || *f.Keep < 0 }

// prune removes the files of versions that need not be kept, but none of those called keep. It returns the files that
// stay in the list. A file that has changed since it was placed is not removed, but leaves the list.
func (p *Folder) prune(f *fleet.Follows, list []listed, keep ...string) (left []listed, failed error) {
	most, all := maxListed, keepsAll(f)
	if !all {
		most = *f.Keep + 1
	}
	surplus := max(0, len(list)-most)
	for _, x := range list[:surplus] {
		switch {
		case all:
		case slices.Contains(keep, x.Name):
			left = append(left, x)
		case p.isThere(x):
			if err := p.dropIfThere(x.Name); err != nil {
				failed = errors.Join(failed, err)
				left = append(left, x)
			}
		}
	}
	return append(left, list[surplus:]...), failed
}
