//go:build realservers

package e2e

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
	"braid/verify/openpgp"
)

// signedObject signs content in a folder. It returns the flags of braid, and the signature.
func signedObject(t *testing.T, dir, kind string, content mirrortest.Content) (flags []string, signature []byte) {
	t.Helper()
	recipe := func(name string) string { return readFile(t, filepath.Join("testdata", "recipes", name)) }
	if kind == "asc" {
		signature, err := openpgp.Sign(bytes.NewReader(content.Bytes()), []byte(recipe("release-key.secret.asc")), nil,
			time.Now())
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, "keys.asc"), recipe("release-key.asc"))
		return []string{"--keyring", "keys.asc"}, signature
	}
	writeFile(t, filepath.Join(dir, "content"), string(content.Bytes()))
	for _, line := range []string{
		"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out ca.pem -days 30 " +
			"-subj /CN=release -addext keyUsage=critical,digitalSignature -addext extendedKeyUsage=emailProtection",
		"openssl cms -sign -binary -in content -signer ca.pem -inkey key.pem -outform DER -out content.p7s",
	} {
		words := strings.Fields(line)
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	os.Remove(filepath.Join(dir, "content"))
	return []string{"--smime-ca", "ca.pem"}, []byte(readFile(t, filepath.Join(dir, "content.p7s")))
}

// TestRealObjectsSigned_Rule72: no byte is uploaded before the signature is here, and an upload that was killed goes on
// with the state of its check: what is uploaded is not fetched again. Without the signature nothing is uploaded, and
// with a bad one there is no object (rule 72).
func TestRealObjectsSigned_Rule72(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(20<<20, 31)
	for _, kind := range []string{"asc", "p7s"} {
		for answer, code := range map[string]int{"good": 0, "missing": 12, "bad": 10} {
			t.Run(kind+" "+answer, func(t *testing.T) {
				t.Parallel()
				r := newObjectsRig(t)
				of := content
				if answer == "bad" {
					of = mirrortest.Generate(20<<20, 32)
				}
				flags, signature := signedObject(t, r.home, kind, of)
				m := mirrortest.New(t, content, mirrortest.ETag(`"one"`))
				signer := mirrortest.New(t, content,
					mirrortest.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
						for deadline := time.Now().Add(2 * time.Minute); m.Sent() < content.Size() &&
							time.Now().Before(deadline); {
							time.Sleep(5 * time.Millisecond)
						}
						if n := r.store.Count("open", "x/file.bin"); n > 0 {
							t.Errorf("%d uploads were opened before the signature was here", n)
						}
						if answer == "missing" {
							w.WriteHeader(http.StatusNotFound)
							return
						}
						w.Write(signature)
					})))
				get := append(append([]string{"get", "--json", "--to", "s3://bucket/x/", "--signature",
					signer.URL + "." + kind}, flags...), m.URL)
				if code != 0 {
					r.run(code, get...)
					if keys := r.store.Keys(); len(keys) > 0 || r.store.Count("complete", "x/file.bin") > 0 ||
						answer == "missing" && r.store.Count("open", "x/file.bin") > 0 {
						t.Errorf("in the store: %v; requests: %v", keys, r.store.Requests())
					}
					r.clean()
					return
				}
				r.kill(2, get...)
				out, _ := r.run(0, get...)
				if done := objectEvents(t, out, "done"); len(done) != 1 || done[0].Resumed != 16<<20 ||
					done[0].Fetched > 4<<20 || !done[0].Signed || len(done[0].Signatures) != 1 {
					t.Errorf("%+v", done)
				}
				r.holds("x/file.bin", content)
			})
		}
	}
}

// TestRealObjectsSignedLate_Rule72: a signature that was bad is fetched anew by the next run, and one that only the
// origin's answer leads to is waited for though a mirror is faster (rule 72).
func TestRealObjectsSignedLate_Rule72(t *testing.T) {
	t.Parallel()
	content, other := mirrortest.Generate(20<<20, 35), mirrortest.Generate(20<<20, 36)
	t.Run("bad at first", func(t *testing.T) {
		t.Parallel()
		r := newObjectsRig(t)
		flags, bad := signedObject(t, r.home, "asc", other)
		_, good := signedObject(t, r.home, "asc", content)
		m := mirrortest.New(t, content, mirrortest.ETag(`"one"`), mirrortest.Document("/file.bin.asc",
			"application/pgp-signature", bad))
		get := append(append([]string{"get", "--json", "--to", "s3://bucket/x/", "--signature", ".asc"}, flags...), m.URL)
		r.run(10, get...)
		m.Set(mirrortest.Document("/file.bin.asc", "application/pgp-signature", good))
		r.run(0, get...)
		r.holds("x/file.bin", content)
	})
	t.Run("a slow origin", func(t *testing.T) {
		t.Parallel()
		r := newObjectsRig(t)
		flags, good := signedObject(t, r.home, "asc", content)
		link := mirrortest.Link(`</file.bin.asc>; rel=describedby; type="application/pgp-signature"`)
		origin := mirrortest.New(t, content, mirrortest.Latency(300*time.Millisecond), link,
			mirrortest.Document("/file.bin.asc", "application/pgp-signature", good))
		mirror := mirrortest.New(t, content)
		out, _ := r.run(0, append(append([]string{"get", "--json", "--to", "s3://bucket/x/", "--checksum",
			"sha-256=" + content.Digest().Hex(), "--mirror", mirror.URL}, flags...), origin.URL)...)
		if done := objectEvents(t, out, "done"); len(done) != 1 || !done[0].Signed {
			t.Errorf("%+v", done)
		}
		r.holds("x/file.bin", content)
	})
}

