package metalink

import (
	"net/url"
	"slices"
	"strings"
)

// A Tree is a folder of a server that a mirror has as well, with all that is in it. It says where other files
// of that server may lie; of what they are it says nothing, and each has to be proven like any other.
type Tree struct {
	From *url.URL // the folder on the server; its path ends with a slash
	To   *url.URL // the same on the mirror
}

// Tree is what m mirrors around the file that is at origin on the server. RFC 6249, section 3.4:
//
//	"A value of 1 means that the file and all other files and URI path segments contained in the rightmost
//	URI path segment are mirrored. For values of N, N-1 URI path segments closer to the Host are mirrored."
//
// Server and mirror may have the tree in different places. Of the folders above the file's own those count that
// have the same names on both.
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

// Find is where the mirror has the file that is at u on the server, if that is in the tree.
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

// plainPath says that u is a path in a tree: without a query, and without segments that lead elsewhere.
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

// folders takes the path of u apart. Its segments are as they are written.
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

// withPath is u with another path and nothing after it.
func withPath(u *url.URL, path []string, file string) *url.URL {
	escaped := "/" + strings.Join(append(slices.Clip(path), file), "/")
	p := *u
	p.Path, p.RawPath = unescape(escaped), escaped
	p.User, p.Fragment, p.RawFragment = nil, "", ""
	return &p
}
