package serve

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestRanges_V10(t *testing.T) {
	w := start(t, map[string]string{"a": content, "empty": ""}, Options{})
	tag := w.get("/a").header.Get("ETag")
	date := longAgo.Format(http.TimeFormat)
	for _, tt := range []struct {
		fields []string
		status int
		body   string
	}{
		{nil, 200, content},
		{[]string{"Range", "bytes=0-0"}, 206, content[:1]},
		{[]string{"Range", "bytes=5-9"}, 206, content[5:10]},
		{[]string{"Range", "bytes=40-4000"}, 206, content[40:]},
		{[]string{"Range", "bytes=-3"}, 206, content[len(content)-3:]},
		{[]string{"Range", "lines=1-2"}, 200, content}, // section 14.2
		{[]string{"Range", "x=0-1"}, 200, content},
		{[]string{"Range", "bytes =0-1"}, 200, content},
		{[]string{"Range", "bytes=1-0"}, 200, content},
		{[]string{"Range", "bytes=0-1;2"}, 200, content},
		{[]string{"Range", "bytes="}, 200, content},
		{[]string{"Range", "Bytes=0-1"}, 206, content[:2]}, // section 14.1
		{[]string{"Range", "BYTES=,0-1 ,"}, 206, content[:2]},
		{[]string{"Range", "bytes=40-99999999999999999999"}, 206, content[40:]}, // section 14.1.2
		{[]string{"Range", "bytes=0-18446744073709551616"}, 206, content},
		{[]string{"Range", "bytes=-99999999999999999999"}, 206, content},
		{[]string{"Range", "bytes=-0"}, 416, "invalid range: failed to overlap\n"},
		{[]string{"Range", "bytes=-0,0-1"}, 206, content[:2]},
		{[]string{"Range", "bytes=99999999999999999999-"}, 416, "invalid range: failed to overlap\n"},
		{[]string{"Range", "bytes=99999999999999999998-99999999999999999999"}, 416, "invalid range: failed to overlap\n"},
		{[]string{"Range", "bytes=-0", "If-Range", `"other"`}, 200, content},
		{[]string{"Range", "bytes=0-0" + strings.Repeat(",0-0", maxRanges)}, 200, content},
		{[]string{"Range", "bytes=1-2", "If-Range", tag}, 206, content[1:3]},
		{[]string{"Range", "bytes=1-2", "If-Range", `"other"`}, 200, content},
		{[]string{"Range", "bytes=1-2", "If-Range", "W/" + tag}, 200, content},
		{[]string{"Range", "bytes=1-2", "If-Match", tag}, 206, content[1:3]},
		{[]string{"Range", "bytes=1-2", "If-Match", `"x", ` + tag}, 206, content[1:3]},
		{[]string{"Range", "bytes=1-2", "If-Match", `"other"`}, 412, ""},
		{[]string{"If-Match", "W/" + tag}, 412, ""},
		{[]string{"If-None-Match", tag}, 304, ""},
		{[]string{"If-None-Match", "W/" + tag}, 304, ""},
		{[]string{"If-None-Match", `"other"`}, 200, content},
		{[]string{"If-Modified-Since", date}, 304, ""},
		{[]string{"If-None-Match", `"other"`, "If-Modified-Since", date}, 200, content},
		{[]string{"If-Unmodified-Since", "Mon, 01 Jan 1990 00:00:00 GMT"}, 412, ""},
		{[]string{"Accept-Encoding", "gzip, br"}, 200, content},
	} {
		a := w.get("/a", tt.fields...)
		a.want(t, tt.status, tt.body)
		if t.Failed() {
			t.Fatalf("with %q: %v", tt.fields, a.header)
		}
		if got := a.header.Get("Content-Range"); (got == "bytes */43") != (tt.status == 416) ||
			(got == "") != (tt.status != 206 && tt.status != 416) {
			t.Errorf("with %q: %d with Content-Range %q", tt.fields, tt.status, got)
		}
		if a.header.Get("Content-Encoding") != "" || tt.status == 200 && a.header.Get("Accept-Ranges") != "bytes" {
			t.Errorf("with %q: %v", tt.fields, a.header)
		}
	}
	a := w.get("/a", "Range", "bytes=43-")
	if a.status != 416 || a.header.Get("Content-Range") != "bytes */43" {
		t.Errorf("past the end: %d, Content-Range %q", a.status, a.header.Get("Content-Range"))
	}
	for _, field := range []string{"bytes=0-", "bytes=-5", "bytes=-0", "bytes=0-0", "x=0-1"} {
		a := w.get("/empty", "Range", field)
		a.want(t, 200, "")
		if a.header.Get("Content-Range") != "" {
			t.Errorf("empty, %s: Content-Range %q", field, a.header.Get("Content-Range"))
		}
	}
	a = w.get("/a", "Range", "bytes=0-1,5-6")
	if !strings.Contains(a.body, content[:2]) || !strings.Contains(a.body, content[5:7]) || a.status != 206 || a.err != nil {
		t.Errorf("two ranges: %d %q, %v", a.status, a.body, a.err)
	}
}

