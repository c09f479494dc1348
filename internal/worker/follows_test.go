package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"braid/fleet"
)

// releases are the files of releases in a Folder.
type releases struct {
	*Folder
	t       *testing.T
	follows fleet.Follows
}

func newReleases(t *testing.T, link string, keep *int) *releases {
	t.Helper()
	p, err := OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return &releases{p, t, fleet.Follows{Of: strings.Repeat("0a", 12), Link: link, Keep: keep}}
}

// place places the file of a version, and leads the link to it.
func (r *releases) place(version string) (untidy, err error) {
	j := fleet.Job{Name: "tools/" + version + "/tool"}
	at := filepath.Join(r.dir, filepath.FromSlash(j.Name))
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		return nil, err
	}
	if err := os.WriteFile(at, []byte(version), 0o666); err != nil {
		return nil, err
	}
	info, err := os.Lstat(at)
	if err != nil {
		return nil, err
	}
	f := r.follows
	f.Version, j.Follows = version, &f
	if err := r.checkFollows(&f); err != nil {
		return nil, err
	}
	return r.lead(r.t.Context(), &j, placed{path: at, size: info.Size(), modTime: info.ModTime()})
}

// has checks the version that the link leads to, and those that are there.
func (r *releases) has(linked string, versions ...string) {
	r.t.Helper()
	got, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(r.follows.Link)))
	if r.follows.Link != "" && (err != nil || string(got) != linked) {
		r.t.Errorf("the link leads to %q, %v; want %s", got, err, linked)
	}
	there, err := filepath.Glob(filepath.Join(r.dir, "tools", "*", "tool"))
	if err != nil {
		r.t.Fatal(err)
	}
	for i, at := range there {
		there[i] = filepath.Base(filepath.Dir(at))
	}
	if got, want := strings.Join(there, " "), strings.Join(versions, " "); got != want {
		r.t.Errorf("there are %s, want %s", got, want)
	}
}

