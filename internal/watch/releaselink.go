package watch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"braid/internal/fsys"
	"braid/internal/mask"
)

// copies means that a copy of the file replaces the link, because a program needs a privilege to make links on Windows.
var copies = runtime.GOOS == "windows"

// A linkError reports that something else has the name of the link of a watch.
type linkError struct{ path string }

func (e *linkError) Error() string {
	return mask.Escape(e.path) + ": is kept, because braid did not make this link; remove it, or set another link ="
}

// A latestLink is the link to the current version of a watch.
type latestLink struct {
	rule   *Rule
	memory *Memory
}

// path returns the path of the link, or "" if the watch has no link.
func (l latestLink) path() string {
	if l.rule.Link == "" || l.rule.Request.Store != nil {
		return ""
	}
	return filepath.Join(l.rule.Dir, l.rule.Link)
}

// A latestObject replaces the link of a watch in an object store, because an object store has no links. It is a small
// object that contains the current version.
type latestObject struct{ rule *Rule }

// latestEnding is the ending of the name of a latestObject.
const latestEnding = ".latest"

// A latestStore is an object store that can hold latestObjects.
type latestStore interface {
	Latest(ctx context.Context, name string) (version string, err error)
	SetLatest(ctx context.Context, name, version string) error
}

// store returns the store and the name of the object. ok is false if the watch has no such object.
func (l latestObject) store() (s latestStore, name string, ok bool) {
	s, ok = l.rule.Request.Store.(latestStore)
	return s, l.rule.Link + latestEnding, ok && l.rule.Link != ""
}

// check returns an error if another object has the name of the latestObject.
func (l latestObject) check(ctx context.Context) error {
	s, name, ok := l.store()
	if !ok {
		return nil
	}
	_, err := s.Latest(ctx, name)
	return err
}

// lead records the current version.
func (l latestObject) lead(ctx context.Context, version string) error {
	s, name, ok := l.store()
	if !ok {
		return nil
	}
	return s.SetLatest(ctx, name, version)
}

// check returns an error if something else has the name of the link.
func (l latestLink) check() error {
	path := l.path()
	if path == "" {
		return nil
	}
	if copies {
		digest, err := digestOf(path)
		if err == nil && !l.memory.copied(l.rule.Name, digest) {
			return &linkError{path}
		}
		return nil
	}
	target, err := os.Readlink(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && l.rule.mayBeNamed(filepath.ToSlash(target)) {
		return nil
	}
	return &linkError{path}
}

// mayBeNamed reports whether a version of the watch may have this name.
func (r *Rule) mayBeNamed(name string) bool {
	u, err := url.Parse(r.URL)
	if err != nil || !filepath.IsLocal(name) {
		return false
	}
	return pathsOf(r.Watch, u).meets(literal(filepath.Join(r.Dir, name)))
}

// lead makes the link lead to the file called name in the folder of the watch. The link is replaced atomically, so that
// it leads to a file at all times, and it is on disk before an old version is removed.
func (l latestLink) lead(name string) error {
	path := l.path()
	if path == "" {
		return nil
	}
	if err := l.check(); err != nil {
		return err
	}
	target := filepath.FromSlash(name)
	if had, err := os.Readlink(path); err == nil && had == target && !copies {
		return nil
	}
	next := filepath.Join(l.rule.Dir, ".braid-"+l.rule.Link+".tmp")
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("link: %w", err)
	}
	var err error
	if copies {
		err = l.copy(filepath.Join(l.rule.Dir, target), next)
	} else {
		err = os.Symlink(target, next)
	}
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		return fmt.Errorf("link: %w", errors.Join(err, dropped(next)))
	}
	return syncFolder(l.rule.Dir)
}

// dropped removes a file that may be missing.
func dropped(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// copy copies file to path, and records the digest of the copy in the memory.
func (l latestLink) copy(file, path string) error {
	from, err := os.Open(file)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(to, h), from)
	if err = errors.Join(err, to.Sync(), to.Close()); err != nil {
		return err
	}
	return l.memory.copy(l.rule.Name, hex.EncodeToString(h.Sum(nil)))
}

func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func syncFolder(dir string) error {
	d, err := fsys.OS.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