// A body larger than all buffers arrives completely, in parts and as a whole.
func TestLargeFile(t *testing.T) {
	var b strings.Builder
	for i := range 1 << 17 {
		fmt.Fprintf(&b, "line %8d\n", i)
	}
	large := b.String()
	w := start(t, map[string]string{"a": large}, Options{})
	w.get("/a").want(t, 200, large)
	w.get("/a", "Range", "bytes=70001-1700000").want(t, 206, large[70001:1700001])
}

func TestMethods(t *testing.T) {
	w := start(t, map[string]string{"a": content}, Options{})
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "x"} {
		a := w.ask(method, "/a")
		a.want(t, 405, "Method Not Allowed\n")
		if a.header.Get("Allow") != "GET, HEAD" || a.header.Get("Digest") != "" {
			t.Errorf("%s: %v", method, a.header)
		}
	}
}

// raw sends a request line with a target that no client library would send.
func (w *site) raw(target string) int {
	w.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", target)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		w.t.Fatalf("%s: %v", target, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if strings.Contains(string(body), "secret") || err != nil {
		w.t.Errorf("%s: %q, %v", target, body, err)
	}
	return resp.StatusCode
}

// Nothing outside the folder and nothing hidden in it is served, for any form of the path (rule 10).
func TestNames_Rule10(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "pub")
	for name, text := range map[string]string{
		"secret": "secret", "public": "secret",
		"pub/a": "a", "pub/sub/b": "b", "pub/.hidden": "secret", "pub/.git/config": "secret", "pub/sub/.x/y": "secret",
		"pub/back\\slash": "secret", "pub/ctrl\x01": "secret", "pub/bidi\u202egpj": "secret", "pub/bad\xff": "secret",
	} {
		put(t, parent, name, text)
	}
	w := open(t, dir, Options{}, nil)
	for _, target := range []string{
		"/../secret", "/..%2fsecret", "/%2e%2e/secret", "/sub/../../secret", "/sub/..", "/./../secret", "/sub/./../a",
		"/sub/../a", "/.../a", "/a/.",
		"//a", "/sub//b", "//sub/b", "/a/", "/a/b", "/sub/b/", "/.hidden", "/%2ehidden", "/.git/config", "/.git/",
		"/.git", "/sub/.x/y",
		"/back%5cslash", "/back\\slash", "/ctrl%01", "/bidi%E2%80%AEgpj", "/bad%FF", "/sub%2fb", "/sub%2Fb", "/a%00",
		"/none", "/none/",
		"/" + strings.Repeat("x", 300), "/" + strings.Repeat("x/", 3000), "/..\\secret", "/c:/secret", "http://h/../secret",
	} {
		if got := w.raw(target); got != 404 {
			t.Errorf("%s: %d, want 404", target, got)
		}
	}
	for _, target := range []string{"/a", "/sub/b", "/%61", "/s%75b/b", "http://other.host/sub/b", "/a?../secret",
		"/sub/", "/./a", "/sub/./b", "/././a", "/sub/.", "/."} {
		if got := w.raw(target); got != 200 {
			t.Errorf("%s: %d, want 200", target, got)
		}
	}
	if list := w.get("/").body; strings.Count(list, "<a ") != 3 {
		t.Errorf("more is listed than a, sub and SHA256SUMS: %q", list)
	}
}

