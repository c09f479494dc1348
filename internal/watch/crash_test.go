package watch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"braid/antenna"
	"braid/internal/fsys"
	"braid/internal/test/fsystest"
)

// updating returns a watch on a disk of its own with the first version of a file, whose origin has the second version.
func updating(t *testing.T) (w *world, disk *fsystest.Disk) {
	t.Helper()
	w = newWorld(t)
	w.dir, w.rule.Dir, w.rule.Keep, w.rule.Run = "/w", "/w/files", new(2), []string{"program"}
	disk = fsystest.NewDisk()
	if err := fsys.MkdirAll(disk, "/w", 0o700); err != nil {
		t.Fatal(err)
	}
	w.on(disk)
	w.does()
	disk.Settle()
	w.origin.set(func(o *origin) { o.body, o.modified = "two", date(2) })
	return w, disk
}

// on creates an Updater with the state on a disk.
func (w *world) on(files fsys.FS) {
	w.t.Helper()
	w.files, w.hooks = files, nil
	w.start()
}

// versions returns the content of the file, and of the versions that are kept.
func versions(t *testing.T, files fsys.FS) (now string, old []string) {
	t.Helper()
	now = content(t, files, "/w/files/file")
	d, err := files.OpenDir("/w/files/" + oldFolder)
	if errors.Is(err, syscall.ENOENT) {
		return now, nil
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
		old = append(old, content(t, files, path.Join("/w/files", oldFolder, name)))
	}
	return now, old
}

func content(t *testing.T, files fsys.FS, path string) string {
	t.Helper()
	data, err := fsys.ReadFile(files, path, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// again checks a disk after an interrupted update, and handles the update again, as the antenna does until it is
// acknowledged.
func (w *world) again(disk *fsystest.Disk, u antenna.Update) error {
	switch now, old := versions(w.t, disk); {
	case now != "one" && now != "two":
		return fmt.Errorf("the file is %q", now)
	case now == "two" && !slices.Contains(old, "one"):
		return fmt.Errorf("the version before is lost: %q", old)
	}
	w.on(disk)
	o, err := w.updater.Handle(fsys.With(w.t.Context(), w.files), u)
	if err != nil {
		return err
	}
	if now, old := versions(w.t, disk); now != "two" || !slices.Equal(old, []string{"one"}) {
		return fmt.Errorf("in the end the file is %q, and the old ones are %q", now, old)
	}
	if !o.Changed || len(w.hooks) != 1 {
		return fmt.Errorf("changed %t, %d programs were run", o.Changed, len(w.hooks))
	}
	if memory, err := openMemory(disk, filepath.Join(w.dir, "memory"), w.updater.Rules); err != nil ||
		len(memory.Placed)+len(memory.Failed) != 0 {
		return fmt.Errorf("left in memory: %v, %v, %w", memory.Placed, memory.Failed, err)
	}
	return nil
}

// Power is lost at each moment of an update: the file is the old or the new one, the old one is kept, and handling the
// update again completes it, including the program.
func TestPowerLoss_Rule1_Rule6(t *testing.T) {
	w, disk := updating(t)
	u := w.update()
	placed := 0
	w.updater.runHook = func(context.Context, hook) error {
		placed = disk.Changes() // the file in place is recorded
		return nil
	}
	w.does()
	torn, points := 2, 30
	if fsystest.Everything() {
		torn = 40
	}
	tried := 0
	for _, n := range append(fsystest.Sample(disk.Changes(), points, 3), placed) {
		for _, fate := range fsystest.Fates(uint64(n)<<8, torn) {
			tried++
			w.origin.set(func(*origin) {})
			if err := w.again(disk.Crash(n, fate), u); err != nil {
				t.Errorf("after %d of %d changes, %v: %v", n, disk.Changes(), fate, err)
			}
			if asked := w.origin.asked(); n == placed && asked[0] != "HEAD "+date(2).Format(http.TimeFormat) {
				t.Errorf("%v: what is in place and remembered is asked for by %q", fate, asked)
			}
		}
	}
	t.Logf("%d losses of power in %d changes", tried, disk.Changes())
}

// Each operation of an update fails once (rule 7): the file is the old or the new one, and handling the update again
// completes it.
func TestFaults_Rule7(t *testing.T) {
	w, disk := updating(t)
	u := w.update()
	for n := 1; ; n++ {
		after := disk.Crash(0, fsystest.Kept)
		count, at := 0, fsystest.Op{}
		w.on(after)
		files := fsystest.Tap(after, func(op fsystest.Op) error {
			if count++; count == n {
				at = op
				return syscall.EIO
			}
			return nil
		})
		_, failed := w.updater.Handle(fsys.With(t.Context(), files), u)
		if at.Name == "" {
			t.Logf("%d operations failed", n-1)
			break
		}
		if failed != nil && !errors.Is(failed, syscall.EIO) {
			t.Errorf("%s %s: %v", at.Name, at.Path, failed)
		}
		if err := w.again(after, u); err != nil {
			t.Errorf("%s %s fails, and then: %v", at.Name, at.Path, err)
		}
	}
}
