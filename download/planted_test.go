package download_test

import (
	"bytes"
	"cmp"
	"os"
	"strings"
	"testing"

	"braid/download"
	"braid/internal/fsys"
	"braid/internal/partfile"
	"braid/internal/test/mirrortest"
	"braid/verify"
)

// plant leaves the part file of an earlier run with all bytes of a file, sealed with key.
func (r *run) plant(id partfile.Identity, data []byte, key *partfile.Key) {
	r.t.Helper()
	f, err := partfile.Open(fsys.OS, r.dir, "file.bin")
	if err != nil {
		r.t.Fatal(err)
	}
	f.SealWith(key)
	id.URL, id.URLSum, id.Asked = r.req.URL.String(), partfile.SumURL(r.req.URL), true
	id.Size = cmp.Or(id.Size, int64(len(data)))
	if err := f.Begin(id); err != nil {
		r.t.Fatal(err)
	}
	if _, err := f.WriteAt(data, 0); err != nil {
		r.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		r.t.Fatal(err)
	}
}

// got checks that the file was downloaded, and that the planted bytes were set aside until it was in place.
func (r *run) got(want mirrortest.Content) {
	r.t.Helper()
	bad := r.aside()
	if res, err := r.get(); err != nil || res.Resumed != 0 {
		r.t.Errorf("%+v, %v", res, err)
	}
	r.same(want)
	if !strings.HasPrefix(string(bad()), "evil") {
		r.t.Errorf("%d bytes were set aside", len(bad()))
	}
}

// Proves rules 8 and 64: a journal that is not sealed with the user's key does not count.
func TestPlantedJournal_Rule8_Rule64(t *testing.T) {
	t.Parallel()
	evil := []byte(strings.Repeat("evil", 1<<18))
	wrong := digestOf(evil)
	lie := partfile.Identity{Claims: []verify.Claim{
		{Digest: wrong, Field: "Digest", Channel: verify.HTTPS}, {Digest: wrong, Field: "--sha256", Channel: verify.User},
	}}
	t.Run("the server says it anew", func(t *testing.T) {
		s := sized(t, 1<<20, mirrortest.Digest())
		r := newRun(t, s.URL)
		r.plant(lie, evil, nil)
		r.req.Trust.Require = download.RequireDigest
		r.got(s.Content)
	})
	t.Run("with an ETag", func(t *testing.T) {
		s := sized(t, 1<<20, mirrortest.Digest(), mirrortest.ETag(`"v1"`))
		r := newRun(t, s.URL)
		id := lie
		id.ETag = `"v1"`
		r.plant(id, evil, nil)
		r.got(s.Content)
	})
	t.Run("the server is gone", func(t *testing.T) {
		s := sized(t, 1<<20, mirrortest.Digest())
		r := newRun(t, s.URL)
		r.plant(lie, evil, nil)
		s.Die()
		r.req.Trust.Require = download.RequireDigest
		e := r.wrong(download.Network)
		if e.Kept != 1<<20 || e.Hint != download.HintUnsealed {
			t.Errorf("%+v", e)
		}
		if here, err := os.ReadFile(r.part()); err != nil || !bytes.Equal(here, evil) {
			t.Errorf("the bytes did not stay: %v", err)
		}
		r.req.Trust.Claims = userClaim(wrong) // the user wants exactly that file
		if res, err := r.get(); err != nil || res.Resumed != 1<<20 || res.Proof.String() != "sha-256 from --sha256" {
			t.Errorf("%+v, %v", res, err)
		}
	})
	t.Run("sealed for another name", func(t *testing.T) {
		s := sized(t, 1<<20, mirrortest.Digest())
		r := newRun(t, s.URL)
		if err := r.key().Make(); err != nil {
			t.Fatal(err)
		}
		r.plant(lie, evil, r.key())
		for _, ending := range []string{".part", ".part.journal"} {
			if err := os.Rename(r.dir+"/file.bin"+ending, r.dir+"/other.bin"+ending); err != nil {
				t.Fatal(err)
			}
		}
		s.Die()
		r.req.Name = "other.bin"
		r.wrong(download.Network)
	})
	t.Run("sealed, and the server is gone", func(t *testing.T) {
		s := sized(t, 1<<20, mirrortest.Digest())
		r := newRun(t, s.URL)
		if err := r.key().Make(); err != nil {
			t.Fatal(err)
		}
		data := s.Content.Bytes()
		r.plant(partfile.Identity{Claims: []verify.Claim{{Digest: digestOf(data), Field: "Digest",
			Channel: verify.HTTPS}}}, data, r.key())
		s.Die()
		if res := r.right(s.Content); res.Proof.String() != "sha-256 from Digest over https" {
			t.Error(res.Proof)
		}
	})
}

// Facts in a journal without a seal count as far as the server repeats them: the bytes are kept.
func TestUnsealedGoesOn_Rule8(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]mirrortest.Option{"digest": {mirrortest.Digest()},
		"ETag": {mirrortest.ETag(`"v1"`)}} {
		t.Run(name, func(t *testing.T) {
			s := resumable(t, options...)
			r := newRun(t, s.URL)
			r.client.JournalKey = ""
			kept := r.interrupt(2 * mib).Kept
			if res := r.right(s.Content); res.Resumed < kept {
				t.Errorf("resumed %d of %d", res.Resumed, kept)
			}
		})
	}
}
