package serve

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"braid/linkheader"
	"braid/metalink"
	"braid/verify"
)

const content = "the quick brown fox jumps over the lazy dog"

// Proves V1: the SHA-256 of the whole file is in Digest, in base64 of the raw bytes, and in Repr-Digest, even if only a
// part is sent.
func TestDigest_V1(t *testing.T) {
	w := start(t, map[string]string{"a.iso": content, "empty": ""}, Options{})
	for _, tt := range []struct{ path, rang, file, body string }{
		{"/a.iso", "", content, content},
		{"/a.iso", "bytes=4-8", content, content[4:9]},
		{"/empty", "", "", ""},
	} {
		a := w.get(tt.path, "Range", tt.rang)
		sum := sha256.Sum256([]byte(tt.file))
		want := base64.StdEncoding.EncodeToString(sum[:])
		if got := a.header["Digest"]; !slices.Equal(got, []string{"SHA-256=" + want}) {
			t.Errorf("%s: Digest is %q, want %q", tt.path, got, want)
		}
		if got := a.header["Repr-Digest"]; !slices.Equal(got, []string{"sha-256=:" + want + ":"}) {
			t.Errorf("%s: Repr-Digest is %q, want %q", tt.path, got, want)
		}
		if got := a.digest(t).Bytes(); string(got) != string(sum[:]) || a.body != tt.body {
			t.Errorf("%s: digest %x of %q", tt.path, got, a.body)
		}
	}
}

// Proves V2: an answer has Link and Digest, in which a client finds the configured mirrors.
func TestLinksAndDigest_V2(t *testing.T) {
	w := start(t, map[string]string{"dir/a b,c;d>.iso": content}, Options{Mirrors: []Mirror{
		mirror(t, "http://slow.example/pub/"),
		mirror(t, "https://two.example/;pri=2;geo=FR"),
		mirror(t, "http://one.example:8080/base/x/;pri=1;geo=de;depth=2;pref"),
		mirror(t, "ftp://also.two.example/;pri=2"),
	}})
	a := w.get("/dir/a%20b,c;d%3E.iso")
	a.want(t, 200, content)
	want := []string{
		"<http://one.example:8080/base/x/dir/a%20b%2Cc%3Bd%3E.iso>; rel=duplicate; pri=1; geo=de; depth=2; pref",
		"<https://two.example/dir/a%20b%2Cc%3Bd%3E.iso>; rel=duplicate; pri=2; geo=fr",
		"<ftp://also.two.example/dir/a%20b%2Cc%3Bd%3E.iso>; rel=duplicate; pri=2",
		"<http://slow.example/pub/dir/a%20b%2Cc%3Bd%3E.iso>; rel=duplicate",
	}
	if got := a.header["Link"]; !slices.Equal(got, want) {
		t.Errorf("Link is %q\nwant %q", got, want)
	}
	hop := metalink.Hop{URL: mustURL(t, w.url+"/dir/a"), Status: a.status, Header: a.header}
	file, err := metalink.FromHops([]metalink.Hop{hop}, false)
	if err != nil || file.Server == nil || file.ETag == "" || !verify.Strong(file.Claims) || len(file.Mirrors) == 0 {
		t.Fatalf("a client understands %+v, %v", file, err)
	}
	first := file.Mirrors[0]
	if first.URL.Path != "/base/x/dir/a b,c;d>.iso" || first.Pri != 1 || !first.Pref || first.Geo != "DE" || first.Depth != 2 {
		t.Errorf("first mirror is %+v", first)
	}
}

// Only answers with a file have Link fields, but not errors or answers whose body is a message.
func TestNoLinksOnErrors_V2(t *testing.T) {
	w := start(t, map[string]string{"dir/a": content}, Options{Mirrors: []Mirror{mirror(t, "http://m/")}})
	for _, tt := range []struct {
		path, rang string
		status     int
	}{
		{"/none", "", 404}, {"/dir/", "", 200}, {"/dir", "", 301}, {"/dir/a", "bytes=1000-", 416},
	} {
		a := w.get(tt.path, "Range", tt.rang)
		if a.status != tt.status {
			t.Errorf("%s: status %d, want %d", tt.path, a.status, tt.status)
		}
		for _, field := range []string{"Link", "Digest", "Repr-Digest", "Etag"} {
			if got := a.header[field]; got != nil {
				t.Errorf("%s: %d with %s %q", tt.path, a.status, field, got)
			}
		}
	}
}

