package lookup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"braid/verify"
)

type words = map[string][]string

// TestNewForge asks rows of the user's about files, and reads answers of the recorded shape for their hosts.
func TestNewForge_Rule77(t *testing.T) {
	mirror := words{
		"url": {`^https://pypi\.example\.org/packages/(?P<file>(?P<project>[^/-]+)-(?P<version>[^/-]+)-[^/]+\.whl)$`},
		"ask": {"https://pypi.org/pypi/{project}/{version}/json"}, "list": {"urls"}, "only": {"filename={file:plain}"},
		"sha256": {"digests.sha256"},
	}
	with := func(key string, value ...string) words {
		changed := words{key: value}
		for k, v := range mirror {
			if k != key {
				changed[k] = v
			}
		}
		return changed
	}
	for _, tt := range []struct {
		row                   words
		u, asks, answer, want string
	}{
		{words{"like": {"forgejo"}, "host": {"git.example.org:3000"}},
			"https://git.example.org:3000/acme/tool/releases/download/v0.9.1/tool-0.9.1.tar.gz",
			"https://git.example.org:3000/api/v1/repos/acme/tool/releases/tags/v0.9.1", "forgejo-release.json",
			"none; tool-0.9.1.tar.gz"},
		{words{"like": {"Forgejo"}, "host": {"git.example.org"}},
			"https://codeberg.org/acme/tool/releases/download/v0.9.1/tool-0.9.1.tar.gz",
			"https://codeberg.org/api/v1/repos/acme/tool/releases/tags/v0.9.1", "forgejo-release.json",
			"none; tool-0.9.1.tar.gz"},
		{words{"like": {"GitHub"}, "host": {"ghe.example.org"}, "api": {"https://ghe.example.org/api/v3/"}},
			"https://ghe.example.org/acme/tool/releases/download/v2.81.0/tool_2.81.0_linux_amd64.tar.gz",
			"https://ghe.example.org/api/v3/repos/acme/tool/releases/tags/v2.81.0", "github-release.json",
			"sha-256 from ghe.example.org over https; tool_2.81.0_linux_amd64.tar.gz tool_2.81.0_checksums.txt " +
				"tool_2.81.0_darwin_arm64.zip"},
		{mirror, "https://pypi.example.org/packages/acme-3.2.1-py3-none-any.whl", "https://pypi.org/pypi/acme/3.2.1/json",
			"pypi-version.json", "sha-256 from pypi.org over https; "},
		{mirror, "https://pypi.example.org/packages/acme-3.2.1-py2-none-any.whl", "https://pypi.org/pypi/acme/3.2.1/json",
			"pypi-version.json", "error: it does not have this file"},
		{mirror, "https://pypi.example.org:8443/packages/acme-3.2.1-py3-none-any.whl", "", "", ""},
		{with("url", mirror["url"][0]+`|acme-(?P<project>3).*$`),
			"https://evil.example/packages/acme-3.2.1-py3-none-any.whl", "", "", ""},
	} {
		f, err := NewForge("mine", tt.row)
		if err != nil {
			t.Errorf("%v: %v", tt.row, err)
			continue
		}
		q, ok := Ask(parseURL(t, tt.u), append([]*Forge{f}, Forges()...))
		if ok != (tt.asks != "") || ok && (q.URL.String() != tt.asks || q.Token || q.Own != (q.Forge() == "mine")) {
			t.Errorf("%s: asks %v, want %s", tt.u, q, tt.asks)
		}
		if !ok {
			continue
		}
		data, err := os.ReadFile(filepath.Join("testdata", "forge", tt.answer))
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if q.Own {
			host := strings.TrimPrefix(tt.u, "https://")
			host, _, _ = strings.Cut(host, "/")
			text = strings.NewReplacer("https://github.com", "https://"+host, "https://codeberg.org",
				"https://"+host).Replace(text)
		}
		if got := answerText(q.Read([]byte(text), verify.HTTPS)); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.u, got, tt.want)
		}
	}
	for _, tt := range []struct {
		row  words
		want string
	}{
		{words{}, "no url"},
		{words{"like": {"Gitea"}, "host": {"git.example.org"}}, `like: no row "Gitea"; there are GitHub, GitLab, Forgejo`},
		{words{"like": {"Forgejo"}}, "host:"}, {words{"host": {"git.example.org"}}, "like:"},
		{words{"like": {"Forgejo"}, "host": {"https://git.example.org"}}, "host:"},
		{words{"like": {"Forgejo"}, "host": {".*"}}, "host:"},
		{words{"like": {"GitHub"}, "host": {"ghe.example.org"}}, "api: GitHub answers questions at another host"},
		{words{"like": {"GitHub"}, "host": {"ghe.example.org"}, "api": {"http://ghe.example.org"}}, "api: write https"},
		{words{"like": {"crates.io"}, "host": {"crates.example.org"}}, "several hosts"},
		{with("url", `^https://.*/(?P<project>a)-(?P<version>b)(?P<file>c)$`), "url:"},
		{with("url", `https://pypi\.example\.org/(?P<project>a)-(?P<version>b)(?P<file>c)$`), "url:"},
		{with("url", `^https://pypi\.example\.org/(?P<project>a)-(?P<version>b)(?P<file>c)`), "end with $"},
		{with("url", `^https://pypi\.example\.org/(?P<project>a)-(?P<version>b)$`), "no group (?P<file>...)"},
		{with("url", `^https://pypi\.example\.org/(`), "url: error parsing"},
		{with("ask", "http://pypi.org/{project}"), "ask: write https"},
		{with("ask", "https://{project}.example.org/"), "ask: write https"},
		{with("only", "filename"), "write FIELD=VALUE"},
		{with("only", "state=uploaded"), "must name its file"},
		{with("only"), "must name its file"},
		{with("sha256"), "would prove nothing"},
		{with("digest", "d"), "only one of them"},
	} {
		if _, err := NewForge("mine", tt.row); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %s", tt.row, err, tt.want)
		}
	}
}
