package lookup

import (
	"bytes"
	"errors"
	"net/url"
	"strings"

	"braid/antenna/feed"
	"braid/antenna/indexpage"
)

// Limits of an index page.
const (
	MaxIndex = 1 << 20 // bytes
	maxNames = 10_000
)

var (
	errNames = errors.New("it lists more than 10000 names")
	errBase  = errors.New("a base element makes its links relative to another URL")
	errPage  = errors.New("not the index of a folder")
)

// Names returns the names of the files that the index page of a folder lists, as package indexpage reads it. The
// folder's URL ends with a slash. A link is used only if it leads to a file in the folder itself.
func Names(folder *url.URL, page []byte) (names []string, err error) {
	d := indexpage.NewDecoder(bytes.NewReader(page), feed.Options{Base: folder.String()})
	seen := map[string]bool{}
	for r, err := range d.Records() {
		if err != nil {
			return nil, why(err)
		}
		if name, ok := nameIn(folder, r.URL); ok && !seen[name] {
			seen[name], names = true, append(names, name)
		}
		if len(names) > maxNames {
			return nil, errNames
		}
	}
	return names, nil
}

// why returns the reason why an index page was rejected.
func why(err error) error {
	if reject, ok := errors.AsType[*feed.RejectError](err); ok && reject.Code == indexpage.CodeBase {
		return errBase
	}
	return errPage
}

// nameIn returns the name of the file in folder to which href leads.
func nameIn(folder *url.URL, href string) (name string, ok bool) {
	u, ok := indexpage.Below(folder, href)
	if !ok {
		return "", false
	}
	name = strings.TrimPrefix(u.Path, folder.Path)
	return name, plain(name)
}

// plain reports whether name is the name of a file in a folder.
func plain(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\\\x00")
}

// In returns the URL of a file in a folder. The folder's URL ends with a slash.
func In(folder *url.URL, name string) *url.URL {
	u := *folder
	u.Path, u.RawPath = folder.Path+name, folder.EscapedPath()+url.PathEscape(name)
	u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = "", false, "", ""
	return &u
}

// Split returns the folder of the file at u and the name of the file there. It reports false if the URL names no file.
func Split(u *url.URL) (folder *url.URL, file string, ok bool) {
	escaped := u.EscapedPath()
	i := strings.LastIndexByte(escaped, '/')
	if i < 0 {
		return nil, "", false
	}
	file, err := url.PathUnescape(escaped[i+1:])
	if err != nil || !plain(file) {
		return nil, "", false
	}
	folder = &url.URL{
		Scheme: u.Scheme, User: u.User, Host: u.Host, Path: strings.TrimSuffix(u.Path, file), RawPath: escaped[:i+1],
	}
	return folder, file, true
}
