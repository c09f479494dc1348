package metalink

import (
	"net/url"
	"strings"
	"testing"
)

func at(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestTree checks which other files a mirror with a depth has (RFC 6249, section 3.4). An empty want means that the
// mirror is not known to have the file.
func TestTree(t *testing.T) {
	const (
		rfc = "http://www2.example.com/dir1/dir2/dir3/dir4/dir5/example.ext"
		own = "http://www.example.com/dir1/dir2/dir3/dir4/dir5/example.ext"
	)
	for _, tt := range []struct {
		origin, mirror string
		depth          int
		file, want     string
	}{
		// This is the example of the RFC: "four URI path segments closer to the Host are mirrored, from /dir2/ and all
		// files and directories included".
		{own, rfc, 4, "http://www.example.com/dir1/dir2/dir3/dir4/dir5/other.ext",
			"http://www2.example.com/dir1/dir2/dir3/dir4/dir5/other.ext"},
		{own, rfc, 4, "http://www.example.com/dir1/dir2/other.ext", "http://www2.example.com/dir1/dir2/other.ext"},
		{own, rfc, 4, "http://www.example.com/dir1/dir2/new/deep/other.ext",
			"http://www2.example.com/dir1/dir2/new/deep/other.ext"},
		{own, rfc, 4, "http://www.example.com/dir1/other.ext", ""},
		{own, rfc, 4, "http://www.example.com/dir1/dir2x/other.ext", ""},
		{own, rfc, 4, "http://www2.example.com/dir1/dir2/other.ext", ""},
		{own, rfc, 4, "https://www.example.com/dir1/dir2/other.ext", ""},
		{own, rfc, 99, "http://www.example.com/other.ext", "http://www2.example.com/other.ext"},

		// Depth 0 mirrors no other file, and depth 1 the folder of the file.
		{"http://h/a/f", "http://m/a/f", 0, "http://h/a/g", ""},
		{"http://h/a/f", "http://m/a/f", 1, "http://h/a/g", "http://m/a/g"},
		{"http://h/a/f", "http://m/a/f", 1, "http://h/a/b/g", "http://m/a/b/g"},
		{"http://h/a/f", "http://m/a/f", 1, "http://h/g", ""},
		{"http://h/f", "http://m/f", 1, "http://h/g", "http://m/g"},

		// The tree may have another path on the mirror.
		{"http://h/iso/12/f", "https://m/pub/debian/12/f", 1, "http://h/iso/12/g", "https://m/pub/debian/12/g"},
		{"http://h/iso/12/f", "https://m/pub/debian/12/f", 2, "http://h/iso/13/g", "https://m/pub/debian/13/g"},
		{"http://h/iso/12/f", "https://m/pub/debian/12/f", 3, "http://h/iso/13/g", "https://m/pub/debian/13/g"},
		{"http://h/iso/12/f", "https://m/pub/debian/12/f", 3, "http://h/other/g", ""},
		{"http://h/a/x/f", "http://m/a/y/f", 2, "http://h/a/x/g", "http://m/a/y/g"},
		{"http://h/a/x/f", "http://m/a/y/f", 2, "http://h/a/z/g", ""},
		{"http://h/a/b/f", "http://m/b/f", 3, "http://h/a/c/g", "http://m/c/g"},

		// Names are compared after unescaping, and the URL found has them as they were written.
		{"http://h/%7Ea/f%20g", "http://m/~a/f%20g", 2, "http://h/b/a%2Bb", "http://m/b/a%2Bb"},
		{"http://h:80/a/f", "http://m/a/f", 1, "http://H/a/g", "http://m/a/g"},

		// No path leads out of the tree, and a URL with a query or without a file name has no tree.
		{"http://h/a/f", "http://m/a/f", 1, "http://h/a/../g", ""},
		{"http://h/a/f", "http://m/a/f", 1, "http://h/a/%2e%2e/g", ""},
		{"http://h/a/f", "http://m/a/f", 1, "http://h/a/..%2fg", ""},
		{"http://h/a/f", "http://m/a/f", 1, "http://h/a/b/", ""},
		{"http://h/a/f", "http://m/a/f", 1, "http://h/a/g?x", ""},
		{"http://h/a/f", "http://m/a/get?f", 1, "http://h/a/g", ""},
		{"http://h/a/f?x", "http://m/a/f", 1, "http://h/a/g", ""},
		{"http://h/a/f", "http://m/a/other", 1, "http://h/a/g", ""},
		{"http://h/a/f", "http://m/a//f", 1, "http://h/a/g", ""},
		{"http://h/a/", "http://m/a/", 1, "http://h/a/g", ""},
	} {
		m := Mirror{URL: at(t, tt.mirror), Depth: tt.depth}
		got := ""
		if tree, ok := m.Tree(at(t, tt.origin)); ok {
			if u, ok := tree.Find(at(t, tt.file)); ok {
				got = u.String()
			}
		}
		if got != tt.want {
			t.Errorf("%s on %s with depth %d has %s at %q, want %q", tt.origin, tt.mirror, tt.depth, tt.file, got, tt.want)
		}
	}
}

// FuzzTree checks that Find returns only URLs on the mirror's host, below the mirrored folder, and that it finds the
// file itself at the URL of the mirror.
func FuzzTree(f *testing.F) {
	f.Add("http://h/a/b/f", "http://m/x/b/f", 2, "http://h/a/c/g")
	f.Add("http://h/%7ea/f", "http://m/~a/f", 3, "http://h/%2e%2e/g")
	f.Add("http://h//f", "http://m/f?x", 1, "http://h/a\\b/g")
	f.Fuzz(func(t *testing.T, origin, mirror string, depth int, file string) {
		o, err1 := url.Parse(origin)
		m, err2 := url.Parse(mirror)
		s, err3 := url.Parse(file)
		if err1 != nil || err2 != nil || err3 != nil {
			return
		}
		tree, ok := Mirror{URL: m, Depth: depth}.Tree(o)
		if !ok {
			return
		}
		if self, ok := tree.Find(o); !ok || unescape(self.EscapedPath()) != unescape(m.EscapedPath()) {
			t.Fatalf("%v itself is at %v, %v", o, self, ok)
		}
		u, ok := tree.Find(s)
		if !ok {
			return
		}
		back, err := url.Parse(u.String())
		if err != nil || back.Host != m.Host || back.Scheme != m.Scheme || back.RawQuery != "" {
			t.Fatalf("%v is at %v (%v)", s, u, err)
		}
		if !strings.HasPrefix(back.EscapedPath(), tree.To.EscapedPath()) ||
			back.JoinPath(".").EscapedPath() != back.EscapedPath() {
			t.Fatalf("%v is at %v, not below %v", s, u, tree.To)
		}
	})
}
