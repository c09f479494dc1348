package download_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"braid/download"
	"braid/internal/partfile"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// Proves rule 15 for a file that another program began under the final name: --continue resumes it if samples
// are the same. Otherwise it stays unchanged (rule 3), also if the download fails.
func TestContinueFile_Rule15_Rule3(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	for name, tt := range map[string]struct {
		here    func(right []byte) []byte
		options []mirrortest.Option
		change  func(r *run)
		fails   bool
		fetched int64 // at most
		same    bool  // nothing is unproven
	}{
		"the beginning": {here: first(4 * mib), fetched: 3 * mib},
		"all of it":     {here: first(size), fetched: 0},
		"nothing":       {here: first(0), fetched: size},
		"with a digest": {here: first(4 * mib), options: []mirrortest.Option{mirrortest.Digest()},
			fetched: 3 * mib, same: true},
		"wrong, with a digest": {here: flipped(4*mib, 246723*8+200_000),
			options: []mirrortest.Option{mirrortest.Digest()}, fetched: 3 * size, same: true},
		"another file":        {here: flipped(4*mib, 10), fails: true},
		"another file, whole": {here: flipped(size, 10), fails: true},
		"longer":              {here: func(b []byte) []byte { return append(bytes.Clone(b), 0) }, fails: true},
		"not asked for":       {here: first(4 * mib), change: func(r *run) { r.req.IfExists.Continue = false }, fails: true},
		"digest demanded": {here: first(4 * mib),
			change: func(r *run) { r.req.Trust.Require = download.RequireDigest }, fails: true},
		"all of it, mirrors": {here: first(size), change: func(r *run) { r.mirrors(sized(t, size)) }, fetched: 0},
		"with mirrors":       {here: first(4 * mib), change: func(r *run) { r.mirrors(sized(t, size)) }, fails: true},
		"mirrors and a digest": {here: first(4 * mib), options: []mirrortest.Option{mirrortest.Digest()},
			change: func(r *run) { r.mirrors(sized(t, size)) }, fetched: 3 * mib, same: true},
		"without parts": {here: first(4 * mib), options: []mirrortest.Option{mirrortest.IgnoreRange()}, fails: true},
		"cut, and gone on with": {here: first(4 * mib),
			options: []mirrortest.Option{mirrortest.Times(30, mirrortest.CutAfter(mib))}, fetched: 3 * mib},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sized(t, size, append(tt.options, mirrortest.Modified(time.Unix(1e9, 0)))...)
			r := newRun(t, s.URL)
			r.req.IfExists.Continue = true
			r.client.RetryWait = 10 * time.Millisecond
			if tt.change != nil {
				tt.change(r)
			}
			path, here := filepath.Join(r.req.Dir, "file.iso"), tt.here(made(size, 7))
			r.req.Name = "file.iso"
			if err := os.WriteFile(path, here, 0o640); err != nil {
				t.Fatal(err)
			}
			res, err := r.get()
			got, _ := os.ReadFile(path)
			if tt.fails {
				if err == nil || !bytes.Equal(got, here) {
					t.Errorf("%v, and the file has %d bytes", err, len(got))
				}
				return
			}
			if err != nil || !bytes.Equal(got, made(size, 7)) || res.Fetched > tt.fetched || res.Continued == tt.same {
				t.Errorf("%v, %d bytes of %d were fetched, continued: %v", err, res.Fetched, len(got), res.Continued)
			}
		})
	}
}

func first(n int) func([]byte) []byte { return func(b []byte) []byte { return bytes.Clone(b[:n]) } }

func flipped(n, at int) func([]byte) []byte {
	return func(b []byte) []byte {
		b = bytes.Clone(b[:n])
		b[at] ^= 0xff
		return b
	}
}

