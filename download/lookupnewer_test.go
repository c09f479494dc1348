package download_test

import (
	"bytes"
	"crypto/sha512"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"braid/download"
	"braid/download/state"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// TestLookupNewer: a list that is older than the server's file keeps no file in place as the newest version, and the ETag
// of the one is not recorded with the digest of the other.
func TestLookupNewer_Rules54_77(t *testing.T) {
	first, second := "the first version", "the other version"
	line := func(file string) string { return sum256(file) + "  disk.iso\n" }
	for name, recorded := range map[string]bool{"recorded": true, "not recorded": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFolderSite(t, "SHA256SUMS", line(first))
			s.put("disk.iso", first, `"v1"`)
			r := lookingUp(t, s, "disk.iso")
			r.client.State, r.req.IfExists.IfNewer = &state.Store{Dir: t.TempDir()}, recorded
			if res := r.gets(first); !res.Proof.Verified() {
				t.Errorf("%v", res.Proof)
			}
			r.req.IfExists.IfNewer = true
			s.put("disk.iso", second, `"v2"`)
			for range 2 {
				if e := r.fails(download.Mismatch); e.Hint != download.HintNoLookup {
					t.Errorf("%v, hint %q", e, e.Hint)
				}
				r.holds(r.path(), first)
			}
			s.put("SHA256SUMS", line(second), "")
			if res := r.gets(second); !res.Proof.Verified() || res.ETag != `"v2"` {
				t.Errorf("%+v", res)
			}
			if res := r.gets(second); !res.NotModified || !res.Proof.Verified() {
				t.Errorf("%+v", res)
			}
		})
	}
}

// TestLookupNewerProves: a list proves the version that is recorded as the server's, if a proof is demanded only now.
func TestLookupNewerProves_Rules54_77(t *testing.T) {
	file := book()
	s := newFolderSite(t, "SHA256SUMS", sum256(file)+"  disk.iso\n")
	s.put("disk.iso", file, `"v1"`)
	r := lookingUp(t, s, "disk.iso")
	r.client.State, r.req.IfExists.IfNewer, r.req.Trust.Lookup = &state.Store{Dir: t.TempDir()}, true, false
	r.gets(file)
	r.req.Trust.Lookup, r.req.Trust.Require = true, download.RequireDigest
	if res := r.gets(file); !res.AlreadyComplete || !res.Proof.Verified() || res.ETag != `"v1"` {
		t.Errorf("%+v", res)
	}
}

// TestNewerElsewhere: a host to which the server redirects does not keep the file in place, by a 304 or by the recorded
// ETag, if the list beside the file contradicts that file. The server itself does.
func TestNewerElsewhere_Rules54_77(t *testing.T) {
	t.Parallel()
	file := book()
	for name, list := range map[string]string{"sha-256": sum256("other"), "sha-512": sum512("other")} {
		for _, answers := range []string{"304", "200", "itself"} {
			t.Run(name+" "+answers, func(t *testing.T) {
				t.Parallel()
				x := newShelf(t, file)
				x.etag = `"v1"`
				s := newFolderSite(t)
				s.other = func(w http.ResponseWriter, q *http.Request) {
					if !strings.HasSuffix(q.URL.Path, "/disk.iso") {
						http.NotFound(w, q)
						return
					}
					http.Redirect(w, q, x.URL+"/pub/disk.iso", http.StatusFound)
				}
				if answers == "itself" {
					s.put("disk.iso", file, `"v1"`)
				}
				r := lookingUp(t, s, "disk.iso")
				r.client.State, r.req.IfExists.IfNewer = &state.Store{Dir: t.TempDir()}, true
				r.gets(file)
				if answers == "200" {
				}
				if res := r.gets(file); !res.NotModified {
					t.Errorf("%+v", res)
				}
				s.put("checksums.txt", list+"  disk.iso\n", "")
				if answers == "itself" {
					if res := r.gets(file); !res.NotModified {
						t.Errorf("%+v", res)
					}
					return
				}
				for range 2 {
					r.fails(download.Mismatch)
					s.fail("checksums.txt", "disk.iso") // it is remembered
				}
				s.put("checksums.txt", sum256(file)+"  disk.iso\n", "")
				if res := r.gets(file); !res.NotModified {
					t.Errorf("%+v", res)
				}
			})
		}
	}
}