// TestRealObjectsLostJournal_Rule72: without its journal, or with one that says nothing or is of another version of the
// file, a killed upload begins anew, and ends the one before (rule 72).
func TestRealObjectsLostJournal_Rule72(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(20<<20, 33)
	for name, damage := range map[string]func(r *objectsRig, m *mirrortest.Server, journal string){
		"lost": func(r *objectsRig, _ *mirrortest.Server, _ string) {
			if err := os.RemoveAll(filepath.Join(r.home, ".local")); err != nil {
				r.Fatal(err)
			}
		},
		"lost, and the clock of the store is ahead": func(r *objectsRig, _ *mirrortest.Server, journal string) {
			writeFile(r.T, journal, "")
			r.atAnotherTime(10, "uploads", "parts")
		},
		"lost, and the clock of the store is behind": func(r *objectsRig, _ *mirrortest.Server, journal string) {
			writeFile(r.T, journal, "")
			r.atAnotherTime(-10, "uploads", "parts")
		},
		"empty": func(r *objectsRig, _ *mirrortest.Server, journal string) { writeFile(r.T, journal, "") },
		"of garbage": func(r *objectsRig, _ *mirrortest.Server, journal string) {
			writeFile(r.T, journal, strings.Repeat("\x00\xff\n", 3000))
		},
		"without its head": func(r *objectsRig, _ *mirrortest.Server, journal string) {
			_, rest, _ := strings.Cut(readFile(r.T, journal), "\n")
			writeFile(r.T, journal, rest)
		},
		"with a wrong part": func(r *objectsRig, _ *mirrortest.Server, journal string) {
			writeFile(r.T, journal, strings.ReplaceAll(readFile(r.T, journal), `"n":1`, `"n":7`))
		},
		"with a wrong state": func(r *objectsRig, _ *mirrortest.Server, journal string) {
			writeFile(r.T, journal, strings.ReplaceAll(readFile(r.T, journal), `"check":{`, `"check":{"x":1},"other":{`))
		},
		"of another version": func(_ *objectsRig, m *mirrortest.Server, _ string) {
			m.Content = mirrortest.Generate(20<<20, 34)
			m.Reset(mirrortest.Digest(m.Content.Digest()), mirrortest.ETag(`"two"`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newObjectsRig(t)
			m := mirrortest.New(t, content, mirrortest.Digest(), mirrortest.ETag(`"one"`))
			get := []string{"get", "--json", "--to", "s3://bucket/x/", m.URL}
			r.kill(2, get...)
			damage(r, m, r.journals()[0])
			out, _ := r.run(0, get...)
			if done := objectEvents(t, out, "done"); len(done) != 1 || done[0].Resumed > 0 || !done[0].Verified {
				t.Errorf("%+v", done)
			}
			r.holds("x/file.bin", m.Content)
			if n := r.store.Count("complete", "x/file.bin"); n != 1 {
				t.Errorf("%d times complete", n)
			}
		})
	}
}

// TestRealObjectsNewerJournal_Rule8: the journal of an upload that a newer braid began is refused and stays.
func TestRealObjectsNewerJournal_Rule8(t *testing.T) {
	t.Parallel()
	r := newObjectsRig(t)
	m := mirrortest.New(t, mirrortest.Generate(20<<20, 38), mirrortest.Digest(), mirrortest.ETag(`"one"`))
	get := []string{"get", "--json", "--to", "s3://bucket/x/", m.URL}
	r.kill(2, get...)
	journal := r.journals()[0]
	newer := strings.Replace(readFile(t, journal), `"v":1`, `"v":9`, 1)
	writeFile(t, journal, newer)
	if _, said := r.run(3, get...); !strings.Contains(said,
		"its journal was written by a newer braid and is left unchanged (update braid,") {
		t.Errorf("braid says %s", said)
	}
	if readFile(t, journal) != newer {
		t.Error("the journal has changed")
	}
	if n := r.store.Count("complete", "x/file.bin"); n != 0 {
		t.Errorf("%d times complete", n)
	}
}

// TestRealObjectsOfOthers_Rule72: an upload of the same name that another program has opened stays, and one that got a
// part meanwhile, as its process is at work elsewhere (rule 72).
func TestRealObjectsOfOthers_Rule72(t *testing.T) {
	t.Parallel()
	content := mirrortest.Generate(20<<20, 37)
	for name, open := range map[string]func(r *objectsRig, get []string){
		"with the same part": func(r *objectsRig, _ []string) { r.store.Begin("x/file.bin", content.Bytes()[:8<<20]) },
		"with another part":  func(r *objectsRig, _ []string) { r.store.Begin("x/file.bin", []byte("another")) },
		"at work elsewhere": func(r *objectsRig, get []string) {
			r.kill(2, get...)
			r.atAnotherTime(1, "parts")
			r.home = r.TempDir() // it is another machine from here on
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newObjectsRig(t)
			get := []string{"get", "--to", "s3://bucket/x/", mirrortest.New(t, content, mirrortest.Digest()).URL}
			open(r, get)
			r.run(0, get...)
			if err := content.Compare(bytes.NewReader(r.store.Object("x/file.bin"))); err != nil {
				t.Error(err)
			}
			if left := r.uploads("s3://bucket/"); len(left) != 1 {
				t.Errorf("uploads: %v", left)
			}
		})
	}
}
