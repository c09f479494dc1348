package partfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"braid/internal/fsys"
	"braid/internal/partfile"
)

func TestMakeFolders(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "a/file", "a/b/c/file", "a/b/c/file"} {
		if err := partfile.MakeFolders(fsys.OS, dir, name); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if info, err := os.Stat(filepath.Dir(filepath.Join(dir, name))); err != nil || !info.IsDir() {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was made itself", name)
		}
	}
}

// Proves rule 5: a component that is a symbolic link or not a folder is refused, and nothing is created behind it. The
// user's own folder may be a link.
func TestMakeFoldersFollowsNoLinks_Rule5(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	link := filepath.Join(t.TempDir(), "dir")
	for from, to := range map[string]string{filepath.Join(dir, "link"): outside, filepath.Join(dir, "within"): "real",
		link: dir} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link/x/file", "within/x/file", "plain/x/file", "link/file", "../x/file", "/x/file",
		"x//file"} {
		var refused *partfile.NameError
		if err := partfile.MakeFolders(fsys.OS, dir, name); !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, folder := range []string{outside, filepath.Join(dir, "real")} {
		if left, _ := os.ReadDir(folder); len(left) > 0 {
			t.Errorf("%s: %v", folder, left)
		}
	}
	if err := partfile.MakeFolders(fsys.OS, link, "x/file"); err != nil {
		t.Errorf("the user's own folder is a link: %v", err)
	}
}
