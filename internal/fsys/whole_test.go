package fsys_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"braid/internal/fsys"
	"braid/internal/test/fsystest"
)

// only fails the test unless the folder has exactly these names, without temporary files.
func only(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if len(got) != len(want) {
		t.Fatalf("the folder has %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("the folder has %q, want %q", got, want)
		}
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	for _, tt := range []struct {
		data string
		perm fs.FileMode
	}{{"first", 0o600}, {"", 0o666}, {"third, longer than the first", 0o640}} {
		if err := fsys.WriteFile(nil, path, []byte(tt.data), tt.perm); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != tt.data {
			t.Errorf("content is %q, %v, want %q", got, err, tt.data)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != tt.perm {
			t.Errorf("mode is %v, %v, want %v", info.Mode(), err, tt.perm)
		}
		only(t, dir, "state")
	}
}

func TestWriteFileInWorkingDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := fsys.WriteFile(nil, "state", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	only(t, ".", "state")
}

// A failed write leaves the old file unchanged, and no other file.
func TestWriteFileFails(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := fsys.WriteFile(nil, folder, []byte("x"), 0o600); err == nil {
		t.Error("a folder was replaced by a file")
	}
	only(t, dir, "folder")
	err := fsys.WriteFile(nil, filepath.Join(dir, "none", "state"), []byte("x"), 0o600)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that does not exist: %v", err)
	}
	only(t, dir, "folder")
}

// An error of content leaves the old file unchanged, and is returned.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := fsys.Write(nil, path, 0o600, func(w io.Writer) error {
		io.WriteString(w, "half")
		return broken
	})
	if got, _ := os.ReadFile(path); err != broken || string(got) != "old" {
		t.Errorf("%v, and the file has %q", err, got)
	}
	only(t, dir, "state")
	if err := fsys.Write(nil, path, 0o644, func(w io.Writer) error {
		_, err := io.WriteString(w, "new")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "new" {
		t.Errorf("the file has %q", got)
	}
	only(t, dir, "state")
}

// A symbolic link is replaced; its target keeps its bytes.
func TestWriteFileDoesNotFollowLinks(t *testing.T) {
	dir := t.TempDir()
	other, link := filepath.Join(dir, "other"), filepath.Join(dir, "state")
	if err := os.WriteFile(other, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("other", link); err != nil {
		t.Fatal(err)
	}
	if err := fsys.WriteFile(nil, link, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(other); string(got) != "keep" {
		t.Errorf("the file behind the link has %q", got)
	}
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the link is %v, %v, want a regular file", info.Mode(), err)
	}
}

// Readers see one content or another, never a part or a mixture, during concurrent writes.
func TestReadersSeeWholeFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	contents := [][]byte{bytes.Repeat([]byte("a"), 100_000), bytes.Repeat([]byte("b"), 50_000)}
	if err := fsys.WriteFile(nil, path, contents[0], 0o600); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for _, c := range contents {
		writers.Go(func() {
			for range 20 {
				if err := fsys.WriteFile(nil, path, c, 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	written := make(chan struct{})
	go func() { writers.Wait(); close(written) }()
	for open := true; open; {
		select {
		case <-written:
			open = false
		default:
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, contents[0]) && !bytes.Equal(got, contents[1]) {
			t.Fatalf("a reader saw %d bytes, %v: neither content", len(got), err)
		}
	}
	only(t, filepath.Dir(path), "state")
}

// A file written by WriteFile is on disk when it returns. One written by WriteHasty may be lost, but is never
// incomplete.
func TestWriteFileIsOnDisk(t *testing.T) {
	for name, write := range map[string]func(fsys.FS, string, []byte, fs.FileMode) error{"whole": fsys.WriteFile,
		"hasty": fsys.WriteHasty} {
		disk := fsystest.NewDisk()
		if err := write(disk, "/f", []byte("abc"), 0o600); err != nil {
			t.Fatal(err)
		}
		after := disk.Crash(disk.Changes(), fsystest.Lost)
		switch data, err := fsys.ReadFile(after, "/f", 10); {
		case name == "whole" && (err != nil || string(data) != "abc"):
			t.Errorf("lost: %q, %v", data, err)
		case name == "hasty" && !errors.Is(err, fs.ErrNotExist):
			t.Errorf("hasty: %q, %v: it was synced", data, err)
		}
	}
}