// TestLookupKeeps: where the file in place is kept for a list, the list is of now, and not what was found for another
// file of the run. It says nothing about the ETag of the answer.
func TestLookupKeeps_Rules3_77(t *testing.T) {
	first, second := "the first version", "the other version"
	s := newFolderSite(t, "SHA256SUMS", sum256(first)+"  disk.iso\n")
	s.put("disk.iso", first, `"v1"`)
	jobs, results, done := make(chan download.Job), make(chan download.Result, 1), make(chan int)
	errs := make(chan error, 1)
	var c download.Client
	ctx := download.WithLookupGrace(t.Context(), time.Hour)
	go func() {
		done <- c.GetEach(ctx, jobs, download.Batch{Ended: func(_ int, _ download.Request, res download.Result, err error) {
			results <- res
			errs <- err
		}})
	}()
	r := download.Request{URL: parse(t, s.URL+"/pub/disk.iso"), Dir: t.TempDir(), Trust: download.Trust{Lookup: true}}
	get := func() (download.Result, error) {
		jobs <- download.Job{Request: func() (download.Request, error) { return r, nil }}
		return <-results, <-errs
	}
	if res, err := get(); err != nil || !res.Proof.Verified() || res.ETag != `"v1"` {
		t.Errorf("%+v, %v", res, err)
	}
	s.put("disk.iso", second, `"v2"`)
	if res, err := get(); err != nil || !res.AlreadyComplete || res.ETag != "" || res.Host != "" {
		t.Errorf("beside another version: %+v, %v", res, err)
	}
	s.put("SHA256SUMS", sum256(second)+"  disk.iso\n", "")
	if res, err := get(); kindOfError(err) != download.Local {
		t.Errorf("what is there by now is not the server's: %+v, %v", res, err)
	}
	close(jobs)
	<-done
}

// TestOpposedChanges: what was found beside the file is not forgotten because a host to which the server redirects seems
// to have another version during the run.
func TestOpposedChanges_Rule77(t *testing.T) {
	t.Parallel()
	right, wrong := made(2*mib, 7), made(2*mib, 8)
	half := mirrortest.CutAfter(mib)
	for name, tt := range map[string]struct {
		before []mirrortest.Option // of the other host in the first run; nil: there is none
		first  []mirrortest.Option // in its first answer of the last run
	}{
		"remembered":     {[]mirrortest.Option{mirrortest.Digest()}, []mirrortest.Option{mirrortest.Digest(other()), half}},
		"in the journal": {[]mirrortest.Option{}, []mirrortest.Option{mirrortest.Digest(other()), half}},
		"in this run":    {nil, []mirrortest.Option{mirrortest.ETag(`"v1"`), mirrortest.Digest(verify.Digest{}), half}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := mirrortest.New(t, wrong, tt.before...)
			s := newFolderSite(t, "checksums.txt", sum256(string(right))+"  disk.iso\n")
			s.other = func(w http.ResponseWriter, q *http.Request) {
				if strings.HasSuffix(q.URL.Path, "/disk.iso") {
					http.Redirect(w, q, x.URL, http.StatusFound)
					return
				}
				http.NotFound(w, q)
			}
			r := lookingUp(t, s, "disk.iso")
			if name == "remembered" {
				r.client.State = &state.Store{Dir: t.TempDir()}
			}
			if tt.before != nil {
				r.fails(download.Mismatch)
				if name == "remembered" { // in the state alone
					os.Remove(r.part())
					os.Remove(r.part() + ".journal")
				}
				s.fail("checksums.txt", "disk.iso")
			}
			get := func(q *http.Request) bool { return q.Method == http.MethodGet }
			var looked atomic.Bool
			x.Set(mirrortest.Digest(), mirrortest.ETag(`"v2"`), mirrortest.OnHead(mirrortest.Digest(verify.Digest{})),
				held(64*mib, looked.Load), mirrortest.When(get, mirrortest.Times(1, tt.first...)))
			r.req.Observe = func(ev download.Event) {
				n, ok := ev.(download.Note)
				if ok && strings.Contains(n.Text, "looked for a digest") && !looked.Swap(true) && tt.before == nil {
					s.fail("checksums.txt", "disk.iso")
				}
			}
			r.fails(download.Mismatch)
		})
	}
}

// TestOpposedRepair: a file that a list has condemned is not replaced by that of a host to which the server redirects, which
// states a digest only when the list does not come again.
func TestOpposedRepair_Rule77(t *testing.T) {
	t.Parallel()
	right, wrong := made(2*mib, 7), made(2*mib, 8)
	for name, here := range map[string][]byte{"damaged": changed(right, mib), "cut": right[:mib]} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := mirrortest.New(t, wrong)
			s := newFolderSite(t, "checksums.txt", sum256(string(right))+"  disk.iso\n")
			s.other = func(w http.ResponseWriter, q *http.Request) {
				if strings.HasSuffix(q.URL.Path, "/disk.iso") {
					http.Redirect(w, q, x.URL, http.StatusFound)
					return
				}
				http.NotFound(w, q)
			}
			r := lookingUp(t, s, "disk.iso")
			r.onDisk(here)
			v, err := r.client.Verify(r.ctx, r.req)
			if kindOfError(err) != download.Mismatch || !v.Repairable() {
				t.Fatal(err)
			}
			s.fail("checksums.txt", "disk.iso")
			x.Set(mirrortest.Digest())
			if res, err := r.client.Repair(r.ctx, v, nil); kindOfError(err) != download.Mismatch {
				t.Errorf("%v, %v", res.Proof, err)
			}
			r.holds(r.path(), string(here))
		})
	}
}

