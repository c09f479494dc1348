package follow

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"braid/antenna/feed"
	"braid/antenna/indexpage"
	"braid/antenna/release"
	"braid/antenna/releaseapi"
)

func parse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestKnown(t *testing.T) {
	for _, tt := range []struct{ page, feed, name string }{
		{"https://github.com/cli/cli", "https://api.github.com/repos/cli/cli/releases?per_page=100", "cli"},
		{"https://GitHub.com:443/cli/cli.git", "https://api.github.com/repos/cli/cli/releases?per_page=100", "cli"},
		{"https://github.com/o/a.b/releases/tag/v1?x=y#z", "https://api.github.com/repos/o/a.b/releases?per_page=100", "a.b"},
		{"https://api.github.com/repos/cli/cli/releases", "https://api.github.com/repos/cli/cli/releases?per_page=100", "cli"},
		{"https://github.com/cli", "", ""},
		{"https://github.com.evil.example/cli/cli", "", ""},
		{"http://github.com/cli/cli", "", ""},
		{"https://gitlab.com/g/h/p/-/releases", "https://gitlab.com/api/v4/projects/g%2Fh%2Fp/releases?per_page=100", "p"},
		{"https://gitlab.com/g/p.git", "https://gitlab.com/api/v4/projects/g%2Fp/releases?per_page=100", "p"},
		{"https://codeberg.org/o/r/releases", "https://codeberg.org/api/v1/repos/o/r/releases?limit=50", "r"},
		{"https://pypi.org/project/requests/", "https://pypi.org/pypi/requests/json", "requests"},
		{"https://pypi.org/project/requests/2.0/", "https://pypi.org/pypi/requests/json", "requests"},
		{"https://crates.io/crates/serde", "https://crates.io/api/v1/crates/serde", "serde"},
	} {
		s, ok := Known(parse(t, tt.page))
		if ok != (tt.feed != "") || s.Feed != tt.feed || s.Name != tt.name {
			t.Errorf("%s: %+v, %v", tt.page, s, ok)
		}
	}
}

func TestProbes(t *testing.T) {
	var feeds []string
	for _, s := range Probes(parse(t, "http://git.example:3000/o/r/releases")) {
		feeds = append(feeds, s.Feed)
	}
	want := []string{
		"http://git.example:3000/api/v1/repos/o/r/releases?limit=50",
		"http://git.example:3000/api/v4/projects/o%2Fr%2Freleases/releases?per_page=100",
		"http://git.example:3000/api/v3/repos/o/r/releases?per_page=100",
	}
	if !slices.Equal(feeds, want) {
		t.Errorf("probes: %q", feeds)
	}
	if s := Probes(parse(t, "https://git.example/")); len(s) > 0 {
		t.Errorf("of a host alone: %v", s)
	}
}

func TestItself(t *testing.T) {
	for _, tt := range []struct{ feed, url, name string }{
		{"https://u:p@h:8080/pub/linux/v6.x/#x", "https://h:8080/pub/linux/v6.x/", "v6.x"},
		{"https://example.org/tool/releases.atom?x=y", "https://example.org/tool/releases.atom?x=y", "tool"},
		{"https://example.org/", "https://example.org/", "example.org"},
		{"https://example.org", "https://example.org", "example.org"},
	} {
		if s := Itself(parse(t, tt.feed)); s.Feed != tt.url || s.Name != tt.name {
			t.Errorf("%s: %+v", tt.feed, s)
		}
	}
}

func TestGuess(t *testing.T) {
	for _, tt := range []struct{ url, tag, version, want string }{
		{"https://h/o/r/download/v1.2/t_1.2_x.tgz", "v1.2", "1.2", "https://h/o/r/download/{tag}/t_{version}_x.tgz"},
		{"https://h/download/v1.2/t-x.tgz", "v1.2", "1.2", "https://h/download/{tag}/t-x.tgz"},
		{"https://h/download/1.2/t-1.2.tgz", "1.2", "1.2", "https://h/download/{version}/t-{version}.tgz"},
		{"https://h/1.2.3/v1.2/11.2/1.23/1.2.tgz", "v1.2", "1.2", "https://h/1.2.3/{tag}/11.2/1.23/{version}.tgz"},
		{"https://h/v1%2B2/t-1%2B2", "v1+2", "1+2", "https://h/{tag}/t-{version}"},
		{"https://v1.2.h:12/v1.2", "v1.2", "1.2", "https://v1.2.h:12/{tag}"},
		{"https://h/v6.1/linux-6.1.tar.xz", "", "6.1", "https://h/v6.1/linux-{version}.tar.xz"},
		{"https://h/nightly/t.tgz", "nightly", "nightly", ""},
		{"https://h/t.tgz", "v1.2", "1.2", ""},
	} {
		if got, ok := guess(tt.url, tt.tag, tt.version); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("guess(%s) = %s, %v; want %s", tt.url, got, ok, tt.want)
		}
	}
}

