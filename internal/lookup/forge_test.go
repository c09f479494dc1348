package lookup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"braid/verify"
)

// TestForges asks each row about a file, and reads the answer that was recorded or has the recorded shape.
func TestForges_Rule77(t *testing.T) {
	const (
		zenodo = `{"id":7,"files":[{"key":"a b.zip","size":4,"checksum":"md5:` + h5 +
			`"},{"key":"b.zip","checksum":"md5:` + h5 + `"}]}`
		tool  = "https://github.com/acme/tool/releases/download/v2.81.0/tool_2.81.0_"
		asked = "https://api.github.com/repos/acme/tool/releases/tags/v2.81.0"
		none  = "error: it does not have this file"
	)
	for _, tt := range []struct{ u, asks, answer, want string }{
		{tool + "linux_amd64.tar.gz", asked, "github-release.json",
			"sha-256 from api.github.com over https; tool_2.81.0_linux_amd64.tar.gz tool_2.81.0_checksums.txt " +
				"tool_2.81.0_darwin_arm64.zip"},
		{tool + "checksums.txt", asked, "github-release.json",
			"none; tool_2.81.0_linux_amd64.tar.gz tool_2.81.0_checksums.txt tool_2.81.0_darwin_arm64.zip"},
		{tool + "darwin_arm64.zip", asked, "github-release.json", none}, // an upload that has not ended
		{tool + "windows.zip", asked, "github-release.json", none},
		{"https://github.com/acme/tool/releases/download/v2.80.0/tool_2.81.0_linux_amd64.tar.gz",
			"https://api.github.com/repos/acme/tool/releases/tags/v2.80.0", "github-release.json", none},
		// another tag
		{"https://github.com/other/tool/releases/download/v2.81.0/tool_2.81.0_linux_amd64.tar.gz",
			"https://api.github.com/repos/other/tool/releases/tags/v2.81.0", "github-release.json", none},
		{"https://gitlab.com/acme/tool/-/releases/v1.4.0/downloads/tool-linux-amd64",
			"https://gitlab.com/api/v4/projects/acme%2Ftool/releases/v1.4.0", "gitlab-release.json",
			"none; tool-linux-amd64"},
		{"https://gitlab.com/acme/sub/tool/-/releases/v1.4.0/downloads/tool-linux-amd64",
			"https://gitlab.com/api/v4/projects/acme%2Fsub%2Ftool/releases/v1.4.0", "gitlab-release.json", none},
		{"https://codeberg.org/acme/tool/releases/download/v0.9.1/tool-0.9.1.tar.gz",
			"https://codeberg.org/api/v1/repos/acme/tool/releases/tags/v0.9.1", "forgejo-release.json",
			"none; tool-0.9.1.tar.gz"},
		{"https://files.pythonhosted.org/packages/aa/bb/cc/acme-3.2.1-py3-none-any.whl",
			"https://pypi.org/pypi/acme/3.2.1/json", "pypi-version.json",
			"sha-256 from pypi.org over https; acme-3.2.1-py3-none-any.whl"},
		{"https://files.pythonhosted.org/packages/aa/bb/dd/acme-3.2.1-py3-none-any.whl",
			"https://pypi.org/pypi/acme/3.2.1/json", "pypi-version.json", none}, // the name alone is not enough
		{"https://files.pythonhosted.org/packages/aa/bb/cc/acme-extra-3.2.1.tar.gz",
			"https://pypi.org/pypi/acme-extra/3.2.1/json", "pypi-version.json", none},
		{"https://crates.io/api/v1/crates/acme/3.2.1/download", "https://index.crates.io/ac/me/acme",
			"crates-index.txt",
			"sha-256 from index.crates.io over https; "},
		{"https://static.crates.io/crates/acme/acme-3.2.1.crate", "https://index.crates.io/ac/me/acme",
			"crates-index.txt",
			"sha-256 from index.crates.io over https; "},
		{"https://static.crates.io/crates/acme/3.2.2/download", "https://index.crates.io/ac/me/acme",
			"crates-index.txt", none},
		{"https://static.crates.io/crates/Ab/1.0.0/download", "https://index.crates.io/2/ab", "crates-index.txt",
			none},
		{"https://static.crates.io/crates/abc/1.0.0/download", "https://index.crates.io/3/a/abc", "crates-index.txt",
			none},
		{"https://rubygems.org/downloads/acme-3.2.1.gem", "https://rubygems.org/api/v1/versions/acme.json",
			"rubygems-versions.json",
			"sha-256 from rubygems.org over https; "},
		{"https://rubygems.org/gems/acme-3.2.1-x86_64-linux.gem", "https://rubygems.org/api/v1/versions/acme.json",
			"rubygems-versions.json", none},
		{"https://rubygems.org/gems/acme-4-rails-3.2.1.gem", "https://rubygems.org/api/v1/versions/acme-4-rails.json",
			"rubygems-versions.json",
			"sha-256 from rubygems.org over https; "},
		{"https://rubygems.org/gems/acme-3-java.gem", "https://rubygems.org/api/v1/versions/acme.json",
			"rubygems-versions.json", none},
		{"https://zenodo.org/records/7/files/a%20b.zip?download=1", "https://zenodo.org/api/records/7", zenodo,
			"md5 from zenodo.org over https; "},
		{"https://zenodo.org/record/7/files/c.zip", "https://zenodo.org/api/records/7", zenodo, none},

		{u: tool + "a?token=1"}, {u: strings.Replace(tool, "https", "http", 1) + "a"}, {u: tool + "a/b"},
		{u: "https://github.com/acme/tool"},
		{u: "https://github.com:8443/acme/tool/releases/download/v1/a"},
		{u: "https://github.com.evil.example/a/b/releases/download/v1/a"},
		{u: "https://evil.example/https://github.com/a/b/releases/download/v1/a"}, {u: "https://example.org/a"},
		{u: "https://github.com/acme/tool/releases/latest/download/a"}, // leads to a tag
	} {
		q, ok := Ask(parseURL(t, tt.u), Forges())
		if tt.asks == "" {
			if ok {
				t.Errorf("%s: asks %v", tt.u, q.URL)
			}
			continue
		}
		if !ok || q.URL.String() != tt.asks || q.Token != (q.URL.Host == "api.github.com") {
			t.Errorf("%s: asks %v, want %s", tt.u, q, tt.asks)
			continue
		}
		data := []byte(tt.answer)
		if !strings.HasPrefix(tt.answer, "{") {
			var err error
			if data, err = os.ReadFile(filepath.Join("testdata", "forge", tt.answer)); err != nil {
				t.Fatal(err)
			}
		}
		if got := answerText(q.Read(data, verify.HTTPS)); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.u, got, tt.want)
		}
	}
}

