package watch

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"braid/antenna"
)

func TestKeep(t *testing.T) {
	w := newWorld(t)
	w.rule.Keep = new(2)
	for day, body := range []string{"one", "two", "three", "four", "five"} {
		w.origin.set(func(o *origin) { o.body, o.modified = body, date(day+1) })
		w.does()
		w.holds(w.path(), body)
		// Each version is in a second of its own, which is the resolution of names.
		then := date(day + 1)
		if err := os.Chtimes(w.path(), then, then); err != nil {
			t.Fatal(err)
		}
		w.last.ModTime = then
	}
	if old := w.old(); !slices.Equal(old, []string{"three", "four"}) {
		t.Errorf("old versions are %q", old)
	}
	if _, err := os.Stat(filepath.Join(w.rule.Dir, oldFolder, "file.2026-11-04T10-00-00Z")); err != nil {
		t.Error(err)
	}
	// An unchanged file, an older one and a failure keep no version.
	w.does()
	w.origin.set(func(o *origin) { o.modified = date(1) })
	w.does()
	w.origin.set(func(o *origin) { o.status = http.StatusNotFound })
	if _, err := w.handle(w.update()); err == nil {
		t.Error("404 is no error")
	}
	if old := w.old(); !slices.Equal(old, []string{"three", "four"}) {
		t.Errorf("old versions are %q", old)
	}
}

// TestOldIsTold: a program receives the path of the previous version, also at its second attempt. It receives none if
// the right file was in place already.
func TestOldIsTold(t *testing.T) {
	w := newWorld(t)
	w.rule.Keep, w.rule.Run = new(2), []string{"publish"}
	told := func() string {
		t.Helper()
		for _, kv := range w.hooks[len(w.hooks)-1].Env {
			if old, ok := strings.CutPrefix(kv, "BRAID_WATCH_OLD="); ok {
				return old
			}
		}
		t.Error("nothing is told of old versions")
		return ""
	}
	w.does()
	w.last = antenna.Outcome{} // forgotten
	w.does()
	if old := told(); len(w.hooks) != 2 || old != "" {
		t.Errorf("%d programs, the right file was there: old is %q", len(w.hooks), old)
	}
	w.fail = errors.New("down")
	w.origin.set(func(o *origin) { o.body, o.modified = "two", date(2) })
	for try := range 2 {
		if _, err := w.handle(w.update()); err == nil {
			t.Fatal("it did not fail")
		}
		w.holds(told(), "one")
		if old := w.old(); !slices.Equal(old, []string{"one"}) {
			t.Errorf("try %d: old versions are %q", try+1, old)
		}
	}
}

// Two versions of the same second are both kept, and an interrupted update leaves no copy of the present version.
func TestKeepInOneSecond(t *testing.T) {
	w := newWorld(t)
	w.rule.Keep = new(20)
	var want []string
	for i := range 13 {
		body := fmt.Sprintf("version %2d", i)
		w.origin.set(func(o *origin) { o.body, o.modified = body, date(i+1) })
		w.does()
		if err := os.Chtimes(w.path(), date(1), date(1)); err != nil {
			t.Fatal(err)
		}
		w.last.ModTime = date(1)
		want = append(want, body)
	}
	left := filepath.Join(w.rule.Dir, oldFolder, "file.2026-11-09T10-00-00Z")
	if err := os.Link(w.path(), left); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(w.rule.Dir, oldFolder, "file.2026-11-09")
	if err := os.WriteFile(other, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.rule.Keep = new(4)
	w.does()
	got := w.old()
	slices.Sort(got)
	if want := append([]string{"mine"}, want[8:12]...); !slices.Equal(got, want) {
		t.Errorf("old versions are %q, want %q", got, want)
	}
}