// Symbolic links within the folder are followed, and others do not exist. Only regular files are served.
func TestLinksAndDevices(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "pub")
	put(t, parent, "outside/secret", "secret")
	put(t, parent, "pub/a", content)
	put(t, parent, "pub/sub/b", content)
	for name, target := range map[string]string{
		"in": "a", "sub/up": "../a", "folder": "sub", "out": "../outside/secret", "outdir": "../outside",
		"abs": filepath.Join(parent, "outside", "secret"), "absin": filepath.Join(dir, "a"), "loop": "loop",
		"dangling": "nowhere",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := open(t, dir, Options{}, nil)
	for path, want := range map[string]int{
		"/in": 200, "/sub/up": 200, "/folder/b": 200, "/out": 404, "/outdir/secret": 404, "/outdir/": 404, "/abs": 404,
		"/absin": 404, "/loop": 404, "/dangling": 404, "/pipe": 404,
	} {
		if got := w.raw(path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	list := w.get("/").body
	for _, name := range []string{"out", "outdir", "abs", "absin", "loop", "dangling", "pipe"} {
		if strings.Contains(list, ">"+name) {
			t.Errorf("%s is listed, and is not there", name)
		}
	}
}

func TestList(t *testing.T) {
	w := start(t, map[string]string{
		"a.iso": content, "d/<img src=x>&\"'": "1", "d/sp ace#?%": "22", "d/.hidden": "", "d/sub/x": "", "d/javascript:x": "3",
	}, Options{})
	w.get("/").want(t, 200, "<!DOCTYPE html>\n<title>/</title>\n<h1>/</h1>\n<pre>\n"+
		"<a href=\"a.iso\">a.iso</a> 43\n<a href=\"d/\">d/</a>\n"+
		"<a href=\"SHA256SUMS\">SHA256SUMS</a>\n</pre>\n")
	a := w.get("/d/")
	a.want(t, 200, "<!DOCTYPE html>\n<title>/d</title>\n<h1>/d</h1>\n<pre>\n<a href=\"../\">../</a>\n"+
		"<a href=\"%3Cimg%20src%3Dx%3E%26%22%27\">&lt;img src=x&gt;&amp;&#34;&#39;</a> 1\n"+
		"<a href=\"javascript%3Ax\">javascript:x</a> 1\n"+
		"<a href=\"sp%20ace%23%3F%25\">sp ace#?%</a> 2\n"+
		"<a href=\"sub/\">sub/</a>\n<a href=\"SHA256SUMS\">SHA256SUMS</a>\n</pre>\n")
	if got := a.header.Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Errorf("Content-Type is %q", got)
	}
	w.get("/d/sp%20ace%23%3F%25").want(t, 200, "22")
	a = w.get("/d/sub?x=//evil")
	if a.status != 301 || a.header.Get("Location") != "sub/" {
		t.Errorf("folder without slash: %d to %q", a.status, a.header.Get("Location"))
	}
}

// Each request is logged on one line, escaped, and without the query (rules 61, 62).
func TestLog_Rule61(t *testing.T) {
	w := start(t, map[string]string{"d/a": content}, Options{})
	for _, tt := range []struct {
		path, rang string
		want       []string // method, path, status, bytes, range
	}{
		{"/d/a", "", []string{"GET", "/d/a", "200", "43", ""}},
		{"/d/a?key=secret", "bytes=1-2", []string{"GET", "/d/a", "206", "2", "bytes=1-2"}},
		{"/n%0Aone%1b[2J", "\x9b\t\"", []string{"GET", `/n%0Aone%1b[2J`, "404", "10", `\x9b\t\"`}},
	} {
		w.get(tt.path, "Range", tt.rang)
		l := w.log.next(t, "request")
		if got := []string{l["method"], l["path"], l["status"], l["bytes"], l["range"]}; !slices.Equal(got, tt.want) {
			t.Errorf("%q: line is %q, want %q", tt.path, got, tt.want)
		}
	}
	w.ask("HEAD", "/d/a")
	if l := w.log.next(t, "request"); l["method"] != "HEAD" || l["bytes"] != "0" {
		t.Errorf("line of HEAD is %q", l)
	}
	if got := printable(strings.Repeat("a", 5000)); len(got) > 1100 {
		t.Errorf("%d characters from outside in the log", len(got))
	}
}

// A file whose time is in the future has no Last-Modified (RFC 9110, section 8.8.2.1).
func TestLastModified(t *testing.T) {
	w := start(t, map[string]string{"a": content, "b": content}, Options{})
	if got, want := w.get("/a").header.Get("Last-Modified"), longAgo.Format(http.TimeFormat); got != want {
		t.Errorf("Last-Modified is %q, want %q", got, want)
	}
	future := time.Now().Add(1000 * time.Hour)
	if err := os.Chtimes(filepath.Join(w.dir, "b"), future, future); err != nil {
		t.Fatal(err)
	}
	a := w.get("/b")
	a.want(t, 200, content)
	if got := a.header.Get("Last-Modified"); got != "" {
		t.Errorf("Last-Modified is %q, in the future", got)
	}
}

// The server works below the root of a site.
func TestStripPrefix(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "d/a", content)
	put(t, dir, "d/a.asc", "sig")
	w := open(t, dir, Options{Mirrors: []Mirror{mirror(t, "http://m/base/")}}, nil)
	mux := http.NewServeMux()
	mux.Handle("/pub/", http.StripPrefix("/pub", w.s))
	web := HTTPServer(mux)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go web.Serve(l)
	t.Cleanup(func() { web.Close() })
	w.url = "http://" + l.Addr().String()
	a := w.get("/pub/d/a")
	a.want(t, 200, content)
	base := mustURL(t, w.url+"/pub/d/a")
	for relation, want := range map[string]string{"describedby": w.url + "/pub/d/a.asc", "duplicate": "http://m/base/d/a"} {
		got := a.targets(t, relation)
		if len(got) != 1 || base.ResolveReference(mustURL(t, got[0])).String() != want {
			t.Errorf("%s is %q, want %q", relation, got, want)
		}
	}
}

// FuzzRequestPath: accepted paths are below the folder and consist of safe names, and their URLs lead back to them.
func FuzzRequestPath(f *testing.F) {
	for _, s := range []string{"/", "/a", "/a/", "/a%20b/c", "/../x", "/.x", "/%2e", "/a%2fb", "//", "/a//b", "/\x00",
		"/\u202e", "x", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := url.ParseRequestURI(s)
		if err != nil {
			return
		}
		name, slash, ok := requestPath(u)
		if !ok {
			return
		}
		if !filepath.IsLocal(name) || name != "." && (filepath.ToSlash(filepath.Clean(name)) != name ||
			strings.Contains("/"+name, "/.")) {
			t.Fatalf("%q is %q", s, name)
		}
		if name == "." {
			return
		}
		back := "/" + escapePath(name)
		if slash {
			back += "/"
		}
		again, slashAgain, ok := requestPath(mustURL(t, back))
		if again != name || slashAgain != slash || !ok {
			t.Errorf("%q is %q, whose URL %q is %q, %v", s, name, back, again, ok)
		}
	})
}
