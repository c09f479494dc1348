package download_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"braid/download"
	"braid/download/state"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/internal/test/mirrortest"
)

// put makes a file with the final name.
func (r *run) put(data []byte) {
	r.t.Helper()
	if err := os.WriteFile(r.path(), data, 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *run) holds(path, want string) {
	r.t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		r.t.Errorf("%s has %.20q (%v), want %.20q", path, got, err, want)
	}
}

// fails downloads and checks the kind of its failure. The caller checks the file under the final name.
func (r *run) fails(kind download.Kind) *download.Error {
	r.t.Helper()
	_, err := r.get()
	e, ok := err.(*download.Error)
	if !ok || e.Kind != kind {
		r.t.Fatalf("get: %v (%+v), want kind %d", err, e, kind)
	}
	return e
}

// Proves rule 3: the right file exists, so there is nothing to do.
func TestAlreadyComplete_Rule3(t *testing.T) {
	t.Parallel()
	s := sized(t, mib, mirrortest.Digest())
	silent := sized(t, mib)
	for _, tt := range []struct {
		server *mirrortest.Server
		claim  bool
		proof  string
	}{{s, false, byDigest}, {silent, true, byUser}} {
		r := newRun(t, tt.server.URL)
		r.put(s.Content.Bytes())
		if tt.claim {
			r.req.Trust.Claims = userClaim(s.Digest())
		}
		res := r.right(s.Content)
		verified(t, res, tt.proof)
		if !res.AlreadyComplete || res.Size != mib || res.Fetched != 0 || tt.server.Sent() != 0 {
			t.Errorf("%+v, %d bytes sent", res, tt.server.Sent())
		}
	}
	if len(silent.Requests()) != 0 {
		t.Error("the server was asked although the user's digest says it all")
	}
}

// Proves rule 3: another file is unchanged, and nothing is transferred.
func TestExists_Rule3(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]mirrortest.Option{
		"other": mirrortest.Digest(), "unknown": mirrortest.ETag(`"v1"`), "md5": mirrortest.Digest(md5Of(t, made(mib, 7))),
	} {
		t.Run(name, func(t *testing.T) {
			s := sized(t, mib, option)
			r := newRun(t, s.URL)
			r.put([]byte("mine"))
			r.fails(download.Local)
			r.holds(r.path(), "mine")
			if s.Sent() != 0 {
				t.Errorf("%d bytes were sent", s.Sent())
			}
		})
	}
}

// Proves rule 3: with Overwrite the old file stays until the new one is verified, and for good if it never is.
func TestOverwrite_Rule3(t *testing.T) {
	t.Parallel()
	s := sized(t, 3*mib, mirrortest.Rate(8*mib), mirrortest.Digest())
	r := newRun(t, s.URL)
	r.put([]byte("mine"))
	r.req.IfExists.Overwrite = true
	looked := 0
	r.req.Observe = func(ev download.Event) {
		switch ev.(type) {
		case download.Progress, download.Verified:
			r.holds(r.path(), "mine")
			looked++
		}
	}
	r.right(s.Content)
	if looked < 2 {
		t.Errorf("looked %d times", looked)
	}

	s.Set(mirrortest.Digest(other()))
	r.put([]byte("mine"))
	r.fails(download.Mismatch)
	r.holds(r.path(), "mine")
}

// Proves rule 4.
func TestFinalNameIsNoFile_Rule4(t *testing.T) {
	t.Parallel()
	s := sized(t, mib, mirrortest.Digest())
	for name, make := range map[string]func(path string) error{
		"symbolic link":    func(path string) error { return os.Symlink("elsewhere", path) },
		"link to the file": func(path string) error { return os.Symlink("/etc/hostname", path) },
		"folder":           func(path string) error { return os.Mkdir(path, 0o755) },
		"pipe":             func(path string) error { return syscall.Mkfifo(path, 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, s.URL)
			r.req.IfExists.Overwrite = true
			if err := make(r.path()); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(r.path())
			r.fails(download.Local)
			if after, err := os.Lstat(r.path()); err != nil || !os.SameFile(before, after) {
				t.Error("it was replaced")
			}
		})
	}
	if s.Sent() != 0 {
		t.Errorf("%d bytes were sent", s.Sent())
	}
}

// Proves rule 4: a second name of the old file keeps its bytes.
func TestHardLinkKeepsItsBytes_Rule4(t *testing.T) {
	t.Parallel()
	s := sized(t, mib, mirrortest.Digest())
	r := newRun(t, s.URL)
	r.put([]byte("mine"))
	second := filepath.Join(r.dir, "second")
	if err := os.Link(r.path(), second); err != nil {
		t.Fatal(err)
	}
	r.req.IfExists.Overwrite = true
	r.right(s.Content)
	r.holds(second, "mine")
}

// Proves rule 9.
func TestInUse_Rule9(t *testing.T) {
	t.Parallel()
	s := sized(t, mib, mirrortest.Digest())
	r := newRun(t, s.URL)
	f, err := partfile.Open(fsys.OS, r.dir, "file.bin")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	r.wrong(download.Local)
	if s.Sent() != 0 {
		t.Errorf("%d bytes were sent", s.Sent())
	}
}

