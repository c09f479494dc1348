package watch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"braid/antenna"
	"braid/download"
)

func TestHooks(t *testing.T) {
	w := newWorld(t)
	w.rule.Run, w.rule.Keep = []string{"publish", "it"}, new(1)
	w.does()
	w.does() // unchanged
	w.origin.set(func(o *origin) { o.body, o.modified = "two", date(2) })
	w.does()
	if len(w.hooks) != 2 {
		t.Fatalf("%d programs were run", len(w.hooks))
	}
	h := w.hooks[1]
	old, _ := filepath.Glob(filepath.Join(w.rule.Dir, oldFolder, "*"))
	for _, want := range []string{
		"WATCH_EVENT=updated", "WATCH_NAME=w", "WATCH_REASON=modified", "WATCH_FEED=", "WATCH_TRY=1",
		"WATCH_OLD=" + strings.Join(old, " "),
		"FILE_URL=" + w.origin.URL + "/pub/file", "FILE_PATH=" + w.path(), "FILE_SIZE=3", "FILE_VERIFIED=true",
		"FILE_SHA256=" + fmt.Sprintf("%x", sha256.Sum256([]byte("two"))), "FILE_EVIDENCE=sha-256 from Digest over http",
		"FILE_LAST_MODIFIED=2026-11-02T10:00:00Z",
	} {
		if !slices.Contains(h.Env, "BRAID_"+want) {
			t.Errorf("the environment has no %s: %q", want, h.Env)
		}
	}
	if !slices.Equal(h.Args, w.rule.Run) || h.Dir != w.rule.Dir || h.Time != hookTime {
		t.Errorf("%+v", h)
	}
}

// A program that fails is run again with the update, without another download, also by the next process.
func TestHookFails(t *testing.T) {
	w := newWorld(t)
	w.origin.digest, w.rule.Request.Trust.Require = false, download.RequireNothing
	w.rule.Run, w.rule.OnFailure = []string{"publish"}, []string{"tell"}
	w.fail = errors.New("no")
	for range 2 {
		if _, err := w.handle(w.update()); !errors.Is(err, w.fail) {
			t.Fatalf("error is %v", err)
		}
		w.start()
	}
	w.fail = nil
	w.origin.set(func(*origin) {})
	o := w.does()
	if asked := w.origin.asked(); !o.Changed || len(asked) != 1 || asked[0] != "HEAD "+date(1).Format(http.TimeFormat) {
		t.Errorf("%+v, asked %q", o, asked)
	}
	if len(w.hooks) != 4 { // publish, tell, publish, publish
		t.Errorf("programs: %+v", w.hooks)
	}
	w.does()
	if len(w.hooks) != 4 {
		t.Errorf("run again after it was done: %+v", w.hooks)
	}
}

// TestHintOfHalfFile: a file that a list beside it contradicts is tried again, and no hint advises to accept it.
func TestHintOfHalfFile(t *testing.T) {
	var b strings.Builder
	l := &ServiceLog{Logger: slog.New(slog.NewTextHandler(&b, nil))}
	l.event(antenna.Handled{Err: &download.Error{
		Kind: download.Mismatch, What: "verify", Hint: download.HintNoLookup, Err: errors.New("sha-256 is 1, want 2"),
	}})
	if said := b.String(); !strings.Contains(said, "it is tried again") || strings.Contains(said, "no-lookup") {
		t.Error(said)
	}
}

// TestUnorderedLogged: a round logs that versions cannot be ordered, because it has no file of them to log.
func TestUnorderedLogged(t *testing.T) {
	var b strings.Builder
	l := &ServiceLog{Logger: slog.New(slog.NewTextHandler(&b, nil)), rounds: true}
	l.event(antenna.Skipped{Watch: "tool", Why: antenna.Unordered})
	l.event(antenna.Skipped{Watch: "tool", Why: "not-in-feed"})
	if said := b.String(); !strings.Contains(said, "watch=tool why=unordered") || strings.Contains(said, "not-in-feed") {
		t.Error(said)
	}
}

// On-failure is run once for each new failure.
func TestOnFailure(t *testing.T) {
	w := newWorld(t)
	w.rule.OnFailure = []string{"tell"}
	fails := func(status int) {
		t.Helper()
		w.origin.set(func(o *origin) { o.status = status })
		if _, err := w.handle(w.update()); err == nil {
			t.Fatal("no error")
		}
		w.start() // the failure is stored
	}
	fails(http.StatusNotFound)
	fails(http.StatusNotFound)
	if len(w.hooks) != 1 {
		t.Fatalf("run %d times", len(w.hooks))
	}
	fails(http.StatusUnauthorized)
	if len(w.hooks) != 2 || !slices.ContainsFunc(w.hooks[1].Env, func(kv string) bool {
		return strings.HasPrefix(kv, "BRAID_WATCH_ERROR=") && strings.Contains(kv, "401")
	}) {
		t.Fatalf("%+v", w.hooks)
	}
	w.origin.set(func(o *origin) { o.status = 0 })
	w.does()
	fails(http.StatusUnauthorized)
	if len(w.hooks) != 3 {
		t.Errorf("run %d times", len(w.hooks))
	}
	w.updater.Hide = strings.NewReplacer("404", "***").Replace
	fails(http.StatusNotFound)
	if len(w.hooks) != 4 || !slices.ContainsFunc(w.hooks[3].Env, func(kv string) bool {
		return strings.HasPrefix(kv, "BRAID_WATCH_ERROR=") && strings.Contains(kv, "***") && !strings.Contains(kv, "404")
	}) {
		t.Errorf("%+v", w.hooks)
	}
	w.rule.OnFailure = nil
	before, _ := os.Stat(filepath.Join(w.dir, "memory"))
	fails(http.StatusNotFound)
	if after, err := os.Stat(filepath.Join(w.dir, "memory")); err != nil || !os.SameFile(before, after) {
		t.Errorf("what nobody wants to know is written: %v", err)
	}
}

// A requested stop is no failure.
func TestStopped(t *testing.T) {
	w := newWorld(t)
	w.rule.OnFailure = []string{"tell"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.updater.Handle(ctx, w.update()); err == nil {
		t.Error("no error")
	}
	if len(w.hooks) != 0 {
		t.Errorf("%+v", w.hooks)
	}
}

// A failed program is run again, even if the next bytes are those of the last version for which one succeeded.
func TestFailedProgramRunsAgain(t *testing.T) {
	for name, then := range map[string]string{"the file was gone": "one", "another version in between": "two"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.rule.Run = []string{"program"}
			w.does()
			if then == "one" {
				if err := os.Remove(w.path()); err != nil {
					t.Fatal(err)
				}
			}
			w.origin.set(func(o *origin) { o.body, o.modified = then, date(2) })
			w.fail = errors.New("program")
			if _, err := w.handle(w.update()); err == nil || len(w.hooks) != 2 {
				t.Fatalf("%v, %d programs", err, len(w.hooks))
			}
			w.fail = nil
			w.origin.set(func(o *origin) { o.body, o.modified = "one", date(3) })
			w.start()
			w.does()
			w.holds(w.path(), "one")
			if len(w.hooks) != 3 {
				t.Errorf("%d programs ran", len(w.hooks))
			}
			w.does()
			if len(w.hooks) != 3 {
				t.Errorf("%d programs ran after it was done", len(w.hooks))
			}
		})
	}
}
