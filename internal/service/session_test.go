//go:build unix

package service

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"braid/daemon/rpc"
	"braid/internal/job"
)

// TestSaveSession_Rule69: a client's session replaces another one, and nothing of which it cannot be told that it is one.
func TestSaveSession_Rule69(t *testing.T) {
	d := &Service{Job: &job.Defaults{}, Root: t.TempDir()}
	in := func(name string) string { return filepath.Join(d.Root, name) }
	if err := errors.Join(os.WriteFile(in("file"), []byte("precious"), 0o600), syscall.Mkfifo(in("pipe"), 0o600),
		os.Symlink("file", in("link"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "pipe", "link"} {
		before, _ := os.Lstat(in(name))
		err := d.saveSession(in(name), []byte(rpc.SessionMark))
		if after, _ := os.Lstat(in(name)); err == nil || !os.SameFile(before, after) {
			t.Errorf("%s was replaced: %v", name, err)
		}
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, in("elsewhere")); err != nil {
		t.Fatal(err)
	}
	if err := d.saveSession(in("elsewhere/new"), []byte(rpc.SessionMark)); err == nil {
		t.Error("a link leads out of the root")
	}
	for _, text := range []string{"", "more"} {
		if err := d.saveSession(in("new"), []byte(rpc.SessionMark+text)); err != nil {
			t.Error(err)
		}
	}
}