func TestMaxLinks(t *testing.T) {
	var mirrors []Mirror
	for i := range 100 {
		mirrors = append(mirrors, mirror(t, fmt.Sprintf("http://m%d/;pri=%d", i, 100-i)))
	}
	for _, tt := range []struct{ max, want int }{{0, defaultMaxLinks}, {-1, 0}, {3, 3}, {1000, 100}} {
		w := start(t, map[string]string{"a": content, "a.asc": "x"}, Options{Mirrors: mirrors, MaxLinks: tt.max})
		a := w.get("/a")
		got := a.targets(t, linkheader.Duplicate)
		if len(got) != tt.want || tt.want > 0 && (got[0] != "http://m99/a" || got[1] != "http://m98/a") {
			t.Errorf("MaxLinks %d: %d mirrors, first %q", tt.max, len(got), got)
		}
		if got := a.targets(t, linkheader.DescribedBy); !slices.Equal(got, []string{"a.asc"}) {
			t.Errorf("MaxLinks %d: documents are %q", tt.max, got)
		}
	}
}

// The header section of an answer stays within the limits of clients (rule 20), and no URL is too long (rule 36).
func TestLinkBytes_Rule20(t *testing.T) {
	var mirrors []Mirror
	for i := range 100 {
		mirrors = append(mirrors, mirror(t, fmt.Sprintf("http://m%d/%s/", i, strings.Repeat("x", 4000))))
	}
	mirrors = append(mirrors, mirror(t, "http://long/"+strings.Repeat("x", 8150)+"/;pri=1"))
	name := strings.Repeat("n", 100)
	w := start(t, map[string]string{name: content}, Options{Mirrors: mirrors, MaxLinks: 1000})
	a := w.get("/" + name)
	a.want(t, 200, content)
	if n, all := len(a.header["Link"]), len(strings.Join(a.header["Link"], "")); n < 10 || all > maxLinkBytes {
		t.Errorf("%d links with %d bytes, want at most %d", n, all, maxLinkBytes)
	}
	if got := a.targets(t, linkheader.Duplicate); strings.HasPrefix(got[0], "http://long/") {
		t.Error("a URL of more than 8 KiB is named")
	}
}

// Proves V3: HEAD has the same fields as GET, also for a mirror, for a folder, for errors, and with a Range, which has
// no meaning for HEAD.
func TestHead_V3(t *testing.T) {
	w := start(t, map[string]string{"d/a.iso": content, "d/a.iso.asc": "sig", "d/a.iso.meta4": "junk"},
		Options{Mirrors: []Mirror{mirror(t, "http://m/;pri=1;pref")}})
	for _, path := range []string{"/d/a.iso", "/d/a.iso.asc", "/d/", "/d", "/"} {
		get, head := w.get(path), w.ask(http.MethodHead, path)
		head.want(t, get.status, "")
		ranged := w.ask(http.MethodHead, path, "Range", "bytes=1-2", "If-Range", get.header.Get("ETag"))
		ranged.want(t, get.status, "")
		for _, a := range []answer{get, head, ranged} {
			a.header.Del("Date")
			a.header.Del("Content-Length")
			a.header.Del("Connection")
		}
		if !reflect.DeepEqual(get.header, head.header) || !reflect.DeepEqual(get.header, ranged.header) {
			t.Errorf("%s: GET has %v\nHEAD has %v\nHEAD with Range has %v", path, get.header, head.header, ranged.header)
		}
	}
	a := w.ask(http.MethodHead, "/d/a.iso", "Range", "bytes=1-2")
	if got := a.header.Get("Content-Length"); got != fmt.Sprint(len(content)) || len(a.links(t, linkheader.Duplicate)) != 1 {
		t.Errorf("Content-Length %s, links %q", got, a.header["Link"])
	}
}

