package download_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/internal/test/fsystest"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// killedScene returns a download from one server that states no digest.
func killedScene(t *testing.T, opts ...mirrortest.Option) *scene {
	s := newScene(t, "killed", 100<<10)
	origin := sized(t, 100<<10, opts...)
	s.servers, s.req.URL, s.want = []*mirrortest.Server{origin}, parse(t, origin.URL), origin.Content.Bytes()
	return s
}

// result returns the result of the next run on that disk.
func (s *scene) result(files fsys.FS) (download.Result, error) {
	c := s.client
	return c.Get(fsys.With(s.t.Context(), files), s.req)
}

func there(files fsys.FS, path string) bool {
	_, err := files.Stat(path)
	return err == nil
}

// After a kill at any moment, also between the rename and the removal of the journal, the next run ends well,
// with or without a digest. It reports that the file is complete if it is in place, and leaves no journal.
func TestKilledCommit_Rule3_Rule8(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *scene){
		"as before": func(*scene) {},
		"overwrite": func(s *scene) { s.req.IfExists.Overwrite = true },
		"newer":     func(s *scene) { s.req.IfExists.IfNewer = true },
		"server is gone": func(s *scene) {
			s.servers[0].Die()
		},
		"no key": func(s *scene) { s.client.JournalKey = "" },
	} {
		t.Run(name, func(t *testing.T) {
			s := killedScene(t, mirrortest.ETag(`"one"`))
			disk := s.record()
			change(s)
			placed := 0
			for n := disk.Changes() - 12; n <= disk.Changes(); n++ {
				after := disk.Crash(n, fsystest.Kept)
				inPlace, journal := there(after, s.path), there(after, s.path+".part.journal")
				if name == "server is gone" && (!inPlace || !journal) {
					continue
				}
				if inPlace && !journal {
					break // it ended without a kill
				}
				res, err := s.result(after)
				if err != nil {
					t.Errorf("after %d of %d changes (in place: %v): %v", n, disk.Changes(), inPlace, err)
					continue
				}
				if inPlace {
					placed++
				}
				if want := inPlace && !s.req.IfExists.Overwrite &&
					!s.req.IfExists.IfNewer; res.AlreadyComplete != want || res.Proof.Verified() || res.Due {
					t.Errorf("after %d of %d changes: %+v, want already complete: %v", n, disk.Changes(), res, want)
				}
				if there(after, s.path+".part.journal") || there(after, s.path+".part") {
					t.Errorf("after %d of %d changes: the journal is still there", n, disk.Changes())
				}
				if err := s.final(after, true); err != nil {
					t.Error(err)
				}
			}
			if placed == 0 {
				t.Error("no kill was between the rename and the removal of the journal")
			}
		})
	}
}

// Work on a file stays due until it is reported as done, whenever power is lost: at least once.
func TestDue_Rule6(t *testing.T) {
	t.Parallel()
	s := killedScene(t)
	s.req.Due = true
	disk := s.record()
	for _, n := range fsystest.Sample(disk.Changes(), 12, 3) {
		for _, fate := range fsystest.Fates(uint64(n)<<8, 2) {
			after := disk.Crash(n, fate)
			for range 2 { // it is not reported as done
				res, err := s.result(after)
				if err != nil && errors.Is(err, fs.ErrExist) {
					t.Errorf("after %d of %d changes, %v: %v", n, disk.Changes(), fate, err)
				}
				if !res.Due {
					t.Errorf("after %d of %d changes, %v: it is not due any more: %+v", n, disk.Changes(), fate, res)
				}
			}
			c, err := partfile.OpenCommitted(after, "/d", "file.bin")
			if err != nil || !c.Due() {
				t.Fatalf("after %d of %d changes, %v: %+v, %v", n, disk.Changes(), fate, c, err)
			}
			if err := errors.Join(c.Clear(), c.Close()); err != nil {
				t.Error(err)
			}
			if there(after, s.path+".part.journal") {
				t.Error("the journal is still there")
			}
		}
	}
}