// TestOpposedDescribed: what was found beside a URL does not count for a file of a document or torrent that names the URL,
// because no lookup of such a file could replace it.
func TestOpposedDescribed_Rule77(t *testing.T) {
	t.Parallel()
	file := made(mib, 7)
	x := mirrortest.New(t, file, mirrortest.Digest())
	s := newFolderSite(t, "checksums.txt", sum256("other")+"  disk.iso\n")
	s.other = func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, x.URL, http.StatusFound)
	}
	r := lookingUp(t, s, "disk.iso")
	r.client.State = &state.Store{Dir: t.TempDir()}
	r.fails(download.Mismatch)
	os.Remove(r.part())
	os.Remove(r.part() + ".journal")
	list, err := verify.NewPieces(mib, mib, []verify.Digest{digestOf(file)})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []download.Described{{Size: -1}, {Size: mib, Pieces: list, Torrent: true}} {
		d.Name, d.By, r.req.Described = "file.bin", "the document", &d
		r.right(mirrortest.ContentOf(file))
		os.Remove(r.path())
	}
}

// TestOpposedPipe: a digest that was remembered is compared with the bytes that go through a pipe, whatever its algorithm.
func TestOpposedPipe_Rule77(t *testing.T) {
	t.Parallel()
	right, wrong := made(20*mib, 7), made(20*mib, 8)
	sum := sha512.Sum512(wrong)
	contradicts := mirrortest.New(t, wrong, mirrortest.Header("Digest", "SHA-512="+base64.StdEncoding.EncodeToString(sum[:])))
	var to atomic.Value
	to.Store(contradicts.URL)
	s := newFolderSite(t, "checksums.txt", sum512(string(right))+"  disk.iso\n")
	s.other = func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, to.Load().(string), http.StatusFound)
	}
	r := lookingUp(t, s, "disk.iso")
	r.client.State = &state.Store{Dir: t.TempDir()}
	r.fails(download.Mismatch)
	s.fail("checksums.txt", "disk.iso")
	for content, want := range map[*[]byte]download.Kind{&wrong: download.Mismatch, &right: download.Other} {
		to.Store(mirrortest.New(t, *content, mirrortest.Digest()).URL)
		var out bytes.Buffer
		r.req.Stream, r.req.Trust.Require = &out, download.RequireDigest // so that no byte is passed on before the lookup ends
		res, err := r.get()
		if kindOfError(err) != want || !bytes.Equal(out.Bytes(), *content) || err == nil && !res.Proof.Verified() {
			t.Errorf("%v, %v", res.Proof, err)
		}
	}
}

// TestOpposedRemembered: if the list contradicts a host to which the server redirects before any byte came, that host
// does not replace a file, or prove one in place, only because the server then fails to send the list.
func TestOpposedRemembered_Rule77(t *testing.T) {
	t.Parallel()
	old, next := made(mib, 8), made(mib, 7)
	for name, newer := range map[string]bool{"newer": true, "in place": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := httptest.NewServer(digesting{newFolderSite(t, "disk.iso", string(next)), string(next)})
			defer x.Close()
			s := newFolderSite(t, "SHA256SUMS", sum256(string(old))+"  disk.iso\n")
			redirect := func(w http.ResponseWriter, q *http.Request) {
				if strings.HasSuffix(q.URL.Path, "/disk.iso") {
					http.Redirect(w, q, x.URL+"/pub/disk.iso", http.StatusFound)
					return
				}
				http.NotFound(w, q)
			}
			r := lookingUp(t, s, "disk.iso")
			r.client.State = &state.Store{Dir: t.TempDir()}
			r.onDisk(next)
			if newer {
				s.put("disk.iso", string(old), "")
				r.onDisk(old)
				r.req.IfExists.IfNewer = true
				r.right(mirrortest.ContentOf(old))
				delete(s.files, "disk.iso")
			}
			s.other = redirect
			for i := range 3 {
				if _, err := r.get(); kindOfError(err) != download.Mismatch {
					t.Fatalf("%d: %v", i, err)
				}
				s.fail("SHA256SUMS", "disk.iso")
			}
			s.other = redirect // the list is gone
			verified(t, r.right(mirrortest.ContentOf(next)), "sha-256 from Digest over http")
			s.fail("SHA256SUMS", "disk.iso")
			if res, err := r.get(); err != nil {
				t.Errorf("afterwards: %+v, %v", res, err)
			}
		})
	}
}
