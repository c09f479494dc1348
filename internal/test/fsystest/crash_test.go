package fsystest

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"testing"

	"braid/internal/fsys"
)

// What is on disk after a loss of power is what was synced; the rest has the fate that was asked for.
func TestCrash(t *testing.T) {
	disk := NewDisk()
	d, err := disk.OpenDir("/")
	must(t, err)
	f, err := d.Create("f", 0o600)
	must(t, err)
	write := func(text string, off int64) {
		t.Helper()
		_, err := f.WriteAt([]byte(text), off)
		must(t, err)
	}
	write("one", 0)
	must(t, f.Datasync())
	nameless := disk.Changes() // its bytes are on disk, and it has no name there
	must(t, d.Sync())
	write("two", 3)
	must(t, d.Rename("f", "g"))
	end := disk.Changes()
	for _, tt := range []struct {
		at   int
		fate Fate
		want []string
	}{
		{nameless, Lost, nil},
		{nameless, Names, []string{`f -rw------- 1 "one"`}},
		{end, Lost, []string{`f -rw------- 1 "one"`}},
		{end, Kept, []string{`g -rw------- 1 "onetwo"`}},
		{end, Names, []string{`g -rw------- 1 "one"`}},
		{end, Nameless, []string{`f -rw------- 1 "onetwo"`}},
		{end, Zeroes, []string{`g -rw------- 1 "one\x00\x00\x00"`}},
	} {
		if got := tree(t, disk.Crash(tt.at, tt.fate), "/"); !slices.Equal(got, tt.want) {
			t.Errorf("after %d changes, %v: %q, want %q", tt.at, tt.fate, got, tt.want)
		}
	}
	must(t, f.Chmod(0o644))
	must(t, f.Datasync()) // not the mode
	if got := tree(t, disk.Crash(disk.Changes(), Lost), "/"); !slices.Equal(got, []string{`f -rw------- 1 "onetwo"`}) {
		t.Errorf("after fdatasync: %q", got)
	}
	must(t, f.Sync())
	must(t, d.Sync())
	if got := tree(t, disk.Crash(disk.Changes(), Lost), "/"); !slices.Equal(got, []string{`g -rw-r--r-- 1 "onetwo"`}) {
		t.Errorf("after all syncs: %q", got)
	}
}

// A write that is torn leaves each sector old, new or zero, and what was synced before is as it was.
func TestTorn(t *testing.T) {
	const sectors = 40
	disk := NewDisk()
	f, _ := create(t, disk, "/f")
	old := bytes.Repeat([]byte("o"), sectors/2*sector)
	_, err := f.WriteAt(old, 0)
	must(t, err)
	disk.Settle()
	_, err = f.WriteAt(bytes.Repeat([]byte("n"), sectors*sector), 0)
	must(t, err)
	seen := map[byte]int{}
	for seed := range uint64(50) {
		after := disk.Crash(1, Torn(seed))
		got, err := fsys.ReadFile(after, "/f", 1<<20)
		must(t, err)
		for s := range slices.Chunk(got, sector) {
			if !bytes.Equal(s, bytes.Repeat(s[:1], len(s))) {
				t.Fatalf("seed %d: a sector is a mixture", seed)
			}
			seen[s[0]]++
		}
		if len(got) < len(old) {
			t.Errorf("seed %d: %d bytes", seed, len(got))
		}
	}
	if seen['o'] == 0 || seen['n'] == 0 || seen[0] == 0 {
		t.Errorf("seen %v", seen)
	}
}

// A tap is asked about everything, and what it refuses is not done.
func TestTap(t *testing.T) {
	disk := NewDisk()
	var asked []string
	var refuse error
	files := Tap(disk, func(op Op) error {
		asked = append(asked, op.Name)
		return refuse
	})
	must(t, fsys.MkdirAll(files, "/d", 0o700))
	f, _ := create(t, files, "/d/f")
	refuse = Short{syscall.ENOSPC}
	n, err := f.WriteAt([]byte("abcd"), 0)
	if path := new(fs.PathError); n != 2 || !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &path) || path.Path != "/d/f" {
		t.Errorf("%d, %v", n, err)
	}
	refuse = syscall.EIO
	for _, err := range []error{f.Truncate(0), f.Chmod(0), f.Sync(), f.Datasync(), f.Reserve(1)} {
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("%v", err)
		}
	}
	if err := f.Close(); !errors.Is(err, syscall.EIO) {
		t.Errorf("close: %v", err)
	}
	if got := tree(t, disk, "/"); !slices.Equal(got, []string{"d drwx------", `d/f -rw------- 1 "ab"`}) {
		t.Errorf("%q", got)
	}
	want := []string{"stat", "stat", "open folder", "make folder", "sync folder", "close folder", "open folder",
		"create", "close folder", "write",
		"truncate", "chmod", "sync", "fdatasync", "preallocate", "close"}
	if !slices.Equal(asked, want) {
		t.Errorf("asked about %q, want %q", asked, want)
	}
}

func TestSample(t *testing.T) {
	t.Setenv(allEnv, "")
	for _, tt := range []struct{ n, most, want int }{{0, 5, 1}, {4, 5, 5}, {100, 5, 5}, {5, 2, 2}} {
		got := Sample(tt.n, tt.most, 1)
		if len(got) != tt.want || got[0] != 0 || got[len(got)-1] != tt.n || !slices.IsSorted(got) ||
			len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("%d of %d: %v", tt.most, tt.n, got)
		}
	}
	t.Setenv(allEnv, "1")
	if got := Sample(100, 5, 1); len(got) != 101 {
		t.Errorf("everything is %d", len(got))
	}
}
