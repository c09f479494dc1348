package download_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"testing"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/internal/test/fsystest"
	"braid/internal/test/mirrortest"
	"braid/source/httpsource"
	"braid/verify"
)

// A scene is an operation on a file, on a disk that may lose power.
type scene struct {
	t       *testing.T
	name    string
	servers []*mirrortest.Server
	client  download.Client
	req     download.Request
	path    string // of the file
	want    []byte // the final content
	before  []byte // the initial content under the name; nil: none
	repair  bool
	// act performs the recorded operation, if that is not one run.
	act func(s *scene, files fsys.FS) error
	// start is the disk at the start of each run with faults.
	start *fsystest.Disk
}

const sceneSize = 400 << 10

// newScene returns a download from an origin and two mirrors, which are slow while it is recorded.
func newScene(t *testing.T, name string, size int64) *scene {
	var mirrors []string
	s := &scene{t: t, name: name, want: made(size, 7), path: "/d/file.bin"}
	for range 2 {
		m := sized(t, size, mirrortest.Rate(mib))
		s.servers, mirrors = append(s.servers, m), append(mirrors, m.URL)
	}
	origin := sized(t, size, mirrortest.Rate(mib), mirrortest.Digest(), mirrortest.Mirrors(mirrors...))
	s.servers = append(s.servers, origin)
	s.client = download.Client{HTTP: &httpsource.Client{}, JournalKey: filepath.Join(t.TempDir(), "key")}
	t.Cleanup(s.client.HTTP.CloseIdle)
	s.req = download.Request{URL: parse(t, origin.URL), Dir: "/d", MakeDir: true}
	return s
}

// run is the user's command, which is repeated until it succeeds.
func (s *scene) run(ctx context.Context, files fsys.FS) error {
	c := s.client
	ctx = fsys.With(ctx, files)
	if s.repair {
		req := s.req
		req.Name = "file.bin"
		v, err := c.Verify(ctx, req)
		if err == nil || !v.Repairable() {
			return err
		}
		_, err = c.Repair(ctx, v, req.Observe)
		return err
	}
	_, err := c.Get(ctx, s.req)
	return err
}

// interrupted is a run that ends after some bytes, as by Ctrl-C.
func (s *scene) interrupted(files fsys.FS, after int64) error {
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	observed := *s
	observed.client.HTTP = dammed(s.t, after+64<<10)
	observed.req.Observe = func(ev download.Event) {
		if p, ok := ev.(download.Progress); ok && p.Done >= after {
			cancel()
		}
	}
	err := observed.run(ctx, files)
	if e, ok := errors.AsType[*download.Error](err); !ok || e.Kind != download.Interrupted {
		return fmt.Errorf("not interrupted: %v", err)
	}
	return nil
}

