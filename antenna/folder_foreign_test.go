package antenna

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"braid/antenna/feed"
)

// TestForeign checks that a file of the user with the name of a published one is kept, and that the other files are
// published.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	theirs := map[string]string{filePage: "<h1>Our site</h1>", fileAtom: "<feed><generator>a blog</generator></feed>",
		fileHinaDI: "to do"}
	for name, text := range theirs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		report, err := WriteFolder(dir, ours(own("http://h.example/", nil)), FolderOptions{})
		var foreign *foreignError
		if !errors.As(err, &foreign) || !slices.Equal(foreign.names, []string{fileHinaDI, fileAtom, filePage}) ||
			slices.Contains(report.Files, filePage) {
			t.Fatalf("%v, %v", report, err)
		}
	}
	for name, text := range theirs {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != text {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, fileLIRS)); err != nil {
		t.Error(err)
	}
	if _, err := WriteFolder(dir, ours(), FolderOptions{}); err == nil { // fileAtom has no records but is the user's file
		t.Error("nothing is said of what stays")
	}
	if got, _ := os.ReadFile(filepath.Join(dir, fileAtom)); string(got) != theirs[fileAtom] {
		t.Errorf("%s is %q", fileAtom, got)
	}
	before := `<link rel="alternate" type="application/x-lirs" title="LIRS" href="antenna.lirs.gz">` // an older version
	os.WriteFile(filepath.Join(dir, filePage), []byte(before), 0o600)
	if report, _ := WriteFolder(dir, ours(), FolderOptions{}); !slices.Contains(report.Files, filePage) {
		t.Errorf("an own page stays as it was: %v", report)
	}
}

// TestFails checks that the error names the file that cannot be written, and that the others stay as they were.
func TestFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, fileLIRS, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteFolder(dir, ours(own("http://h.example/", nil)), FolderOptions{}); err == nil ||
		!strings.Contains(err.Error(), fileLIRS) {
		t.Errorf("error is %v", err)
	}
	if _, err := WriteFolder(filepath.Join(dir, "no\x00name"), ours(), FolderOptions{}); err == nil {
		t.Error("a name that is none")
	}
}

// TestNobody checks that feeds are published without an agent name and URL, and that nothing is published without
// records, because a feed has at least one block (hina-di, section 4).
func TestNobody(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "www")
	nothing := feed.Snapshot{Now: now.UTC()}
	report, err := WriteFolder(dir, nothing, FolderOptions{})
	if _, there := os.Stat(dir); err != nil || there == nil || len(report.Files) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	names := func() (list []string) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			list = append(list, e.Name())
		}
		return list
	}
	failed := ours(own("http://h.example/gone", func(k *feed.Known) { k.Failed, k.LastModified, k.Detected = true, 0, 0 }))
	// fileLIRS has failed records
	if _, err := WriteFolder(dir, failed, FolderOptions{}); err != nil ||
		!slices.Equal(names(), []string{fileLIRS, fileLIRSGzip, filePage}) {
		t.Errorf("%q, %v", names(), err)
	}
	if _, err := WriteFolder(dir, ours(own("http://h.example/", nil)), FolderOptions{}); err != nil || len(names()) != 6 {
		t.Errorf("%q, %v", names(), err)
	}
	_, err = WriteFolder(dir, nothing, FolderOptions{}) // the records have expired
	page, _ := os.ReadFile(filepath.Join(dir, filePage))
	if err != nil || !slices.Equal(names(), []string{filePage}) || !strings.Contains(string(page), "Nothing is known yet") {
		t.Errorf("%q, %v", names(), err)
	}
}
