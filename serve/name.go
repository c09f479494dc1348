package serve

import (
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"braid/internal/mask"
)

// requestPath returns the path that u requests below the served folder, with slashes, or "." for the folder itself.
// slash reports whether the path of u ends with a slash. ok is false if no such file can exist.
func requestPath(u *url.URL) (name string, slash, ok bool) {
	rest, ok := strings.CutPrefix(withoutDots(u.Path), "/")
	if !ok || strings.Contains(strings.ToLower(u.EscapedPath()), "%2f") {
		return "", false, false // an escaped slash would be part of a name, and no name contains a slash
	}
	if rest == "" {
		return ".", true, true
	}
	name, slash = strings.CutSuffix(rest, "/")
	for segment := range strings.SplitSeq(name, "/") {
		if !safeName(segment) {
			return "", false, false
		}
	}
	_, err := filepath.Localize(name) // names that are invalid only on this system
	return name, slash, err == nil
}

// withoutDots removes segments that are a single dot, as a client should do (RFC 3986, section 5.2.4): apt requests
// /./Packages for flat repositories. Two dots are left, and refused as a name.
func withoutDots(p string) string {
	for strings.Contains(p, "/./") {
		p = strings.ReplaceAll(p, "/./", "/")
	}
	if strings.HasSuffix(p, "/.") {
		p = p[:len(p)-1]
	}
	return p
}

// prefix returns the prefix that http.StripPrefix removed from the path of r, or an empty string.
func prefix(r *http.Request) string {
	asked, err := url.ParseRequestURI(r.RequestURI)
	if err != nil {
		return ""
	}
	before, ok := strings.CutSuffix(asked.Path, r.URL.Path)
	if !ok {
		return ""
	}
	return before
}

// safeName reports whether a file or folder of this name is served (rule 10). Names that begin with a dot are excluded:
// hidden files, "." and "..". Some file systems ignore invisible characters (HFS+, ext4 with case folding), so ".git"
// has other spellings, which are excluded as well.
func safeName(s string) bool {
	if strings.HasPrefix(strings.TrimLeftFunc(s, isIgnored), ".") || s == "" || !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r == '/' || r == '\\' || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	})
}

// isIgnored reports whether a file system may ignore r in a name.
func isIgnored(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// isAlias reports whether a name may be a short name that Windows file systems give a file in addition to its own:
// GIT~1 may be .git.
func isAlias(name string) bool {
	base, ending, _ := strings.Cut(name, ".")
	tilde := strings.LastIndexByte(base, '~')
	return tilde > 0 && len(base) <= 8 && len(ending) <= 3 && tilde < len(base)-1 && strings.Trim(base[tilde+1:],
		"0123456789") == ""
}

// spelled reports whether the path consists of the actual names of folders and files, without aliases.
func spelled(root *os.Root, name string) bool {
	folder := "."
	for segment := range strings.SplitSeq(name, "/") {
		if isAlias(segment) && !lists(root, folder, segment) {
			return false
		}
		folder = path.Join(folder, segment)
	}
	return true
}

// lists reports whether a folder has an entry with that actual name. It reads only a part of the folder at a time, and
// nothing of it without such an entry or alias, because any client can send such a name (V9).
func lists(root *os.Root, folder, name string) bool {
	if _, err := root.Lstat(filepath.FromSlash(path.Join(folder, name))); err != nil {
		return false
	}
	f, err := root.Open(filepath.FromSlash(folder))
	if err != nil {
		return false
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(1000)
		if slices.Contains(names, name) || err != nil {
			return err == nil
		}
	}
}

// escapePath encodes a path for a URL. It encodes more than necessary: many readers of Link fields split the fields at
// every comma or semicolon, and every server treats "%2C" in a path as a comma.
func escapePath(p string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(p) {
		c := p[i]
		if unreserved(c) || c == '/' {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return b.String()
}

// plainURL returns u, which checkURL has accepted, with commas and semicolons encoded.
func plainURL(u *url.URL) string {
	return strings.NewReplacer(",", "%2C", ";", "%3B").Replace(u.String())
}

// unreserved reports whether c is an unreserved character (RFC 3986, section 2.3).
func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// printable returns the external text s in a form for the log.
func printable(s string) string {
	q := mask.Quote(s, 1024)
	return q[1 : len(q)-1]
}