// prepared returns the disk before anything happens.
func (s *scene) prepared() *fsystest.Disk {
	s.t.Helper()
	disk := fsystest.NewDisk()
	if s.before != nil {
		err := fsys.MkdirAll(disk, "/d", 0o777)
		if err == nil {
			err = putFile(disk, s.path, s.before)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	disk.Settle()
	return disk
}

func putFile(files fsys.FS, path string, data []byte) error {
	d, name, err := fsys.OpenParent(files, path)
	if err != nil {
		return err
	}
	defer d.Close()
	f, err := d.Create(name, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return errors.Join(err, f.Close())
}

// record performs the operation once and returns the disk.
func (s *scene) record() *fsystest.Disk {
	s.t.Helper()
	disk := s.prepared()
	act := s.act
	if act == nil {
		act = func(s *scene, files fsys.FS) error { return s.run(s.t.Context(), files) }
	}
	if err := act(s, disk); err != nil {
		s.t.Fatalf("%s: %v", s.name, err)
	}
	for _, server := range s.servers {
		server.Set(mirrortest.Unlimited())
	}
	return disk
}

// final compares the content of the final name with the allowed ones.
func (s *scene) final(files fsys.FS, onlyNew bool) error {
	f, err := files.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) && s.before == nil && !onlyNew {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err = mirrortest.ContentOf(s.want).Compare(fsys.Reader(f)); err != nil && s.before != nil && !onlyNew {
		err = mirrortest.ContentOf(s.before).Compare(fsys.Reader(f))
	}
	return err
}

// marked checks that the bytes that the journal marks as complete are on disk.
func (s *scene) marked(files fsys.FS, known ...[]byte) error {
	f, err := partfile.Open(files, "/d", "file.bin")
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no folder either
	}
	if err != nil {
		return err
	}
	defer f.Close()
	prior, ok := f.Prior()
	if !ok {
		return nil
	}
	if err := f.Recover(s.t.Context()); err != nil {
		return err
	}
	have := f.Have()
	for _, data := range known {
		if verify.Agree(prior.Claims, userClaim(digestOf(data))) != nil {
			continue
		}
		for r := range have.All() {
			got := make([]byte, r.Len())
			if _, err := f.ReadAt(got, r.Start); err != nil || !bytes.Equal(got, data[r.Start:r.End]) {
				return fmt.Errorf("%v is marked as done and is not there (%v)", r, err)
			}
		}
		return nil
	}
	return errors.New("the journal is of a file that nobody asked for")
}

// after returns the error of a loss of power after n changes, or nil.
func (s *scene) after(disk *fsystest.Disk, n int, fate fsystest.Fate, known ...[]byte) error {
	after := disk.Crash(n, fate)
	if err := s.final(after, n == disk.Changes()); err != nil {
		return err
	}
	if err := s.marked(after.Crash(0, fsystest.Kept), known...); err != nil {
		return err
	}
	if err := s.run(s.t.Context(), after); err != nil {
		return fmt.Errorf("the next run: %w", err)
	}
	if err := s.final(after, true); err != nil {
		return fmt.Errorf("after the next run: %w", err)
	}
	return s.final(after.Crash(after.Changes(), fsystest.Lost), true)
}

// lose loses power at many moments of the recorded operation.
func (s *scene) lose(known ...[]byte) {
	s.t.Helper()
	disk := s.record()
	tried, torn, points := 0, 1, 10
	if fsystest.Everything() {
		torn = 8
	}
	for _, n := range fsystest.Sample(disk.Changes(), points, 1) {
		for _, fate := range fsystest.Fates(uint64(n)<<8, torn) {
			tried++
			if err := s.after(disk, n, fate, append(known, s.want)...); err != nil {
				s.t.Errorf("%s: after %d of %d changes, %v: %v", s.name, n, disk.Changes(), fate, err)
			}
		}
	}
	s.t.Logf("%s: %d losses of power in %d changes", s.name, tried, disk.Changes())
}

// Power is lost at any moment of a download: the final name has no file, the old one or the new one; bytes
// marked as complete are on disk; the next run ends well; and work reported as done stays done.
func TestPowerLoss_Rule1_Rule6_Rule8(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(s *scene){
		"get": func(*scene) {},
		"overwrite": func(s *scene) {
			s.before, s.req.IfExists.Overwrite = made(200<<10, 9), true
		},
		"resume": func(s *scene) {
			s.act = func(s *scene, files fsys.FS) error {
				return errors.Join(s.interrupted(files, sceneSize/4), s.interrupted(files, sceneSize/2),
					s.run(s.t.Context(), files))
			}
		},
		"repair": func(s *scene) {
			s.before, s.repair = bytes.Clone(s.want[:200<<10]), true
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, name, sceneSize)
			prepare(s)
			s.lose()
		})
	}
}

// A file changes at its origin between two runs (rule 34): the disk has bytes of both versions, but never in
// one file.
func TestPowerLossOfChange_Rule34(t *testing.T) {
	t.Parallel()
	s := newScene(t, "changed", sceneSize)
	first := newScene(t, "before", sceneSize)
	s.act = func(s *scene, files fsys.FS) error {
		old := *s
		old.req.URL = first.req.URL
		old.req.Name = "file.bin"
		err := old.interrupted(files, sceneSize/3)
		return errors.Join(err, s.run(s.t.Context(), files))
	}
	s.want = made(sceneSize, 8)
	body := mirrortest.New(t, s.want, mirrortest.Rate(mib), mirrortest.Digest())
	s.servers, s.req.URL = []*mirrortest.Server{body}, parse(t, body.URL)
	s.lose(first.want)
}

// digestOf returns the SHA-256 of a content that does not change.
func digestOf(data []byte) verify.Digest {
	d, ok := digests.Load(&data[0])
	if !ok {
		sum := sha256.Sum256(data)
		made, err := verify.NewDigest(verify.SHA256, sum[:])
		if err != nil {
			panic(err)
		}
		d, _ = digests.LoadOrStore(&data[0], made)
	}
	return d.(verify.Digest)
}

// digests has the digests of contents, by the address of their first byte.
var digests sync.Map
