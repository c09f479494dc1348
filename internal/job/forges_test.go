package job

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"braid/download"
)

// TestAddForges: the fields of a site go to its own URLs alone where a forge is asked, and rows of the settings are used.
func TestAddForges_Rule27(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	const text = `
[site."https://api.github.com/repos/acme/*"]
header = "Authorization: Bearer s3cret"

[forge.work]
like = "Forgejo"
host = "git.example.org"
`
	path := SettingsFile("config.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	settings, err := ReadSettings()
	if err != nil {
		t.Fatal(err)
	}
	var c download.Client
	NewSites(settings).AddForges(&c)
	if len(c.Forges) != 1 {
		t.Errorf("forges %v", c.Forges)
	}
	for at, want := range map[string]string{
		"https://api.github.com/repos/acme/tool/releases/tags/v1": "map[Authorization:[Bearer s3cret]]",
		"https://api.github.com/repos/other/tool":                 "map[]", "http://api.github.com/repos/acme/tool": "map[]",
		"https://github.com/repos/acme/tool": "map[]", "https://api.github.com:8443/repos/acme/tool": "map[]",
	} {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		if fields, err := c.ForgeHeader(u); err != nil || fmt.Sprint(fields) != want {
			t.Errorf("%s: %v, %v, want %s", at, fields, err, want)
		}
	}
	var none *Sites
	if none.AddForges(&c); c.ForgeHeader == nil {
		t.Error("no sites changed the client")
	}
}
