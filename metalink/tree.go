package metalink

import (
	"net/url"
	"slices"
	"strings"
)

// A Tree is a folder on a server, copied with all its contents by a mirror. Find returns the possible URLs of other
// files of that server. Each file must still be verified.
type Tree struct {
	From *url.URL // folder on the server; its path ends with a slash
	To   *url.URL // the same folder on the mirror
}

// Tree returns the folder that m mirrors, with the file at origin in it. RFC 6249, section 3.4:
//
//	"A value of 1 means that the file and all other files and URI path segments contained in the rightmost
//	URI path segment are mirrored. For values of N, N-1 URI path segments closer to the Host are mirrored."
//
// The server and the mirror may have the tree at different paths. A parent folder counts only if it has the same name
// on both.
func (m Mirror) Tree(origin *url.URL) (t Tree, ok bool) {
	if m.Depth < 1 || !plainPath(origin) || !plainPath(m.URL) {
		return Tree{}, false
	}
	from, file := folders(origin)
	to, same := folders(m.URL)
	if file == "" || !sameSegment(file, same) {
		return Tree{}, false
	}
	for k := 1; k < m.Depth && len(from) > 0 && len(to) > 0; k++ {
		if !sameSegment(from[len(from)-1], to[len(to)-1]) {
			break
		}
		from, to = from[:len(from)-1], to[:len(to)-1]
	}
	return Tree{From: withPath(origin, from, ""), To: withPath(m.URL, to, "")}, true
}

// Find returns the URL on the mirror for the file at u on the server. ok is false if u is not in the tree.
func (t Tree) Find(u *url.URL) (at *url.URL, ok bool) {
	if !plainPath(u) || u.Scheme != t.From.Scheme || authority(u) != authority(t.From) {
		return nil, false
	}
	root, _ := folders(t.From)
	path, file := folders(u)
	if file == "" || len(path) < len(root) || !slices.EqualFunc(path[:len(root)], root, sameSegment) {
		return nil, false
	}
	to, _ := folders(t.To)
	return withPath(t.To, slices.Concat(to, path[len(root):]), file), true
}

// plainPath reports whether the path of u is usable in a tree: it has no query and no segments such as "..".
func plainPath(u *url.URL) bool {
	if u.RawQuery != "" || u.Opaque != "" || !strings.HasPrefix(u.EscapedPath(), "/") {
		return false
	}
	path, file := folders(u)
	return !slices.ContainsFunc(append(path, file), func(s string) bool {
		s = unescape(s)
		return s == "." || s == ".." || strings.ContainsAny(s, "/\\")
	}) && !slices.Contains(path, "")
}

// folders splits the path of u into its folders and the file. The segments stay escaped.
func folders(u *url.URL) (path []string, file string) {
	path = strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	return path[: len(path)-1 : len(path)-1], path[len(path)-1]
}

func sameSegment(a, b string) bool { return a == b || unescape(a) == unescape(b) }

func unescape(segment string) string {
	s, err := url.PathUnescape(segment)
	if err != nil {
		return segment
	}
	return s
}

// withPath returns u with another path and without query, fragment and user information.
func withPath(u *url.URL, path []string, file string) *url.URL {
	escaped := "/" + strings.Join(append(slices.Clip(path), file), "/")
	p := *u
	p.Path, p.RawPath = unescape(escaped), escaped
	p.User, p.Fragment, p.RawFragment = nil, "", ""
	return &p
}