// Proves rule 3 for a request that takes another name if its own is taken: the existing file stays.
func TestRename_Rule3(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		there []string
		want  string
	}{
		{"a.iso", nil, "a.iso"},
		{"a.iso", []string{"a.iso"}, "a.1.iso"},
		{"a.tar.gz", []string{"a.tar.gz", "a.tar.1.gz"}, "a.tar.2.gz"},
		{"a", []string{"a"}, "a.1"},
		{".profile", []string{".profile"}, ".profile.1"},
		{"x.part", []string{"x.part"}, "x.1.part"},
	} {
		s := sized(t, 1000, mirrortest.Digest())
		r := newRun(t, s.URL)
		r.req.Name, r.req.IfExists.Rename = tt.name, true
		for _, name := range tt.there {
			if err := os.WriteFile(filepath.Join(r.req.Dir, name), made(1000, 7), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		res, err := r.get()
		if err != nil || filepath.Base(res.Path) != tt.want || res.AlreadyComplete {
			t.Errorf("%s beside %q: %v, %s", tt.name, tt.there, err, res.Path)
		}
		left, _ := os.ReadDir(r.req.Dir)
		if len(left) != len(tt.there)+1 {
			t.Errorf("%s: %v", tt.name, left)
		}
	}
}

// TestRenameDue: a file that a stopped run completed, and whose work is due, is not fetched again under the
// next name. Once the work is reported as done, it is a file like any other.
func TestRenameDue_Rule3(t *testing.T) {
	t.Parallel()
	s := sized(t, 1000, mirrortest.ETag(`"1"`))
	r := newRun(t, s.URL)
	r.req.Name, r.req.IfExists.Rename, r.req.Due = "a.iso", true, true
	for _, complete := range []bool{false, true, true} {
		if res, err := r.get(); err != nil || filepath.Base(res.Path) != "a.iso" || res.AlreadyComplete != complete || !res.Due {
			t.Errorf("complete %t: %v, %+v", complete, err, res)
		}
	}
	c, err := partfile.OpenCommitted(nil, r.req.Dir, "a.iso")
	if err == nil {
		err = errors.Join(c.Clear(), c.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if res, err := r.get(); err != nil || filepath.Base(res.Path) != "a.1.iso" || res.AlreadyComplete {
		t.Errorf("afterwards: %v, %+v", err, res)
	}
}

// Proves rules 3 and 34: HEAD states the digest, and is sent as a file exists. What the server states in this run counts
// beside the journal of an earlier one: bytes with another digest do not replace the file, a digest of another version
// discards that version, and a mistyped digest of the earlier run discards nothing.
func TestStatedBesideJournal_Rule3_Rule34(t *testing.T) {
	t.Parallel()
	const size = 6 * mib
	old, next := made(size, 8), made(size, 7)
	for name, tt := range map[string]struct {
		claims      []verify.Claim // of the earlier run
		before, now []byte         // what GET brings in each run
		kind        download.Kind  // of the error; Other: none
		resumes     bool
	}{
		"changed":         {nil, old, next, download.Other, false},
		"changed to less": {nil, old, made(size, 9), download.Mismatch, false},
		"mistyped":        {userClaim(other()), next, next, download.Other, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var later atomic.Bool
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				stated, body := tt.before, tt.before
				if later.Load() {
					stated, body = next, tt.now
				}
				if q.Method == http.MethodHead {
					w.Header().Set("Digest", verify.Field(digestBy(t, verify.SHA256, stated)))
				}
				w.Header().Set("ETag", fmt.Sprintf("%q", fmt.Sprint(body[0])))
				http.ServeContent(w, q, "", time.Time{}, bytes.NewReader(body))
			}))
			defer s.Close()
			r := newRun(t, s.URL+"/file.bin")
			r.put([]byte("here"))
			r.req.IfExists.Overwrite, r.req.Trust.Claims = true, tt.claims
			r.interrupt(2 * mib)
			later.Store(true)
			r.req.Trust.Claims = nil
			res, err := r.get()
			got, _ := os.ReadFile(r.path())
			if tt.kind == download.Other {
				if err != nil || !bytes.Equal(got, next) || res.Proof.String() != byDigest || res.Resumed > 0 != tt.resumes {
					t.Errorf("%v, proof %v, resumed %d", err, res.Proof, res.Resumed)
				}
				return
			}
			var e *download.Error
			if !errors.As(err, &e) || e.Kind != tt.kind || string(got) != "here" {
				t.Errorf("%v, %d bytes in place", err, len(got))
			}
		})
	}
}
