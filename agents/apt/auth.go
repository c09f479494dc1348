package apt

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"braid/internal/once"
)

// mostAuth limits the size of a file with passwords.
const mostAuth = 1 << 20

// A login is an entry of apt's auth.conf (apt_auth.conf(5)).
type login struct {
	scheme         string // "" means https only
	place          string // host or host:port, possibly with the beginning of a path
	name, password string
}

// readLogins reads auth.conf and auth.conf.d. A file that cannot be read is ignored, because apt requires no such file.
func readLogins(s *settings) (all []login) {
	var files []string
	if f := s.file("Dir::Etc::netrc"); f != "" {
		files = append(files, f)
	}
	if dir := s.file("Dir::Etc::netrcparts"); dir != "" {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries { // sorted by name
			if partName().MatchString(e.Name()) {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
	}
	for _, name := range files {
		if data, err := readSmall(name, mostAuth); err == nil {
			all = append(all, parseLogins(string(data))...)
		}
	}
	return all
}

// partName matches the names of files that apt reads in a folder.
var partName = once.Pattern(`^[A-Za-z0-9_-]+[A-Za-z0-9_.-]*\.conf$|^[A-Za-z0-9_-]+$`)

// parseLogins parses words separated by white space. Words before the first machine are ignored.
func parseLogins(text string) (all []login) {
	words := strings.Fields(text)
	for i := 0; i+1 < len(words); i += 2 {
		last := len(all) - 1
		switch word, value := words[i], words[i+1]; {
		case word == "machine":
			scheme, place, ok := strings.Cut(value, "://")
			if !ok {
				scheme, place = "", value
			}
			all = append(all, login{scheme: strings.TrimPrefix(scheme, "braid+"), place: place})
		case last >= 0 && word == "login":
			all[last].name = value
		case last >= 0 && word == "password":
			all[last].password = value
		default:
			i-- // an unknown word, without a value
		}
	}
	return all
}

// credentials returns the name and password in the URL, else of the first entry that covers the URL, or nil. plain is
// the place of an entry that was ignored because the URL is not https and the entry has no scheme, or "".
func credentials(all []login, u *url.URL) (user *url.Userinfo, plain string) {
	if u.User != nil {
		return u.User, ""
	}
	i := slices.IndexFunc(all, func(l login) bool {
		if l.scheme == "" && u.Scheme != "https" && l.covers(u) && plain == "" {
			plain = l.place
		}
		return (l.scheme == u.Scheme || l.scheme == "" && u.Scheme == "https") && l.covers(u)
	})
	if i < 0 {
		return nil, plain
	}
	return url.UserPassword(all[i].name, all[i].password), ""
}

// covers reports whether the entry is for the URL.
func (l login) covers(u *url.URL) bool {
	host, beginning, _ := strings.Cut(l.place, "/")
	if !strings.EqualFold(host, u.Host) && (strings.Contains(l.place, "/") || !strings.EqualFold(host, u.Hostname())) {
		return false
	}
	return strings.HasPrefix(u.EscapedPath(), "/"+beginning) || beginning == ""
}
