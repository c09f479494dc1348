package option

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// How the paths of bound and requested URLs are compared. RFC 3986, section 6.2.2, defines which paths are equal.
// Servers differ in how they treat an encoded slash, a backslash, an empty segment before "..", the parameters of a
// segment, and case.

var (
	errTwoPaths = errors.New("servers may interpret the path in two ways: " +
		"write it without %2F, backslashes, semicolons, // and dot segments")
	errTwoKeys = errors.New("servers may interpret the URL's path in two ways, for which braid trust has different keys")
)

// readings returns all paths that servers may read in the URL u, as decoded segments. No two of them are equal.
func readings(u *url.URL) (all [][]string) {
	raw := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	for _, encoded := range [][]string{raw, withoutParameters(raw)} {
		for _, segments := range splits(encoded) {
			for _, s := range [][]string{segments, withoutParameters(segments)} {
				for _, merged := range []bool{true, false} {
					r := foldCase(serverOf(u), resolve(s, merged))
					if !slices.ContainsFunc(all, func(o []string) bool { return slices.Equal(o, r) }) {
						all = append(all, r)
					}
				}
			}
		}
	}
	return all
}

// splits returns the decoded segments of a path: decoded after the path is split, before, and before it is split at
// slashes and backslashes.
func splits(encoded []string) [][]string {
	after := slices.Clone(encoded)
	for i, s := range encoded {
		if plain, err := url.PathUnescape(s); err == nil {
			after[i] = plain
		}
	}
	path := strings.Join(after, "/")
	return [][]string{strings.Split(path, "/"), after, strings.Split(strings.ReplaceAll(path, `\`, "/"), "/")}
}

// withoutParameters returns segments without what follows a semicolon in each of them (RFC 3986, section 3.3). Servers
// of Java servlets ignore these parameters, before or after they decode a segment.
func withoutParameters(segments []string) []string {
	cut := make([]string, len(segments))
	for i, s := range segments {
		cut[i], _, _ = strings.Cut(s, ";")
	}
	return cut
}

// resolve removes dot segments and empty segments. If merged is true, empty segments are removed first, as by a server
// that merges slashes. Otherwise ".." may remove an empty segment (RFC 3986, section 5.2.4).
func resolve(segments []string, merged bool) (path []string) {
	for _, s := range segments {
		switch {
		case s == ".", s == "" && merged:
		case s == "..":
			path = path[:max(0, len(path)-1)]
		default:
			path = append(path, s)
		}
	}
	return slices.DeleteFunc(path, func(s string) bool { return s == "" })
}

// caseless has, for each forge, the number of leading path segments, such as owner and project, where it ignores case.
// -1 means all segments before the segment "-".
var caseless = map[string]int{
	"github.com": 2, "raw.githubusercontent.com": 2, "codeload.github.com": 2, "api.github.com": 3,
	"gitlab.com": -1, "codeberg.org": 2,
}

// foldCase changes path to lower case where server ignores case, and returns it.
func foldCase(server string, path []string) []string {
	n := min(caseless[server], len(path))
	if n < 0 {
		if n = slices.Index(path, "-"); n < 0 {
			n = len(path)
		}
	}
	for i := range path[:n] {
		path[i] = strings.ToLower(path[i])
	}
	return path
}