// Proves V4: the ETag is strong, the same for the same bytes on every server, and different for other bytes.
func TestETag_V4(t *testing.T) {
	one := start(t, map[string]string{"a": content, "b": content, "c": content[1:] + "x"}, Options{})
	two := start(t, map[string]string{"sub/other name": content}, Options{MirrorOf: mustURL(t, "http://o/")})
	other := filepath.Join(two.dir, "sub", "other name")
	if err := os.Chtimes(other, time.Time{}, longAgo.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	tag := one.get("/a").header.Get("ETag")
	if len(tag) < 40 || tag[0] != '"' || tag[len(tag)-1] != '"' {
		t.Errorf("ETag is %s, want a strong one", tag)
	}
	if got := one.get("/b").header.Get("ETag"); got != tag {
		t.Errorf("a copy on the same server has %s, want %s", got, tag)
	}
	if got := two.get("/sub/other%20name").header.Get("ETag"); got != tag {
		t.Errorf("a copy on a mirror has %s, want %s", got, tag)
	}
	if got := one.get("/c").header.Get("ETag"); got == tag {
		t.Error("other bytes have the same ETag")
	}
}

// Proves V6: the requests of a client to a preferred mirror work. The mirror has the server's ETag and Digest, answers
// ranges under If-Match and If-Range, and answers 412 (S9) for another version.
func TestMirror_V6(t *testing.T) {
	origin := start(t, map[string]string{"d/a": content}, Options{})
	m := start(t, map[string]string{"d/a": content}, Options{MirrorOf: mustURL(t, "https://o.example/pub")})
	stale := start(t, map[string]string{"d/a": content + "!"}, Options{MirrorOf: mustURL(t, "https://o.example/pub/")})
	first := origin.get("/d/a")
	tag := first.header.Get("ETag")
	a := m.get("/d/a", "Range", "bytes=10-", "If-Match", tag)
	a.want(t, 206, content[10:])
	if a.digest(t) != first.digest(t) || a.header.Get("ETag") != tag || a.header.Get("Accept-Ranges") != "bytes" {
		t.Errorf("mirror answers with %v", a.header)
	}
	if got, want := a.header.Get("Content-Range"), fmt.Sprintf("bytes 10-%d/%d", len(content)-1, len(content)); got != want {
		t.Errorf("Content-Range is %q, want %q", got, want)
	}
	if got := a.header["Link"]; !slices.Equal(got, []string{"<https://o.example/pub/d/a>; rel=canonical"}) {
		t.Errorf("a mirror has Link %q", got) // C2
	}
	a = stale.get("/d/a", "Range", "bytes=10-", "If-Match", tag)
	a.want(t, 412, "")
	if a.digest(t) == first.digest(t) {
		t.Error("412 with the digest of the other version")
	}
	stale.get("/d/a", "Range", "bytes=10-", "If-Range", tag).want(t, 200, content+"!")
}

// Proves V7: pref is present if it was stated, and never for FTP.
func TestPref_V7(t *testing.T) {
	w := start(t, map[string]string{"a": content}, Options{Mirrors: []Mirror{
		mirror(t, "http://plain/"), mirror(t, "http://pref/;pref"), mirror(t, "ftp://ftp/;pref"),
		{URL: mustURL(t, "ftp://made.by.hand/"), Pref: true}, mirror(t, "FTP://upper/;pref"),
	}})
	links := w.get("/a").links(t, linkheader.Duplicate)
	if len(links) != 5 {
		t.Errorf("links are %v", links)
	}
	for _, l := range links {
		if want := l.Target == "http://pref/a"; l.Pref() != want {
			t.Errorf("%v: pref is %v, want %v", l, l.Pref(), want)
		}
	}
}

// The stated depth never exceeds the part of this folder that the mirror has (RFC 6249, section 3.4).
func TestDepth(t *testing.T) {
	w := start(t, map[string]string{"a": "", "b/a": "", "b/c/a": "", "b/c/d/a": ""},
		Options{Mirrors: []Mirror{mirror(t, "http://m/base/;depth=3")}})
	for path, want := range map[string]int{"/a": 1, "/b/a": 2, "/b/c/a": 3, "/b/c/d/a": 3} {
		if links := w.get(path).links(t, linkheader.Duplicate); len(links) != 1 || links[0].Depth() != want {
			t.Errorf("%s: %v, want depth %d", path, links, want)
		}
	}
}

// A list of mirrors that is used on all of them contains the server itself, which is left out (C2).
func TestSelf_C2(t *testing.T) {
	w := start(t, map[string]string{"a": content}, Options{})
	w.s.mirrors = []Mirror{mirror(t, w.url+"/"), mirror(t, w.url+"/other/"), mirror(t, "http://m/")}
	want := []string{w.url + "/other/a", "http://m/a"}
	if got := w.get("/a").targets(t, linkheader.Duplicate); !slices.Equal(got, want) {
		t.Errorf("mirrors are %q, want %q", got, want)
	}
}

// A mirror of one file is named for that file only.
func TestMirrorOfOneFile(t *testing.T) {
	w := start(t, map[string]string{"a/x": "1", "b/x": "2", "x": "1", "ax": "3"},
		Options{Mirrors: []Mirror{mirror(t, "http://m/pub/a/x;depth=1"), mirror(t, "http://m/pub/aa/x")}})
	for path, want := range map[string]int{"/a/x": 1, "/x": 2, "/b/x": 0, "/ax": 0} {
		got := w.get(path).targets(t, linkheader.Duplicate)
		if len(got) != want || want == 1 && got[0] != "http://m/pub/a/x" {
			t.Errorf("%s: mirrors are %q, want %d", path, got, want)
		}
	}
}