func TestVersionIn(t *testing.T) {
	for name, want := range map[string]string{
		"go1.22rc1.linux-amd64.tar.gz": "1.22rc1", "go1.22.1.linux-amd64.tar.gz": "1.22.1", "linux-6.1-rc5.tar.xz": "6.1-rc5",
		"jq-164.tgz": "164", "n-2026-01-31.zip": "2026-01-31", "tool_x86_64.zip": "", "README": "", "a.7z": "",
		"Python-3.13.0a1.tgz": "3.13.0a1",
	} {
		if got := versionIn(name); got != want {
			t.Errorf("versionIn(%q) = %q, want %q", name, got, want)
		}
	}
}

// recordsOf returns the records of a vector of a format.
func recordsOf(t *testing.T, name, base string) (list []feed.Record) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "testdata", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	format := &releaseapi.Format
	if strings.HasPrefix(name, "antenna-index") {
		format = &indexpage.Format
	}
	for r, err := range format.Decode(f, feed.Options{Base: base}).Records() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// describe returns the files with what is known of them, a line each.
func describe(assets []Asset) (lines []string) {
	for _, a := range assets {
		line := a.Name + " " + a.Release.Version + " " + a.Template.String()
		for _, word := range slices.Concat([]string{a.Digest}, a.Lists, a.Signatures) {
			if word != "" {
				line += " " + word[:min(len(word), 30)]
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func TestAssets(t *testing.T) {
	index := func(names string) (list []feed.Record) {
		for name := range strings.FieldsSeq(names) {
			list = append(list, feed.Record{Format: feed.IndexPage, URL: "https://h/dl/1.0/" + name, Size: 5})
		}
		return list
	}
	news := []feed.Record{
		{Format: feed.News, URL: "https://h/releases/tag/v1.2"}, {Format: feed.News, URL: "https://h/releases/tag/v1.3-rc1"},
	}
	pypi, _ := Known(parse(t, "https://pypi.org/project/acme"))
	github, _ := Known(parse(t, "https://github.com/acme/tool"))
	crates, _ := Known(parse(t, "https://crates.io/crates/acme"))
	folder := Itself(parse(t, "https://h/dl/1.0/"))
	for _, tt := range []struct {
		name    string
		source  Source
		records []feed.Record
		options Options
		want    []string
	}{
		{"PyPI", pypi, recordsOf(t, "antenna-releases/releases-007-pypi.json", pypi.Feed), Options{}, []string{
			"acme-3.2.1-py3-none-any.whl 3.2.1 " +
				"https://files.pythonhosted.org/packages/py3/a/acme/acme-{version}-py3-none-any.whl " +
				"sha256:9f86d081884c7d659a2feaa",
			"acme-3.2.1.tar.gz 3.2.1 https://files.pythonhosted.org/packages/source/a/acme/acme-{version}.tar.gz",
		}},
		{"crates.io", crates, recordsOf(t, "antenna-releases/releases-008-crates.json", crates.Feed), Options{}, []string{
			"acme-3.2.1.crate 3.2.1 https://static.crates.io/crates/acme/acme-{version}.crate sha256:9f86d081884c7d659a2feaa",
		}},
		{"GitHub", github, recordsOf(t, "antenna-releases/releases-005-github.json", ""), Options{}, nil},
		{"pre-releases", github, recordsOf(t, "antenna-releases/releases-005-github.json", ""),
			Options{Choice: release.Choice{PreReleases: true}}, []string{
				"tool_2.82.0-rc.1_linux_amd64.tar.gz 2.82.0-rc.1 " +
					"https://github.com/acme/tool/releases/download/{tag}/tool_{version}_linux_amd64.tar.gz",
			}},
		{"folder", folder, index("t-1.9.tgz t-1.10.tgz t-1.10.tgz.asc t-1.10.tgz.sha256 t-1.11-rc1.tgz u-3.zip README " +
			"SHA256SUMS"), Options{}, []string{
			"t-1.10.tgz 1.10 https://h/dl/1.0/t-{version}.tgz t-1.10.tgz.sha256 SHA256SUMS t-1.10.tgz.asc",
			"u-3.zip 3 https://h/dl/1.0/u-{version}.zip SHA256SUMS",
		}},
		{"one of them", folder, index("t-1.9.tgz t-1.10.tgz u-3.zip"), Options{Asset: "t-*.tgz"}, []string{
			"t-1.10.tgz 1.10 https://h/dl/1.0/t-{version}.tgz",
		}},
		{"only a signature", folder, index("t-1.9.tgz.asc"), Options{}, []string{
			"t-1.9.tgz.asc 1.9 https://h/dl/1.0/t-{version}.tgz.asc",
		}},
		{"news", Source{}, news, Options{}, nil},
		{"news with a template", Source{}, news, Options{Asset: "https://m/dl/{tag}/t-{version}.tgz"}, []string{
			"t-1.2.tgz 1.2 https://m/dl/{tag}/t-{version}.tgz",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, err := tt.source.Find(tt.records, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(found.Assets); !slices.Equal(got, tt.want) || found.Elsewhere != "" {
				t.Errorf("%d versions, files at %q:\n%s", found.Versions, found.Elsewhere, strings.Join(got, "\n"))
			}
		})
	}
	for _, asset := range []string{"[", "https://h/{name}"} {
		if _, err := folder.Find(index("t-1.9.tgz"), Options{Asset: asset}); err == nil {
			t.Errorf("%q is no error", asset)
		}
	}
}

// TestLook checks which list names a file: lists of several files are read once, and a list on another host, or of one file,
// is not read.
func TestLook(t *testing.T) {
	const digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	for _, tt := range []struct {
		name, files string
		lists       map[string]string // by URL
		want        string
		read        int
	}{
		{"named", "t-1.tgz u-1.zip SHA256SUMS",
			map[string]string{"https://h/dl/SHA256SUMS": digest + "  t-1.tgz\n" + digest + "  u-1.zip\n"},
			"t-1.tgz SHA256SUMS false, u-1.zip SHA256SUMS false", 1},
		{"not yet", "t-1.tgz u-2.zip SHA256SUMS",
			map[string]string{"https://h/dl/SHA256SUMS": digest + "  t-1.tgz\n" + digest + "  u-1.zip\n"},
			"t-1.tgz SHA256SUMS false, u-2.zip  false", 1},
		{"in another", "t-1.tgz SHA256SUMS SHA512SUMS",
			map[string]string{"https://h/dl/SHA256SUMS": digest + "  t-1.tgz\n", "https://h/dl/SHA512SUMS": "none"},
			"t-1.tgz SHA256SUMS false", 2},
		{"unread", "t-1.tgz u-1.zip SHA256SUMS", nil, "t-1.tgz  true, u-1.zip  true", 1},
		{"own", "t-1.tgz t-1.tgz.sha256", nil, "t-1.tgz t-1.tgz.sha256 false", 0},
		{"elsewhere", "t-1.tgz https://other/dl/SHA256SUMS", nil, "t-1.tgz  true", 0},
		{"many", "t-1.tgz sha256-a.txt sha256-b.txt sha256-c.txt sha256-d.txt sha256-e.txt sha256-f.txt", nil,
			"t-1.tgz  true", 4},
	} {
		folder := Itself(parse(t, "https://h/dl/"))
		var records []feed.Record
		for name := range strings.FieldsSeq(tt.files) {
			if !strings.Contains(name, "://") {
				name = "https://h/dl/" + name
			}
			records = append(records, feed.Record{Format: feed.IndexPage, URL: name})
		}
		found, err := folder.Find(records, Options{})
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		folder.Look(found.Assets, func(u *url.URL) ([]byte, error) {
			read++
			if data, ok := tt.lists[u.String()]; ok {
				return []byte(data), nil
			}
			return nil, errors.New("not there")
		})
		var got []string
		for _, a := range found.Assets {
			got = append(got, fmt.Sprint(a.Name, " ", a.In, " ", a.Unread))
		}
		if text := strings.Join(got, ", "); text != tt.want || read != tt.read {
			t.Errorf("%s: %s; %d lists were read, want %s; %d", tt.name, text, read, tt.want, tt.read)
		}
	}
}

// TestElsewhere checks that a feed leads to no host but that of the project, as its files are requested next.
func TestElsewhere(t *testing.T) {
	pypi, _ := Known(parse(t, "https://pypi.org/project/acme"))
	gitlab, _ := Known(parse(t, "https://gitlab.com/g/p"))
	api, _ := Known(parse(t, "https://api.github.com/repos/o/r/releases"))
	own, secure := Itself(parse(t, "http://10.1.1.1:8080/pub/")), Itself(parse(t, "https://10.1.1.1:8080/pub/"))
	for _, tt := range []struct {
		source Source
		url    string
		ok     bool
	}{
		{gitlab, "https://gitlab.com/g/p/-/releases/v1.2/downloads/t-1.2.tgz", true},
		{gitlab, "http://gitlab.com/t-1.2.tgz", true}, // over https
		{gitlab, "http://gitlab.com:443/t-1.2.tgz", false},
		{gitlab, "http://gitlab.com:8080/t-1.2.tgz", false},
		{gitlab, "https://gitlab.com:8443/t-1.2.tgz", false},
		{gitlab, "http://127.0.0.1/t-1.2.tgz", false},
		{gitlab, "https://files.pythonhosted.org/t-1.2.tgz", false},
		{gitlab, "https://gitlab.com.evil.example/t-1.2.tgz", false},
		{gitlab, "https://gitlab.com@evil.example/t-1.2.tgz", false},
		{api, "https://github.com/o/r/releases/download/v1.2/t-1.2.tgz", true},
		{pypi, "https://files.pythonhosted.org/packages/aa/bb/acme-1.2.tar.gz", true},
		{pypi, "http://files.pythonhosted.org/packages/aa/bb/acme-1.2.tar.gz", false},
		{own, "http://10.1.1.1:8080/pub/t-1.2.tgz", true},
		{own, "http://10.1.1.1:8081/pub/t-1.2.tgz", false},
		{own, "https://10.1.1.1:8080/pub/t-1.2.tgz", true},
		{secure, "http://10.1.1.1:8080/pub/t-1.2.tgz", false},
		{secure, "https://10.1.1.1:8080/pub/t-1.2.tgz", true},
	} {
		found, err := tt.source.Find([]feed.Record{{Format: feed.ReleaseAPI, Tag: "v1.2", URL: tt.url}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Assets) == 1 != tt.ok || (found.Elsewhere == "") != tt.ok {
			t.Errorf("%s, %s: %+v", tt.source.Feed, tt.url, found)
		}
		for _, a := range found.Assets {
			if tt.source.page.Scheme == "https" && !strings.HasPrefix(a.URL, "https://") ||
				!strings.HasPrefix(a.Template.String(), a.URL[:8]) {
				t.Errorf("%s, %s: over http: %s, %s", tt.source.Feed, tt.url, a.URL, a.Template)
			}
		}
	}
}

// TestNoDigestOfFeed checks that a file does not count if its URL has a digest, which the feed chose.
func TestNoDigestOfFeed(t *testing.T) {
	const hex = "b5c1fb2efc6d6b4674c2fdcc48ce01b43a3b7c03763c0c3355de0099ee0f8c73"
	s := Itself(parse(t, "https://h/"))
	for url, asset := range map[string]string{
		"https://h/v1.2/by-hash/SHA256/" + hex:   "",
		"https://h/v2/t-1.2/blobs/sha256:" + hex: "",
		"https://h/" + hex + ".tgz":              "https://h/by-hash/SHA256/{version}",
	} {
		found, err := s.Find([]feed.Record{{Format: feed.ReleaseAPI, Tag: "v1.2", URL: url}, {Tag: hex, URL: url}},
			Options{Asset: asset})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range found.Assets {
			if strings.Contains(a.URL, hex) {
				t.Errorf("%s", a.URL)
			}
		}
	}
}

func TestPattern(t *testing.T) {
	for url, want := range map[string]string{
		"https://h/v1.2/tool_1.2_linux.tgz": "tool_*_linux.tgz", "https://h/v1.2/tool.tgz": "tool.tgz",
		"https://h/v1.2/t%27%3Breboot%3B%27-1.2.tgz": "", "https://h/v1.2/t%5B1.2%5D.tgz": "",
	} {
		s := Itself(parse(t, "https://h/"))
		found, err := s.Find([]feed.Record{{Tag: "v1.2", URL: url}}, Options{})
		if err != nil || len(found.Assets) != 1 {
			t.Fatalf("%s: %+v, %v", url, found, err)
		}
		if got, ok := Pattern(&found.Assets[0]); ok != (want != "") || ok && got != want {
			t.Errorf("Pattern of %s: %q, %v", url, got, ok)
		}
	}
}

// TestFindMany checks that lists are looked for beside as many files as is possible in bounded time, and always beside
// the only one that fits.
func TestFindMany(t *testing.T) {
	const all = 3000
	var records []feed.Record
	for i := range all {
		for _, name := range []string{"tool%d-1.2.tgz", "tool%d-1.2.tgz.sig", "tool%d-checksums.txt"} {
			records = append(records, feed.Record{Format: feed.IndexPage, URL: "https://h/pub/" + fmt.Sprintf(name, i)})
		}
	}
	s := Itself(parse(t, "https://h/pub/"))
	for asset, want := range map[string]int{"": mostCompared / all, "tool2999-*": 1} {
		found, err := s.Find(records, Options{Asset: asset})
		if err != nil || len(found.Assets) != map[bool]int{true: all, false: 1}[asset == ""] {
			t.Fatalf("%d files fit, %v", len(found.Assets), err)
		}
		searched := 0
		for _, a := range found.Assets {
			if len(a.Signatures) != 1 || (len(a.Lists) == 0) != a.Unsearched {
				t.Fatalf("%+v", a)
			}
			if !a.Unsearched {
				searched++
			}
		}
		if searched != want {
			t.Errorf("%q: lists beside %d files, want %d", asset, searched, want)
		}
	}
}
