//go:build realservers

package e2e

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/metalink"
	"braid/serve"
	"braid/verify"
)

// downloadName has no folder, which wget2 1.99 does not make, and no character that is escaped in XML: aria2 1.36 and
// wget2 take the escapes of "&" and "<" for the name.
const downloadName = "ä 日.iso"

// TestRealMeta4 lets other programs follow documents that are written here: what they download, they check against
// the digests of whole and pieces that they read in the document.
func TestRealMeta4(t *testing.T) {
	t.Parallel()
	body := make([]byte, 3<<20+12345)
	for i := range body {
		body[i] = byte(rand.Uint32())
	}
	www := publicDir(t)
	if err := os.WriteFile(filepath.Join(www, "a b.iso"), body, 0o644); err != nil {
		t.Fatal(err)
	}
	var mirrors []metalink.Mirror
	for i, geo := range []string{"DE", ""} {
		u := &url.URL{Scheme: "http", Host: nginx.start(t, site{root: www}), Path: "/a b.iso"}
		mirrors = append(mirrors, metalink.Mirror{URL: u, Pri: 1 + i, Geo: geo})
	}
	right := describe(t, body, mirrors)
	wrong := describe(t, append(body[:len(body)-1:len(body)-1], body[len(body)-1]^1), mirrors)
	for _, program := range []struct {
		command string
		args    []string
	}{
		{"aria2c", []string{"--no-conf", "--max-tries=2", "--check-integrity", "-d", ".", "-M"}},
		{"wget2", []string{"--no-config", "--tries=2", "--force-metalink", "-i"}},
	} {
		t.Run(program.command, func(t *testing.T) {
			got, err := follow(t, right, downloadName, program.command, program.args...)
			if err != nil || !bytes.Equal(got, body) {
				t.Errorf("%d bytes of %d, %v", len(got), len(body), err)
			}
		})
	}
	// That it goes well shows something only if it can go wrong.
	if _, err := follow(t, wrong, downloadName, "aria2c", "--no-conf", "--max-tries=2", "-d", ".", "-M"); err == nil {
		t.Error("aria2c does not read the digests")
	}
}

// TestRealMetaCommand lets them follow what braid meta writes and what braid serve makes. Both write where the file lies with
// escapes; wget2 1.99 escapes those of characters outside of ASCII once more, so there is none.
func TestRealMetaCommand(t *testing.T) {
	t.Parallel()
	body := make([]byte, 3<<20+12345)
	for i := range body {
		body[i] = byte(rand.Uint32())
	}
	const name = "a b.iso"
	www, dir := publicDir(t), t.TempDir()
	file := filepath.Join(www, name)
	if err := os.WriteFile(file, body, 0o644); err != nil {
		t.Fatal(err)
	}
	host := nginx.start(t, site{root: www})
	out := filepath.Join(dir, "f.meta4")
	cmd := exec.Command(binary, "meta", "-o", out, "--mirror", "http://"+host+"/;pri=1;geo=de", file)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("braid meta: %v\n%s", err, text)
	}
	document, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	s, err := serve.New(www, serve.Options{Meta4: true})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	defer s.Close()
	defer web.Close()
	made := fetched(t, web.URL+"/"+url.PathEscape(name)+".meta4")
	for maker, document := range map[string][]byte{"braid meta": document, "braid serve": made} {
		for command, args := range map[string][]string{
			"aria2c": {"--no-conf", "--max-tries=2", "--check-integrity", "-d", ".", "-M"},
			"wget2":  {"--no-config", "--tries=2", "--force-metalink", "-i"},
		} {
			got, err := follow(t, document, name, command, args...)
			if err != nil || !bytes.Equal(got, body) {
				t.Errorf("%s, %s: %d bytes of %d, %v", maker, command, len(got), len(body), err)
			}
		}
	}
}

func fetched(t *testing.T, address string) []byte {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", address, answer.Status, err)
	}
	return data
}

// describe is a document about body with nearly all that there can be in one.
func describe(t *testing.T, body []byte, mirrors []metalink.Mirror) []byte {
	t.Helper()
	const length = 256 << 10
	sum := func(a verify.Algorithm, b []byte) verify.Digest {
		h := a.New()
		h.Write(b)
		d, err := verify.NewDigest(a, h.Sum(nil))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	var digests []verify.Digest
	for at := 0; at < len(body); at += length {
		digests = append(digests, sum(verify.SHA256, body[at:min(at+length, len(body))]))
	}
	pieces, err := verify.NewPieces(int64(len(body)), length, digests)
	if err != nil {
		t.Fatal(err)
	}
	d := metalink.Document{Generator: "\"x\" & <y>\nz", Files: []metalink.File{{
		Name: downloadName, Size: int64(len(body)), Pieces: []verify.Pieces{pieces}, Mirrors: mirrors,
		// with SHA-512, wget2 1.99 never ends
		Claims: []verify.Claim{{Digest: sum(verify.SHA256, body)}, {Digest: sum(verify.MD5, body)}},
		Signatures: []metalink.Signature{{Type: "application/pgp-signature",
			Text: "-----BEGIN PGP SIGNATURE-----\n\nAAAA\n-----END PGP SIGNATURE-----"}},
	}}}
	out, err := metalink.Format(d)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// follow runs a program in a folder of its own, with a document as its last argument, and gives the file that it made.
func follow(t *testing.T, document []byte, name, command string, args ...string) ([]byte, error) {
	t.Helper()
	path, err := exec.LookPath(command)
	if err != nil {
		t.Fatalf("%s is not installed; scripts/test installs what these tests need", command)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f.meta4"), document, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append(args, "f.meta4")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "LC_ALL=C.UTF-8", "http_proxy=", "all_proxy=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("%s %s: %v\n%s", command, strings.Join(args, " "), err, out[:min(len(out), 4096)]) // wget2 may not end
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, name))
}