func answerText(a Answer, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	said := "none"
	for _, c := range a.Claims {
		if said = c.String(); c.Digest.Hex() != h256 && c.Digest.Hex() != h5 {
			said += " " + c.Digest.Hex()
		}
	}
	return said + "; " + strings.Join(a.Names, " ")
}

// TestForgeAnswers: an answer that is not as the table has it says nothing.
func TestForgeAnswers_Rule77(t *testing.T) {
	const u = "https://github.com/a/b/releases/download/v1/f"
	q, _ := Ask(parseURL(t, u), Forges())
	asset := func(fields string) string {
		return `{"browser_download_url":"` + u + `","state":"uploaded"` + fields + `}`
	}
	for _, tt := range []struct{ answer, want string }{
		{`{"assets":[` + asset(`,"digest":"sha256:`+h256+`"`) + `]}`, "sha-256 from api.github.com over https; f"},
		{`{"assets":[` + asset(``) + `]}`, "none; f"},
		{`{"assets":[` + asset(`,"digest":null`) + `]}`, "none; f"},
		{`{"assets":[` + asset(`,"digest":7`) + `]}`, "none; f"},
		{`{"assets":[` + asset(`,"digest":"sha256:`+h256[1:]+`"`) + `]}`, "none; f"},
		{`{"assets":[` + asset(`,"digest":"sha256:`+strings.Repeat("0", 64)+`"`) + `]}`, "none; f"},
		{`{"assets":[` + asset(`,"digest":"`+h256+`"`) + `]}`, "none; f"},
		{`{"assets":[` + asset(`,"digest":"sha999:`+h256+`"`) + `]}`, "none; f"},
		{`{"assets":[` + asset(`,"digest":"sha256:`+h256+`"`) + `,` + asset(`,"digest":"sha256:`+o256+`"`) + `]}`,
			"conflict"},
		{`{"assets":[{"browser_download_url":"https://github.com/a/b/releases/download/v2/f","state":"uploaded","digest":"sha256:` + h256 + `"}]}`,
			"error: it does not have this file"},
		{`{"assets":[{"name":"f","state":"uploaded","digest":"sha256:` + h256 + `"}]}`,
			"error: it does not have this file"},
		{`{"assets":[{"browser_download_url":"http://github.com/a/b/releases/download/v1/f","state":"uploaded"}]}`,
			"error: it does not have this file"},
		{`{"assets":[7,null,"x",[]]}`, "error: it does not have this file"},
		{`{"assets":{}}`, "error: not the expected form of answer"}, {`{}`,
			"error: not the expected form of answer"},
		{`[]`, "error: not the expected form of answer"}, {``, "error: not the expected form of answer"},
		{`<html>`, "error: not the expected form of answer"}, {`{"assets":[` + asset(``),
			"error: not the expected form of answer"},
	} {
		a, err := q.Read([]byte(tt.answer), verify.HTTPS)
		got := answerText(a, err)
		if _, ok := errors.AsType[*verify.ConflictError](err); ok {
			got = "conflict"
		}
		if got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.answer, got, tt.want)
		}
	}
	if !q.Delivers(parseURL(t, "https://objects.githubusercontent.com/x?y")) ||
		q.Delivers(parseURL(t, "http://objects.githubusercontent.com/x")) ||
		q.Delivers(parseURL(t, "https://github.com/x")) ||
		q.Delivers(parseURL(t, "https://objects.githubusercontent.com.example/x")) {
		t.Error("delivery")
	}
}

// FuzzForge: whatever an answer has, names are those of files in the folder.
func FuzzForge(f *testing.F) {
	f.Add(`{"assets":[{"browser_download_url":"https://github.com/a/b/releases/download/v1/f","state":"uploaded"}]}`)
	q, _ := Ask(parseURL(f, "https://github.com/a/b/releases/download/v1/f"), Forges())
	f.Fuzz(func(t *testing.T, answer string) {
		a, err := q.Read([]byte(answer), verify.HTTPS)
		if err != nil && (len(a.Claims) > 0 || len(a.Names) > 0) {
			t.Errorf("%v, %v", a, err)
		}
		for _, n := range a.Names {
			if !plain(n) {
				t.Errorf("%q", n)
			}
		}
	})
}
