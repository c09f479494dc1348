package job

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/source"
)

// The file of anchors binds URLs to keys (rule 78). [Sites.Apply] applies it to each request, after all options and settings.

const trustName = "trust.json"

// readTrust reads the user's file of anchors. It returns nil without such a file. unread is the reason why the file
// could not be looked for, or "".
func readTrust() (t *option.Trust, unread string, err error) {
	path := SettingsFile(trustName)
	if path == "" {
		return nil, "neither HOME nor XDG_CONFIG_HOME is set to a folder", nil
	}
	there, unread, err := lookForTrust(path, os.Lstat)
	if !there || err != nil {
		return nil, unread, err
	}
	// A file that exists but cannot be read is an error: without it, files that it forbids would be accepted.
	data, err := ReadFile("trust", path, mostTrust)
	if err != nil {
		return nil, "", err
	}
	if t, err = option.ParseTrust(data); errors.Is(err, option.ErrTrustNewer) {
		return nil, "", problem.Local("trust", path, err).WithHint("update braid: a newer version wrote this file")
	}
	if err != nil {
		return nil, "", problem.Misuse(path, err.Error(),
			"restore the file, or move it away and record the keys again with braid trust add URL KEY")
	}
	return t, "", nil
}

// lookForTrust reports whether the file of anchors at path exists. It is an error if its folder exists but cannot be
// searched. If a folder above that one cannot be searched, as with sudo, which keeps HOME, nothing shows that the user
// has settings. unread is then the reason, and err is nil.
func lookForTrust(path string, lstat func(string) (fs.FileInfo, error)) (there bool, unread string, err error) {
	_, err = lstat(path)
	switch {
	case err == nil:
		return true, "", nil
	case errors.Is(err, fs.ErrNotExist):
		return false, "", nil
	case !errors.Is(err, fs.ErrPermission):
		return true, "", nil // reading the file will fail, too
	}
	dir := filepath.Dir(path)
	if _, err := lstat(dir); err != nil {
		return false, filepath.Dir(dir) + ": " + problem.Reason(err), nil
	}
	return false, "", problem.Misuse(dir, "this folder cannot be read, but may contain keys recorded by braid trust",
		"make the folder readable for this user, or set XDG_CONFIG_HOME to another folder")
}

// mostTrust limits the file of anchors, in bytes.
const mostTrust = 64 << 20

// anchorsOf parses the keys of b.
func anchorsOf(b *option.Bound) (out download.Anchors, err error) {
	files := keyFiles{}
	for i := range b.Keys {
		if err := files.sniffed("key "+b.Keys[i].Name, "", b.Keys[i].Data()); err != nil {
			return nil, err
		}
	}
	return files.anchors(nil, false)
}

// bind makes r require a signature by the keys that its URL u or one of its mirrors is bound to. No option, setting or server
// can remove that requirement (rule 78). r.Mirrors are the mirrors that the user or a client named. Mirrors that servers,
// feeds and documents name are added later and need no keys: a digest or signature decides whether their bytes are accepted.
func (s *Sites) bind(r *download.Request, u *url.URL) error {
	b, err := s.boundOf(append([]*url.URL{u}, r.Mirrors...)...)
	if b == nil || err != nil {
		return err
	}
	anchors, err := s.anchorsOf(b)
	if err == nil {
		r.Trust.Anchors, r.Trust.Require = anchors, download.RequireSignature
	}
	return err
}

// boundOf returns the entry of the file of anchors for the first of urls that has one, or nil. If urls have entries
// with different keys, it returns an error.
func (s *Sites) boundOf(urls ...*url.URL) (of *option.Bound, err error) {
	if s == nil || s.Settings == nil {
		return nil, nil
	}
	var first *url.URL
	for _, u := range urls {
		switch b, err := s.Settings.Trust.Of(u); {
		case err != nil:
			return nil, problem.Misuse(source.Mask(u), err.Error(), "")
		case b == nil:
		case of == nil:
			of, first = b, u
		case !b.SameKeys(of):
			return nil, problem.Misuse(source.Mask(u), "braid trust has other keys for this URL than for "+source.Mask(first),
				"leave one of the two out; braid trust show URL lists the keys trusted there")
		}
	}
	return of, nil
}

// boundOfAll returns the entry of the file of anchors that binds all of words. It is nil if a word is not a URL, is not
// bound, or is bound by another entry.
func (s *Sites) boundOfAll(words []string) (all *option.Bound) {
	for i, word := range words {
		u, err := ParseURL(word)
		if err != nil {
			return nil
		}
		b, err := s.boundOf(u)
		if err != nil || b == nil || i > 0 && b != all {
			return nil
		}
		all = b
	}
	return all
}

