package serve

import (
	"io/fs"
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

// requestPath is the path below the served folder that u asks for, with slashes, "." for the folder itself,
// and whether u asks for it with a slash at the end. It is not ok if there can be no such file here.
func requestPath(u *url.URL) (name string, slash, ok bool) {
	rest, ok := strings.CutPrefix(withoutDots(u.Path), "/")
	if !ok || strings.Contains(strings.ToLower(u.EscapedPath()), "%2f") {
		return "", false, false // an escaped slash belongs to a name, and no name has one
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
	_, err := filepath.Localize(name) // what only this system cannot have as a name
	return name, slash, err == nil
}

// withoutDots leaves out the segments that are one dot, as a client should have (RFC 3986, section 5.2.4): apt asks for
// /./Packages where a repository is flat. Two dots are no name of a file.
func withoutDots(p string) string {
	for strings.Contains(p, "/./") {
		p = strings.ReplaceAll(p, "/./", "/")
	}
	if strings.HasSuffix(p, "/.") {
		p = p[:len(p)-1]
	}
	return p
}

// prefix is what http.StripPrefix took from the path of r, or "".
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

// safeName says that a file or folder of this name is served (rule 10). One dot at the beginning covers hidden files,
// "." and "..". Some file systems ignore characters that say nothing (HFS+, ext4 with folded case), so that ".git" has
// other names, too.
func safeName(s string) bool {
	if strings.HasPrefix(strings.TrimLeftFunc(s, isIgnored), ".") || s == "" || !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r == '/' || r == '\\' || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	})
}

// isIgnored reports whether a file system may take a name without r for the same.
func isIgnored(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// isAlias reports whether a name may be the short one that file systems of Windows give a file beside its own: GIT~1 is
// .git there.
func isAlias(name string) bool {
	base, ending, _ := strings.Cut(name, ".")
	tilde := strings.LastIndexByte(base, '~')
	return tilde > 0 && len(base) <= 8 && len(ending) <= 3 && tilde < len(base)-1 && strings.Trim(base[tilde+1:], "0123456789") == ""
}

// spelled reports whether the path is written with the names of its folders and of its file, and with no other ones
// that lead to them.
func spelled(root *os.Root, name string) bool {
	folder := "."
	for segment := range strings.SplitSeq(name, "/") {
		if isAlias(segment) {
			entries, err := fs.ReadDir(root.FS(), folder)
			if err != nil || !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == segment }) {
				return false
			}
		}
		folder = path.Join(folder, segment)
	}
	return true
}

// escapePath is a path as in a URL. More is escaped than has to be: readers of Link fields that split them
// at every comma or semicolon are common, and no server takes "%2C" in a path for another file.
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

// plainURL is u, which checkURL has passed, with as much escaped in its path.
func plainURL(u *url.URL) string {
	return strings.NewReplacer(",", "%2C", ";", "%3B").Replace(u.String())
}

// unreserved characters mean the same everywhere in a URL (RFC 3986, section 2.3).
func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// printable is s, which came from outside, for a log.
func printable(s string) string {
	q := mask.Quote(s, 1024)
	return q[1 : len(q)-1]
}