// Proves rule 12, and that the name comes from the requested URL and not from its redirects (rule 11).
func TestName_Rule11_Rule12(t *testing.T) {
	t.Parallel()
	s := sized(t, 10, mirrortest.Header("Content-Disposition", `attachment; filename="evil"`), mirrortest.Name("b.iso"))
	redirects := mirrortest.New(t, []byte("x"), mirrortest.Name("a b.iso"), mirrortest.Redirect(s.URL))
	r := newRun(t, "http://"+redirects.Addr+"/a%20b.iso")
	res, err := r.get()
	if err != nil || res.Path != filepath.Join(r.dir, "a b.iso") {
		t.Errorf("%q, %v", res.Path, err)
	}
	for _, path := range []string{"", "/", "/dir/", "/%2e%2e%2fx", "/.hidden", "/a%00b", "/..", "/%2fetc%2fpasswd"} {
		r := newRun(t, "http://"+s.Addr+path)
		if e := r.wrong(download.Usage); e.Hint != download.HintName {
			t.Errorf("%s: %v (%s)", path, e, e.Hint)
		}
		r.empty()
	}
}

func TestNotAURL(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"ftp://h/a%0Ab", "ftp://h/a;type=a", "ftp:///a", "ftp://h/a.meta4", "file:///a", "a",
		"http:///a"} {
		newRun(t, u).wrong(download.Usage)
	}
	r := newRun(t, "http://h/")
	r.req.URL = nil
	r.wrong(download.Usage)
}

// A file that has not changed is not transferred, and the existing one stays.
func TestNotModified(t *testing.T) {
	t.Parallel()
	date := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	s := sized(t, mib, mirrortest.ETag(`"v1"`), mirrortest.Modified(date))
	for _, condition := range []func(*download.Request){
		func(q *download.Request) { q.IfExists.Known = &state.Version{ETag: `"v1"`} },
		func(q *download.Request) { q.IfExists.Known = &state.Version{LastModified: date} },
	} {
		r := newRun(t, s.URL)
		r.req.IfExists.Overwrite = true
		r.put([]byte("mine"))
		condition(&r.req)
		res, err := r.get()
		if err != nil || !res.NotModified || res.Fetched != 0 || res.Proof.Valid() {
			t.Errorf("%+v, %v", res, err)
		}
		r.holds(r.path(), "mine")
		if err := os.Remove(r.path()); err != nil {
			t.Error(err)
		}
		r.empty()
	}
	r := newRun(t, s.URL)
	r.req.IfExists.Known = &state.Version{ETag: `"v0"`}
	res := r.right(s.Content)
	if res.NotModified || res.ETag != `"v1"` || !res.LastModified.Equal(date) {
		t.Errorf("%+v", res)
	}
}

// Proves rule 7 for a resumed download.
func TestNoRoomForTheRest_Rule7(t *testing.T) {
	t.Parallel()
	s := sized(t, 3*mib, mirrortest.Rate(8*mib), mirrortest.ETag(`"v1"`))
	r := newRun(t, s.URL)
	r.leave(partfile.Identity{URL: s.URL, URLSum: partfile.SumURL(r.req.URL), Size: 1 << 62, Asked: true,
		ETag: `"v1"`, ETagHost: s.Addr})
	if e := r.wrong(download.Local); e.Kept != 3 {
		t.Errorf("kept %d bytes", e.Kept)
	}
	asked(t, s, false)
}

// leave makes a part file like an earlier run that was killed.
func (r *run) leave(id partfile.Identity) {
	r.t.Helper()
	f, err := partfile.Open(fsys.OS, r.dir, "file.bin")
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.key().Make(); err != nil {
		r.t.Fatal(err)
	}
	f.SealWith(r.key())
	if err := f.Begin(id); err != nil {
		r.t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("abc"), 0); err != nil {
		r.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		r.t.Fatal(err)
	}
}

// Proves S18 after a kill: bytes that no validator ties to anything are discarded, not set aside.
func TestLeftWithoutValidator_S18(t *testing.T) {
	t.Parallel()
	s := sized(t, mib, mirrortest.ETag(`"v1"`))
	r := newRun(t, s.URL)
	r.leave(partfile.Identity{URL: s.URL, URLSum: partfile.SumURL(r.req.URL), Size: mib})
	if res := r.right(s.Content); res.Resumed != 0 || res.Fetched != mib {
		t.Errorf("%+v", res)
	}
}

// Proves rules 8 and 40: the user gives another digest now, because the first one was mistyped. The bytes are
// kept: the digest decides.
func TestOtherDigestFromUser_Rule8(t *testing.T) {
	t.Parallel()
	s := resumable(t)
	r := newRun(t, s.URL)
	r.req.Trust.Claims = userClaim(other())
	r.interrupt(2 * mib)
	r.req.Trust.Claims = userClaim(s.Digest())
	if res := r.right(s.Content); res.Resumed < 2*mib || res.Fetched > 4*mib {
		t.Errorf("%+v", res)
	}
}

// Proves rule 30 for a download that was begun without a demand for evidence.
func TestNoEvidenceForTheRest_Rule30(t *testing.T) {
	t.Parallel()
	s := resumable(t, mirrortest.ETag(`"v1"`))
	r := newRun(t, s.URL)
	r.interrupt(2 * mib)
	r.req.Trust.Require = download.RequireDigest
	r.wrong(download.NoEvidence)
}

// Proves rule 3 for a file that appears during a download.
func TestAppearsMeanwhile_Rule3(t *testing.T) {
	t.Parallel()
	s := sized(t, 6*mib, mirrortest.Digest())
	r := newRun(t, s.URL)
	r.req.Observe = func(ev download.Event) {
		if _, ok := ev.(download.Verified); ok {
			r.put([]byte("mine"))
		}
	}
	if e := r.fails(download.Local); e.Kept != 6*mib {
		t.Errorf("kept %d", e.Kept)
	}
	r.holds(r.path(), "mine")
	r.req.IfExists.Overwrite, r.req.Observe = true, nil
	if res := r.right(s.Content); res.Fetched != 0 {
		t.Errorf("fetched %d", res.Fetched)
	}
}