// anchorsOf returns the keys of b, and parses them at the first call.
func (s *Sites) anchorsOf(b *option.Bound) (download.Anchors, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if anchors, ok := s.bound[b]; ok {
		return anchors, nil
	}
	anchors, err := anchorsOf(b)
	if err != nil {
		p := *problem.Of(err)
		p.Where = SettingsFile(trustName) + ": " + b.URL + ": " + p.Where
		return nil, &p
	}
	if s.bound == nil {
		s.bound = map[*option.Bound]download.Anchors{}
	}
	s.bound[b] = anchors
	return anchors, nil
}

// KeyNames returns the kind of k and the names of the keys that k has. kind is "" if k cannot be used.
func KeyNames(k *option.TrustedKey) (kind string, names []string) {
	anchors, err := anchorsOf(&option.Bound{Keys: []option.TrustedKey{*k}})
	if err != nil || len(anchors) == 0 {
		return "", nil
	}
	return anchors[0].Kind().Name, anchors[0].Names()
}

// TrustKey binds the URL of b to a key. word is the text of the key, or the path of its file. changed is false if the
// URL was already bound to that key.
func TrustKey(b option.Bound, word string, now time.Time) (changed bool, err error) {
	data, err := readKey("trust add", word)
	if err != nil {
		return false, err
	}
	k := option.TrustedKey{Added: now.Format(time.DateOnly)}
	if !IsKey(word) {
		if k.Name, err = filepath.Abs(word); err != nil {
			return false, problem.Local("trust", word, err)
		}
	}
	files := keyFiles{}
	if err := files.sniffed("trust add", word, data); err != nil {
		return false, err
	}
	if _, err := files.anchors(nil, false); err != nil { // a revocation without its key
		return false, err
	}
	if k.Text = string(data); !utf8.Valid(data) {
		k.Text, k.Bytes = "", data
	}
	err = changeTrust(func(t *option.Trust) bool { changed = t.Add(b, k); return changed })
	return changed, err
}

// UntrustKeys removes from the entry for the URL of b the keys that choose accepts. It returns how many keys it removed
// and how many are left.
func UntrustKeys(b option.Bound, choose func(option.TrustedKey) bool) (removed, left int, err error) {
	err = changeTrust(func(t *option.Trust) bool { removed, left = t.Remove(b, choose); return removed > 0 })
	return removed, left, err
}

// changeTrust reads the file of anchors, calls change, and writes the file if change returns true. It is an error if
// another process is changing the file.
func changeTrust(change func(*option.Trust) bool) error {
	path := SettingsFile(trustName)
	if path == "" {
		return problem.Misuse("trust", "no folder for settings is known", "set HOME or XDG_CONFIG_HOME")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return problem.Local("trust", path, err)
	}
	lock, err := lockTrust(path)
	if err != nil {
		return err
	}
	defer lock.Close()
	t, unread, err := readTrust()
	switch {
	case err != nil:
		return err
	case unread != "":
		return problem.Misuse("trust", unread, "")
	}
	if t == nil {
		t = &option.Trust{}
	}
	if !change(t) {
		return nil
	}
	data, err := t.Format()
	if err == nil && len(data) > mostTrust {
		return problem.Misuse("trust", "the recorded keys would exceed "+option.SizeText(mostTrust), "")
	}
	if err == nil {
		err = fsys.WriteFile(nil, Resolved(path), data, 0o600)
	}
	if err != nil {
		return problem.Local("trust", path, err)
	}
	return nil
}

// lockTrust locks the file of anchors at path until the result is closed. The lock is on a separate file, because the
// file of anchors is replaced when it is written.
func lockTrust(path string) (fsys.File, error) {
	d, name, err := fsys.OpenParent(fsys.OS, path+".lock")
	if err != nil {
		return nil, problem.Local("trust", path, err)
	}
	defer d.Close()
	f, err := d.Create(name, 0o600)
	if errors.Is(err, fs.ErrExist) {
		f, err = d.Open(name)
	}
	if err != nil {
		return nil, problem.Local("trust", path, err)
	}
	switch locked, err := f.TryLock(); {
	case err != nil:
		f.Close()
		return nil, problem.Local("trust", path, err)
	case !locked:
		f.Close()
		return nil, problem.Local("trust", path, errTrustInUse).WithHint("try again")
	}
	return f, nil
}

var errTrustInUse = errors.New("another braid trust command is changing this file")
