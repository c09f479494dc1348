package antenna

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"braid/antenna/feed"
	"braid/internal/fsys"
	"braid/internal/test/fsystest"
)

// left returns the published files on a disk and the number of temporary files left behind.
func left(t *testing.T, files fsys.FS) (published map[string]string, temporary int) {
	t.Helper()
	published = map[string]string{}
	d, err := files.OpenDir("/w/pub")
	if errors.Is(err, fs.ErrNotExist) {
		return published, 0
	}
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	names, err := d.Names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".tmp") {
			temporary++
			continue
		}
		data, err := fsys.ReadFile(files, "/w/pub/"+name, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		published[name] = string(data)
	}
	return published, temporary
}

// mixed returns an error if a file is neither the old one nor the new one.
func mixed(found, before, after map[string]string) error {
	for name, text := range found {
		if text != before[name] && text != after[name] {
			return fmt.Errorf("%s has %d bytes, and is neither the old file nor the new one", name, len(text))
		}
	}
	for name := range before {
		if _, ok := found[name]; !ok {
			return fmt.Errorf("%s is gone", name)
		}
	}
	return nil
}

// snapshots returns the first snapshot and a later one.
func snapshots() (first, then feed.Snapshot) {
	one := own("http://a.example/", nil)
	return ours(one), ours(one, own("http://b.example/", nil),
		own("http://c.example/", func(k *feed.Known) { k.Record.Title = strings.Repeat("c", 700) }))
}

// TestPowerLoss_Rule1 checks that after a power failure at any moment of the first or a later publication each file is
// completely the old or the new one, and that the next publication writes all files.
func TestPowerLoss_Rule1(t *testing.T) {
	first, then := snapshots()
	disk := fsystest.NewDisk()
	for _, s := range []feed.Snapshot{first, then} {
		before, _ := left(t, disk)
		if _, err := WriteFolder("/w/pub", s, FolderOptions{files: disk}); err != nil {
			t.Fatal(err)
		}
		after, _ := left(t, disk)
		for n := range disk.Changes() + 1 {
			for _, fate := range fsystest.Fates(uint64(n)<<8, 4) {
				found := disk.Crash(n, fate)
				have, _ := left(t, found)
				err := mixed(have, before, after)
				if n == disk.Changes() {
					err = errors.Join(err, mixed(have, after, after))
				}
				if _, again := WriteFolder("/w/pub", s, FolderOptions{files: found}); again != nil {
					err = errors.Join(err, again)
				}
				have, _ = left(t, found)
				if err = errors.Join(err, mixed(have, after, after)); err != nil {
					t.Errorf("after %d of %d changes, %v: %v", n, disk.Changes(), fate, err)
				}
			}
		}
		disk.Settle()
	}
}

// TestFaults_Rule7 lets each operation of a publication fail once, and checks that the error names the file, that each
// file is the old or the new one, and that no temporary file is left.
func TestFaults_Rule7(t *testing.T) {
	first, then := snapshots()
	disk := fsystest.NewDisk()
	if _, err := WriteFolder("/w/pub", first, FolderOptions{files: disk}); err != nil {
		t.Fatal(err)
	}
	disk.Settle()
	before, _ := left(t, disk)
	if _, err := WriteFolder("/w/pub", then, FolderOptions{files: disk}); err != nil {
		t.Fatal(err)
	}
	after, _ := left(t, disk)
	for n := 1; ; n++ {
		found, count, at := disk.Crash(0, fsystest.Kept), 0, fsystest.Op{}
		files := fsystest.Tap(found, func(op fsystest.Op) error {
			if count++; count == n {
				at = op
				return syscall.ENOSPC
			}
			return nil
		})
		_, failed := WriteFolder("/w/pub", then, FolderOptions{files: files})
		if at.Name == "" {
			break
		}
		have, temporary := left(t, found)
		err := mixed(have, before, after)
		if failed != nil && (!errors.Is(failed, syscall.ENOSPC) || !strings.Contains(failed.Error(), at.Path)) {
			err = errors.Join(err, fmt.Errorf("it says %q", failed))
		}
		if temporary > 0 && at.Name != "remove" {
			err = errors.Join(err, fmt.Errorf("%d temporary files are left", temporary))
		}
		if err != nil {
			t.Errorf("%s %s fails: %v", at.Name, at.Path, err)
		}
	}
}
