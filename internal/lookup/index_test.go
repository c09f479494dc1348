package lookup

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func parseURL(t testing.TB, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestNames reads one folder as different servers list it. Apache hides some names and lighttpd the hidden file.
func TestNames(t *testing.T) {
	want := []string{
		"<b>x.iso", "SHA256SUMS", "SHA256SUMS.asc", "a b&c.iso",
		"a-very-long-file-name-that-index-pages-cut-because-their-column-is-narrow-2026.11.23-x86_64-unknown-linux-gnu.tar.gz",
		"bücher.iso", "disk-1.10.0-rc1.iso", "disk-1.2.3.iso", "disk-1.2.3.iso.sha256", "disk-1.9.tar.xz",
		"plus+percent%25.iso",
		"sha512sum.txt", "tool_2.81.0_checksums.txt",
	}
	pages, err := filepath.Glob("../../testdata/vectors/antenna-index/index-00?-*")
	pages = slices.DeleteFunc(pages, func(name string) bool { return strings.HasSuffix(name, ".expected.json") })
	if err != nil || len(pages) != 9 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		names, err := Names(parseURL(t, "https://example.org/pub/"), data)
		slices.Sort(names)
		names = slices.DeleteFunc(names, func(n string) bool { return n == ".hidden" })
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("%s: %v\ngot  %q\nwant %q", page, err, names, want)
		}
	}
}

// TestNamesInside: no link out of the folder counts.
func TestNamesInside_Rule77(t *testing.T) {
	folder := parseURL(t, "https://example.org/pub/iso/")
	for _, tt := range []struct{ href, want string }{
		{"a.iso", "a.iso"}, {"./a.iso", "a.iso"}, {"/pub/iso/a.iso", "a.iso"}, {"https://example.org/pub/iso/a.iso",
			"a.iso"},
		{"//example.org/pub/iso/a.iso", "a.iso"}, {" a.iso\n", "a.iso"}, {"a%20b", "a b"}, {"a&amp;b", "a&b"}, {"...",
			"..."},
		{"..", ""}, {"../", ""}, {"../a.iso", ""}, {"sub/a.iso", ""}, {"sub/", ""}, {"", ""}, {".", ""}, {"%2e%2e",
			""}, {"..%2fa", ""},
		{"%2fa", ""}, {"a%00b", ""}, {"a%5cb", ""}, {"?C=N;O=D", ""}, {"a.iso?x=1", ""}, {"a.iso?", ""}, {"#a", ""},
		{"a#b", ""},
		{"http://example.org/pub/iso/a.iso", ""}, {"https://mirror.example/pub/iso/a.iso", ""},
		{"//mirror.example/pub/iso/a", ""},
		{"https://example.org:8443/pub/iso/a.iso", ""}, {"https://me:pw@example.org/pub/iso/a.iso", ""},
		{"javascript:a", ""},
		{"mailto:a@example.org", ""}, {"%zz", ""}, {"/pub/isolation", ""},
	} {
		names, err := Names(folder, []byte(`<a class=x href="`+tt.href+`">cut..&gt;</a>`))
		if got := strings.Join(names, "|"); err != nil || got != tt.want {
			t.Errorf("%q: %q, %v; want %q", tt.href, got, err, tt.want)
		}
	}
	for page, want := range map[string]error{
		`<base href="https://example.org/other/"><a href="a">a</a>`: errBase,
		`<BASE><a href="a">a</a>`:                                   errBase,
		strings.Repeat("<a href=x>", 20) + hrefs(maxNames+1):        errNames,
		`[{"name":"a"}, 7]`:                                         errPage,
		`[` + objects(maxNames+1) + `]`:                             errNames,
	} {
		if names, err := Names(folder, []byte(page)); err != want || names != nil {
			t.Errorf("%.40s: %d names, %v; want %v", page, len(names), err, want)
		}
	}
	for _, page := range []string{"", "no page", `<script>"<a href=a>"</script>`, `<!-- <a href="a"> -->`,
		`<a name="a">`, "\x00\xff<a",
		`[]`, `[{"name":"d","is_dir":true},{"name":"e","type":"directory"},{"name":"../f"},{"name":""}]`} {
		if names, err := Names(folder, []byte(page)); err != nil || len(names) > 0 {
			t.Errorf("%q: %q, %v", page, names, err)
		}
	}
}

func hrefs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<a href=%d>", i)
	}
	return b.String()
}

func objects(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`{"name":"%d"}`, i))
	}
	return strings.Join(list, ",")
}

func TestSplit(t *testing.T) {
	for _, tt := range []struct{ u, folder, file string }{
		{"https://example.org/pub/disk.iso", "https://example.org/pub/", "disk.iso"},
		{"https://example.org/disk.iso?token=secret#x", "https://example.org/", "disk.iso"},
		{"https://example.org/a%2Fb/c%20d.iso", "https://example.org/a%2Fb/", "c d.iso"},
		{"https://example.org/a%20b/plus+%25.iso", "https://example.org/a%20b/", "plus+%.iso"},
		{"https://example.org/", "", ""}, {"https://example.org", "", ""}, {"https://example.org/pub/", "", ""},
		{"https://example.org/a%2Fb", "", ""}, {"https://example.org/..", "", ""},
	} {
		folder, file, ok := Split(parseURL(t, tt.u))
		if tt.file == "" {
			if ok {
				t.Errorf("%s: %v, %q", tt.u, folder, file)
			}
			continue
		}
		if !ok || folder.String() != tt.folder || file != tt.file {
			t.Errorf("%s: %v, %q, %v", tt.u, folder, file, ok)
			continue
		}
		if again := In(folder, file); again.EscapedPath() != parseURL(t, tt.u).EscapedPath() &&
			again.Path != parseURL(t, tt.u).Path {
			t.Errorf("%s: %v", tt.u, again)
		}
	}
	if got := In(parseURL(t, "https://example.org/a%2Fb/"),
		"c d/../e?").String(); got != "https://example.org/a%2Fb/c%20d%2F..%2Fe%3F" {
		t.Errorf("a name stays one segment: %s", got)
	}
}

// FuzzNames: whatever a page has, names are those of files in the folder.
func FuzzNames(f *testing.F) {
	f.Add(`<a href="a.iso">a</a><a href="../b">`)
	f.Add(`[{"name":"a","type":"file"}]`)
	folder := parseURL(f, "https://example.org/a%2Fb/c/")
	f.Fuzz(func(t *testing.T, page string) {
		names, err := Names(folder, []byte(page))
		if err != nil {
			return
		}
		for _, n := range names {
			back, file, ok := Split(In(folder, n))
			if !ok || file != n || back.String() != folder.String() {
				t.Errorf("%q: %v, %q, %v", n, back, file, ok)
			}
		}
	})
}
