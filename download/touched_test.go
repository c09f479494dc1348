package download_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/test/fsystest"
	"braid/internal/test/mirrortest"
)

// meddle lets another program change the part file once so many bytes have come. The server sends little more
// before that.
func (r *run) meddle(s *mirrortest.Server, after int64, do func(path string) error) {
	s.Set(mirrortest.StallAfter(after + mib/2))
	observe, done := r.req.Observe, false
	r.req.Observe = func(ev download.Event) {
		observe(ev)
		if p, ok := ev.(download.Progress); ok && p.Done >= after && !done {
			done = true
			if err := do(r.part()); err != nil {
				r.t.Error(err)
			}
			s.Set(mirrortest.StallAfter(-1))
		}
	}
}

// scribble writes to the beginning of a file, which was hashed long before.
func scribble(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte("another program was here"), 1000)
	return errors.Join(err, f.Close())
}

// Proves rule 2 if another program writes to the part file: the hashed bytes get the name, or all are hashed
// again.
func TestForeignWrite_Rule2(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	for name, options := range map[string][]mirrortest.Option{
		"digest": {mirrortest.Digest()}, "ETag": {mirrortest.ETag(`"v1"`)}, "nothing": nil,
	} {
		for what, do := range map[string]func(string) error{
			"writes": scribble,
			"cuts":   func(path string) error { return os.Truncate(path, mib) },
		} {
			t.Run(name+" "+what, func(t *testing.T) {
				t.Parallel()
				s := sized(t, size, append(options, mirrortest.Rate(8*mib))...)
				r := newRun(t, s.URL)
				r.meddle(s, 3*mib, do)
				res, err := r.get()
				if err != nil {
					t.Fatal(err)
				}
				if r.same(s.Content); res.Fetched > size+2*mib && what == "writes" && name != "nothing" {
					t.Errorf("%d bytes were fetched", res.Fetched)
				}
			})
		}
	}
}

// The same applies to a complete file of an earlier run, before the first byte is hashed.
func TestForeignWriteAtTheEnd_Rule2(t *testing.T) {
	t.Parallel()
	s := sized(t, 2*mib, mirrortest.Digest())
	r := newRun(t, s.URL)
	observe, done := r.req.Observe, false
	r.req.Observe = func(ev download.Event) {
		observe(ev)
		if _, ok := ev.(download.Verified); ok && !done {
			done = true
			if err := scribble(r.part()); err != nil {
				t.Error(err)
			}
		}
	}
	r.right(s.Content)
}

// A program that only reads the part file has no effect, and nothing is fetched twice.
func TestForeignReader_Rule2(t *testing.T) {
	t.Parallel()
	s := sized(t, 4*mib, mirrortest.Digest(), mirrortest.Rate(8*mib))
	r := newRun(t, s.URL)
	var open *os.File
	r.meddle(s, 2*mib, func(path string) (err error) {
		open, err = os.Open(path)
		return err
	})
	res := r.right(s.Content)
	if res.Fetched != 4*mib || open == nil {
		t.Errorf("%+v", res)
	}
	open.Close()
}

// A program that keeps writing is a local fault, not a server's.
func TestForeignWriterThatStays_Rule2(t *testing.T) {
	t.Parallel()
	s := sized(t, mib, mirrortest.Digest())
	r := newRun(t, s.URL)
	r.req.Observe = func(ev download.Event) {
		if _, ok := ev.(download.Verified); ok {
			if err := scribble(r.part()); err != nil {
				t.Error(err)
			}
		}
	}
	_, err := r.get()
	var e *download.Error
	if !errors.As(err, &e) || e.Kind != download.Local || !strings.Contains(e.Error(), "another program") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(r.path()); err == nil {
		t.Error("there is a file")
	}
}

// Proves rule 7 for a sync that fails once, as the system reports it: the next run does not take the cache
// for the disk. A loss of power after that run shows it.
func TestFailedSync_Rule7(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"fdatasync", "sync"} {
		disk := fsystest.NewDisk()
		if err := fsys.MkdirAll(disk, "/d", 0o777); err != nil {
			t.Fatal(err)
		}
		s := sized(t, 2*mib, mirrortest.ETag(`"v1"`), mirrortest.Digest())
		failed := 0
		var client download.Client
		failing := fsys.With(t.Context(), fsystest.Tap(disk, func(o fsystest.Op) error {
			if o.Name == op && strings.HasSuffix(o.Path, ".part") {
				failed++
				return fsystest.LostSync{Err: syscall.EIO}
			}
			return nil
		}))
		req := download.Request{URL: parse(t, s.URL), Dir: "/d", Trust: download.Trust{Require: download.RequireDigest}}
		if op == "fdatasync" { // an interrupted run ends with one
			s.Set(mirrortest.StallAfter(3 * mib / 2))
			ctx, cancel := context.WithCancel(failing)
			begun := req
			begun.Observe = func(ev download.Event) {
				if p, ok := ev.(download.Progress); ok && p.Done >= mib {
					cancel()
				}
			}
			if _, err := client.Get(ctx, begun); err == nil {
				t.Fatal("it was not interrupted")
			}
			s.Set(mirrortest.StallAfter(-1))
		} else if _, err := client.Get(failing, req); !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		if failed == 0 {
			t.Fatalf("no %s failed", op)
		}
		if _, err := client.Get(fsys.With(t.Context(), disk), req); err != nil {
			t.Fatal(err)
		}
		after := disk.Crash(disk.Changes(), fsystest.Lost)
		f, err := after.Open("/d/file.bin")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Content.Compare(fsys.Reader(f)); err != nil {
			t.Errorf("%s: on disk is not what was verified: %v", op, err)
		}
	}
}

// Proves rule 34 for an ETag that stays while the content changes: Last-Modified shows it.
func TestSameETagOtherDate_Rule34(t *testing.T) {
	t.Parallel()
	early := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, sealed := range []bool{true, false} {
		s := sized(t, 4*mib, mirrortest.ETag(`"v1"`), mirrortest.Modified(early), mirrortest.Rate(8*mib))
		r := newRun(t, s.URL)
		if !sealed {
			r.client.JournalKey = ""
		}
		r.interrupt(2 * mib)
		s.Set(mirrortest.Modified(early.Add(time.Hour)), mirrortest.Rate(64*mib))
		if res, err := r.get(); err != nil || res.Resumed != 0 || res.Fetched < 4*mib {
			t.Errorf("%+v, %v", res, err)
		}
		r.same(s.Content)
	}
}
