package lookup

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"braid/address"
)

// Limits of an index page.
const (
	MaxIndex = 1 << 20 // bytes
	maxNames = 10_000
)

var (
	errNames = errors.New("it lists more than 10000 names")
	errBase  = errors.New("its links are not relative to itself")
	errJSON  = errors.New("not the index of a folder")
)

// Names returns the names of the files that the index page of a folder lists. The folder's URL ends with a slash. Names
// reads pages of nginx, Apache, lighttpd, Caddy, Artifactory and others, and the JSON of nginx and Caddy. It uses the
// targets of links, because their texts may be truncated. A link counts only if it leads to a file in the folder itself.
func Names(folder *url.URL, page []byte) (names []string, err error) {
	if page = bytes.TrimSpace(page); len(page) > 0 && page[0] == '[' {
		return namesOfJSON(page)
	}
	seen := map[string]bool{}
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken: // the end
			return names, nil
		case html.StartTagToken, html.SelfClosingTagToken:
		default:
			continue
		}
		tag, more := z.TagName()
		switch string(tag) {
		case "base":
			return nil, errBase
		case "a":
		default:
			continue
		}
		for more {
			var key, value []byte
			key, value, more = z.TagAttr()
			if string(key) != "href" {
				continue
			}
			if name, ok := nameIn(folder, string(value)); ok && !seen[name] {
				seen[name], names = true, append(names, name)
			}
			if len(names) > maxNames {
				return nil, errNames
			}
		}
	}
}

// nameIn returns the name of the file in the folder that a link leads to.
func nameIn(folder *url.URL, href string) (name string, ok bool) {
	u, err := folder.Parse(strings.Trim(href, " \t\r\n"))
	if err != nil || u.Scheme != folder.Scheme || u.Host != folder.Host || u.User != nil && folder.User == nil ||
		u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return "", false
	}
	name, ok = strings.CutPrefix(u.Path, folder.Path)
	return name, ok && plain(name)
}

// plain reports whether name is that of a file in a folder.
func plain(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\\\x00")
}

// namesOfJSON reads the index that nginx and Caddy write as JSON.
func namesOfJSON(page []byte) (names []string, err error) {
	var entries []struct {
		Name string `json:"name"`
		Type string `json:"type"`
		Dir  bool   `json:"is_dir"`
	}
	if json.Unmarshal(page, &entries) != nil {
		return nil, errJSON
	}
	if len(entries) > maxNames {
		return nil, errNames
	}
	for _, e := range entries {
		if plain(e.Name) && !e.Dir && (e.Type == "" || e.Type == "file") {
			names = append(names, e.Name)
		}
	}
	return names, nil
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

// SameHost reports whether two URLs are of one server: scheme, host and port are the same, or http on its default
// port has become https on its own.
func SameHost(a, b *url.URL) bool {
	if a.Scheme == b.Scheme {
		return address.HostPort(a) == address.HostPort(b)
	}
	before, plain := strings.CutSuffix(address.HostPort(a), ":80")
	after, secure := strings.CutSuffix(address.HostPort(b), ":443")
	return a.Scheme == "http" && b.Scheme == "https" && plain && secure && before == after
}
