package job

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestOwnLinks_Rule69: settings and anchors that are links to files elsewhere are braid's own there, too: who replaces them
// decides which programs run and which keys count.
func TestOwnLinks_Rule69(t *testing.T) {
	elsewhere := t.TempDir()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if err := os.MkdirAll(filepath.Dir(SettingsFile("x")), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"config.toml", "trust.json"} {
		target := filepath.Join(elsewhere, name)
		if err := os.WriteFile(target, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, SettingsFile(name)); err != nil {
			t.Fatal(err)
		}
		if !LeadsTo(target, OwnFolders()) {
			t.Errorf("%s may be replaced", name)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	if !LeadsTo(filepath.Join(link, "config.toml"), OwnFolders()) {
		t.Error("through a link it may be replaced")
	}
	other := filepath.Join(elsewhere, "CONFIG.TOML") // stands for a file system that ignores case
	if err := os.Link(filepath.Join(elsewhere, "config.toml"), other); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	if !LeadsTo(other, OwnFolders()) {
		t.Error("under another name it may be replaced")
	}
	if LeadsTo(filepath.Join(elsewhere, "other"), OwnFolders()) {
		t.Error("another file is refused")
	}
}