// commit leaves a file in place with its journal, like a run that is stopped.
func (r *run) commit(id partfile.Identity, data []byte, key *partfile.Key) {
	r.t.Helper()
	f, err := partfile.Open(fsys.OS, r.dir, "file.bin")
	if err != nil {
		r.t.Fatal(err)
	}
	f.SealWith(key)
	id.URL, id.URLSum, id.Size = r.req.URL.String(), partfile.SumURL(r.req.URL), int64(len(data))
	c := verify.NewChecker(-1, nil)
	c.Write(data)
	proof, err := c.Proof()
	if err == nil {
		err = f.Begin(id)
	}
	if err == nil {
		_, err = f.WriteAt(data, 0)
	}
	if err == nil {
		err = f.Commit(proof, partfile.Final{Due: true})
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// A planted journal beside a planted file does not verify the file or make it the right one.
func TestPlantedCommit_Rule8_Rule64(t *testing.T) {
	t.Parallel()
	evil := made(100<<10, 66)
	lie := partfile.Identity{Claims: []verify.Claim{{Digest: digestOf(evil), Field: "Digest", Channel: verify.HTTPS}}}
	for name, opts := range map[string][]mirrortest.Option{"nothing": nil, "an ETag": {mirrortest.ETag(`"one"`)},
		"a digest": {mirrortest.Digest()}} {
		t.Run("the server names "+name, func(t *testing.T) {
			for _, key := range []*partfile.Key{nil, partfile.OpenKey(nil, filepath.Join(t.TempDir(), "other"))} {
				if err := key.Make(); err != nil {
					t.Fatal(err)
				}
				r := newRun(t, sized(t, 100<<10, opts...).URL)
				r.commit(lie, evil, key)
				r.fails(download.Local)
				r.holds(r.path(), string(evil))
			}
		})
	}
}

// A record of this user identifies the file and proves no more than was proven then.
func TestCommittedClaims_Rule8_Rule31(t *testing.T) {
	t.Parallel()
	s := sized(t, 100<<10)
	data := s.Content.Bytes()
	begin := func(id partfile.Identity) *run {
		r := newRun(t, s.URL)
		key := r.key()
		if err := key.Make(); err != nil {
			t.Fatal(err)
		}
		r.commit(id, data, key)
		r.req.Trust.Require = download.RequireDigest
		return r
	}
	r := begin(partfile.Identity{Claims: []verify.Claim{{Digest: s.Digest(), Field: "Digest", Channel: verify.HTTPS}}})
	if res, err := r.get(); err != nil || !res.AlreadyComplete || !res.Proof.Verified() {
		t.Errorf("%+v, %v", res, err)
	}
	r = begin(partfile.Identity{})
	r.fails(download.Local)

	// With another digest of the user, another URL or another content it is another file.
	r = begin(partfile.Identity{})
	r.req.Trust.Require, r.req.Trust.Claims = download.RequireNothing, userClaim(digestOf(made(100<<10, 67)))
	r.fails(download.Local)
	r = begin(partfile.Identity{})
	r.req.Trust.Require, r.req.URL = download.RequireNothing, parse(t, s.URL+"?other")
	r.req.Name = "file.bin"
	r.fails(download.Local)
	r = begin(partfile.Identity{})
	r.req.Trust.Require = download.RequireNothing
	if err := os.WriteFile(r.path(), made(100<<10, 68), 0o644); err != nil {
		t.Fatal(err)
	}
	r.fails(download.Local)

	// The file has a second name for a moment if the file system cannot rename without replacing.
	for _, overwrite := range []bool{false, true} {
		r = begin(partfile.Identity{})
		r.req.Trust.Require, r.req.IfExists.Overwrite = download.RequireNothing, overwrite
		if err := os.Link(r.path(), r.part()); err != nil {
			t.Fatal(err)
		}
		if res, err := r.get(); err != nil || res.AlreadyComplete == overwrite || res.Due == overwrite {
			t.Errorf("%+v, %v", res, err)
		}
	}
}
