package download_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/test/fsystest"
	"braid/internal/test/mirrortest"
)

// A fault describes how operations fail: which of them, and with which errors.
type fault struct {
	name    string
	applies func(fsystest.Op) bool
	errs    []error // in turn
}

var faults = []fault{
	{"anything", func(fsystest.Op) bool { return true }, []error{syscall.EIO}},
	{"changes", func(op fsystest.Op) bool { return op.Changes }, []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS}},
	{"short writes", func(op fsystest.Op) bool { return op.Name == "write" }, []error{fsystest.Short{Err: syscall.ENOSPC}}},
	{"syncs", func(op fsystest.Op) bool { return op.Syncs }, []error{syscall.EIO, syscall.ENOSPC}},
}

// A failing file system fails at its n-th operation of a kind, and works again after that.
type failing struct {
	fsys.FS
	count atomic.Int64
	err   error
	at    atomic.Pointer[fsystest.Op] // where it failed
}

func newFailing(files fsys.FS, f fault, n int, err error) *failing {
	x := &failing{err: err}
	x.FS = fsystest.Tap(files, func(op fsystest.Op) error {
		if f.applies(op) && x.count.Add(1) == int64(n) {
			x.at.Store(&op)
			return x.err
		}
		return nil
	})
	return x
}

// excused reports whether a failure has no effect: the file is in place and right, and only unneeded files
// are left.
func (s *scene) excused(op fsystest.Op) bool {
	return op.Name == "close" || op.Name == "close folder" || op.Name == "remove" && strings.HasSuffix(op.Path, ".part.journal")
}

// faulty runs on a failing disk and returns the problem with its end. done is true if the disk no longer
// failed.
func (s *scene) faulty(f fault, n int, err error) (done bool, problem error) {
	disk := s.start.Crash(s.start.Changes(), fsystest.Kept) // a copy
	files := newFailing(disk, f, n, err)
	ended := s.run(s.t.Context(), files)
	at := files.at.Load()
	if at == nil {
		return true, errors.Join(ended, s.final(disk, true))
	}
	if problem = s.judge(disk, *at, err, ended); problem != nil {
		return false, fmt.Errorf("%s %s: %v: %w (it ended with: %v)", at.Name, at.Path, err, problem, ended)
	}
	if err := errors.Join(s.run(s.t.Context(), disk), s.final(disk, true)); err != nil {
		return false, fmt.Errorf("%s %s: %v: the next run: %w", at.Name, at.Path, files.err, err)
	}
	return false, nil
}

// judge returns the problem with the end of a run with a failed operation.
func (s *scene) judge(disk fsys.FS, at fsystest.Op, cause, ended error) error {
	switch {
	case ended == nil && at.Syncs:
		return errors.New("it may not be on disk, and nobody said so")
	case ended == nil: // it had no consequence
		return s.final(disk, true)
	}
	e, ok := errors.AsType[*download.Error](ended)
	if !ok || e.Kind != download.Local {
		return errors.New("it is not a fault of the file system")
	}
	text := ended.Error()
	if !strings.Contains(text, cause.Error()) || !strings.Contains(text, at.Path) {
		return errors.New("the message does not name the file and the reason")
	}
	if s.excused(at) {
		return errors.New("the download could have gone on")
	}
	if strings.Contains(text, "is in place") {
		return s.final(disk, true)
	}
	if e.Kept > 0 {
		if _, err := disk.Stat(e.Part); err != nil {
			return fmt.Errorf("what is said to be kept is not: %w", err)
		}
	}
	got, err := fsys.ReadFile(disk, s.path, 16*mib)
	if (s.before == nil) != (err != nil) || !bytes.Equal(got, s.before) {
		return fmt.Errorf("there are %d bytes under the final name", len(got))
	}
	return nil
}

// Each operation of a run fails once, in several ways (rule 7): exit code 3, a message that names the file
// and the reason, no change under the final name, and the next run ends well.
func TestFaults_Rule7(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(s *scene){
		"get":       func(*scene) {},
		"overwrite": func(s *scene) { s.before, s.req.IfExists.Overwrite = made(200<<10, 9), true },
		"resume": func(s *scene) {
			s.act = func(s *scene, files fsys.FS) error { return s.interrupted(files, sceneSize/3) }
		},
		"repair": func(s *scene) { s.before, s.repair = bytes.Clone(s.want[:200<<10]), true },
	} {
		for i, f := range faults {
			if i == 0 && (name == "overwrite" || name == "repair") && !fsystest.Everything() {
				continue // they read and look like the others
			}
			t.Run(name+"/"+f.name, func(t *testing.T) {
				s := newScene(t, name, sceneSize)
				prepare(s)
				if s.start = s.prepared(); s.act != nil {
					if err := s.act(s, s.start); err != nil {
						t.Fatal(err)
					}
				}
				for _, server := range s.servers {
					server.Set(mirrortest.Unlimited())
				}
				t.Logf("%d operations failed", s.enumerate(f))
			})
		}
	}
}

// enumerate fails the first operation, then the second, and so on until none is left.
func (s *scene) enumerate(f fault) (n int) {
	s.t.Helper()
	for n = 1; n < 10_000; n++ {
		errs := f.errs
		if !fsystest.Everything() {
			errs = errs[n%len(errs):][:1]
		}
		all := true
		for _, err := range errs {
			done, problem := s.faulty(f, n, err)
			all = all && done
			if problem != nil {
				s.t.Errorf("%d: %v", n, problem)
			}
		}
		if all {
			return n - 1
		}
	}
	s.t.Fatal("it fails for ever")
	return n
}

// A full disk is a local fault: no source is given up for it, and no other one is tried.
func TestFullDiskBlamesNobody_Rule7(t *testing.T) {
	t.Parallel()
	const size = 4 * mib
	a, b := sized(t, size, mirrortest.Rate(2*mib)), sized(t, size, mirrortest.Rate(2*mib))
	r := newRun(t, vouch(t, size, a, b).URL)
	r.files = fsystest.Tap(fsys.OS, func(op fsystest.Op) error {
		if op.Name == "write" && strings.HasSuffix(op.Path, ".part") {
			return syscall.ENOSPC
		}
		return nil
	})
	r.wrong(download.Local)
	if down := saw[download.SourceDown](r); len(down) > 0 {
		t.Errorf("given up: %+v", down)
	}
}