// TestFollows_Rule80 checks that the link leads to the newest version, in whatever order workers place them, and that the
// surplus files are removed unless they were changed.
func TestFollows_Rule80(t *testing.T) {
	r := newReleases(t, "tools/latest", new(1))
	for _, version := range []string{"1.9", "1.10"} {
		if untidy, err := r.place(version); untidy != nil || err != nil {
			t.Fatal(version, untidy, err)
		}
	}
	r.has("1.10", "1.10", "1.9")
	if _, err := r.place("1.8"); err != nil { // its worker was slower
		t.Fatal(err)
	}
	r.has("1.10", "1.10", "1.8", "1.9")
	write(t, filepath.Join(r.dir, "tools", "1.9", "tool"), "changed")
	if _, err := r.place("2.0"); err != nil {
		t.Fatal(err)
	}
	r.has("2.0", "1.10", "1.9", "2.0")
	if target, err := os.Readlink(filepath.Join(r.dir, "tools", "latest")); target != filepath.Join("2.0", "tool") {
		t.Errorf("the link has %q, %v", target, err)
	}
	if err := os.Remove(filepath.Join(r.dir, "tools", "2.0", "tool")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.place("1.10"); err != nil { // asked for again
		t.Fatal(err)
	}
	r.has("1.10", "1.10", "1.9")
}

// TestKeepNone_Rule80 checks that with keep = 0 only the version in place stays, and that a record without keep, or with a
// number that makes no sense, removes nothing.
func TestKeepNone_Rule80(t *testing.T) {
	for _, c := range []struct {
		record string
		left   []string
	}{
		{`{"keep":0}`, []string{"2.0"}}, {`{}`, []string{"1.10", "1.9", "2.0"}}, {`{"keep":-9}`, []string{"1.10", "1.9", "2.0"}},
	} {
		r := newReleases(t, "tools/latest", nil)
		if err := json.Unmarshal([]byte(c.record), &r.follows); err != nil {
			t.Fatal(err)
		}
		for _, version := range []string{"1.9", "1.10", "2.0"} {
			if untidy, err := r.place(version); untidy != nil || err != nil {
				t.Fatal(version, untidy, err)
			}
		}
		r.has("2.0", c.left...)
	}
}

// TestFollowsWithoutNewest_Rule80 checks that the file that the link leads to stays if newer files were deleted.
func TestFollowsWithoutNewest_Rule80(t *testing.T) {
	r := newReleases(t, "tools/latest", new(1))
	for _, version := range []string{"2.0", "3.0"} {
		if untidy, err := r.place(version); untidy != nil || err != nil {
			t.Fatal(version, untidy, err)
		}
	}
	for _, version := range []string{"2.0", "3.0"} {
		if err := os.Remove(filepath.Join(r.dir, "tools", version, "tool")); err != nil {
			t.Fatal(err)
		}
	}
	for _, version := range []string{"1.5", "1.2"} { // their workers were slower
		if untidy, err := r.place(version); untidy != nil || err != nil {
			t.Fatal(version, untidy, err)
		}
	}
	r.has("1.5", "1.2", "1.5")
}

// TestFollowsKilled_Rule80 checks that a worker that was killed after it listed its file is followed by one that leads the
// link to that file.
func TestFollowsKilled_Rule80(t *testing.T) {
	r := newReleases(t, "latest", nil)
	if _, err := r.place("1.0"); err != nil {
		t.Fatal(err)
	}
	killed := newReleases(t, "", nil)
	killed.Folder = r.Folder
	if _, err := killed.place("1.1"); err != nil {
		t.Fatal(err)
	}
	r.has("1.0", "1.0", "1.1")
	if _, err := r.place("1.1"); err != nil {
		t.Fatal(err)
	}
	r.has("1.1", "1.0", "1.1")
}

// TestFollowsTaken_Rule80 checks that nothing that braid did not make is replaced by the link.
func TestFollowsTaken_Rule80(t *testing.T) {
	for name, make := range map[string]func(at string) error{
		"a file":       func(at string) error { return os.WriteFile(at, []byte("mine"), 0o666) },
		"a folder":     func(at string) error { return os.Mkdir(at, 0o777) },
		"another link": func(at string) error { return os.Symlink("tools/1.0/other", at) },
		"a link away":  func(at string) error { return os.Symlink("/etc/passwd", at) },
	} {
		r := newReleases(t, "latest", nil)
		at := filepath.Join(r.dir, "latest")
		if err := make(at); err != nil {
			t.Fatal(err)
		}
		before, err := os.Lstat(at)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.place("1.0"); err == nil || !strings.Contains(err.Error(), linkError{}.Error()) {
			t.Errorf("%s: %v", name, err)
		}
		if after, err := os.Lstat(at); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s was replaced: %v", name, err)
		}
	}
	away := newReleases(t, "latest", nil)
	if _, err := away.place("1.0"); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(away.dir, "latest")
	if err := errors.Join(os.Remove(at), os.Symlink("/tools/1.0/tool", at)); err != nil {
		t.Fatal(err)
	}
	if _, err := away.place("1.1"); err == nil || !strings.Contains(err.Error(), linkError{}.Error()) {
		t.Errorf("a link to the path from the root: %v", err)
	}
	for _, link := range []string{"../latest", "/latest", stages + "/latest", "a.evidence.json"} {
		r := newReleases(t, link, nil)
		if _, err := r.place("1.0"); err == nil {
			t.Errorf("a link at %s", link)
		}
	}
	r := newReleases(t, "latest", nil)
	r.follows.Of = "../../x"
	if _, err := r.place("1.0"); err == nil {
		t.Error("a list outside of its folder")
	}
}

// TestFollowsAtOnce checks that workers that place versions at the same time leave the link at the newest.
func TestFollowsAtOnce(t *testing.T) {
	const versions = 12
	r := newReleases(t, "latest", new(2))
	errs := make([]error, versions)
	var wg sync.WaitGroup
	for i := range versions {
		wg.Go(func() {
			untidy, err := r.place(fmt.Sprintf("1.%d", i))
			errs[i] = errors.Join(untidy, err)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(r.dir, "latest")); string(got) != "1.11" {
		t.Errorf("the link leads to %q, %v", got, err)
	}
	if _, err := r.place("1.12"); err != nil {
		t.Fatal(err)
	}
	r.has("1.12", "1.10", "1.11", "1.12")
	left, err := os.ReadDir(filepath.Join(r.dir, filepath.FromSlash(path.Join(lists))))
	if err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
}
