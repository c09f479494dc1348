//go:build realservers

package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pgp "github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"

	"braid/serve"
	"braid/verify/minisign"
	"braid/verify/openpgp"
)

// addDistributions adds to a public folder what others publish there: images with signed lists, a release, packages.
func addDistributions(t *testing.T, dir string) {
	t.Helper()
	folder := func(name string) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	secret := readFile(t, filepath.Join("testdata", "recipes", "release-key.secret.asc"))
	signed := func(dir, name, signature string) {
		for file, body := range map[string]string{name: strings.Repeat("tool ", 10_000)} {
			writeFile(t, filepath.Join(dir, file), body)
			list := fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(body)), file)
			made, err := openpgp.Sign(strings.NewReader(list), []byte(secret), nil, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(dir, "SHA256SUMS"), list)
			writeFile(t, filepath.Join(dir, signature), string(made))
		}
	}
	signed(folder("debian-cd/current/amd64/iso-cd"), "debian-netinst.iso", "SHA256SUMS.sign")
	signed(folder("tool/releases/download/v1.2"), "tool.tar", "SHA256SUMS.asc")
	tool := filepath.Join(dir, "tool/releases/download/v1.2/tool.tar")
	signature, err := openpgp.Sign(strings.NewReader(readFile(t, tool)), []byte(secret), nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, tool+".asc", string(signature))

	addToolchain(t, folder("zig"))

	body := strings.Repeat("fedora ", 100_000)
	writeFile(t, filepath.Join(folder("fedora/releases/iso"), "Fedora-Server.iso"), body)
	list := fmt.Sprintf("# Fedora-Server.iso: %d bytes\nSHA256 (Fedora-Server.iso) = %x\n", len(body),
		sha256.Sum256([]byte(body)))
	writeFile(t, filepath.Join(dir, "fedora/releases/iso/Fedora-Server-CHECKSUM"), clearSigned(t, list, secret))

	pkg := packed(t, [][2]string{{".PKGINFO",
		"pkgname = hello\npkgbase = hello\npkgver = 1-1\npkgdesc = hello\nbuilddate = 1\nsize = 6\narch = any\n"},
		{"hello", "hello\n"}})
	const name = "hello-1-1-any.pkg.tar.gz"
	writeFile(t, filepath.Join(folder("pacman"), name), pkg)
	desc := ""
	for _, field := range [][2]string{
		{"FILENAME", name}, {"NAME", "hello"}, {"BASE", "hello"}, {"VERSION", "1-1"}, {"DESC", "hello"},
		{"CSIZE", fmt.Sprint(len(pkg))}, {"ISIZE", "6"},
		{"SHA256SUM", fmt.Sprintf("%x", sha256.Sum256([]byte(pkg)))}, {"ARCH", "any"}, {"BUILDDATE", "1"},
	} {
		desc += "%" + field[0] + "%\n" + field[1] + "\n\n"
	}
	writeFile(t, filepath.Join(dir, "pacman", "example.db"), packed(t, [][2]string{{"hello-1-1/desc", desc}}))
}

// addToolchain adds an archive signed with minisign, and a list of mirrors.
func addToolchain(t *testing.T, dir string) {
	t.Helper()
	const name = "zig-x86_64-linux-0.15.1.tar.xz"
	body := strings.Repeat("zig ", 100_000)
	writeFile(t, filepath.Join(dir, name), body)
	signer, err := minisign.NewSigner([]byte(readFile(t, filepath.Join("verify", "minisign", "testdata", "secret.key"))), nil)
	if err != nil {
		t.Fatal(err)
	}
	signing, err := signer.Begin(name, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	signing.Write([]byte(body))
	signature, err := signing.Signature()
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, name+".minisig"), string(signature))
	writeFile(t, filepath.Join(dir, "community-mirrors.txt"), "https://mirror.example.net/zig\nhttps://mirror2.example.net/zig\n")
}

// clearSigned is a list with a signature around it.
func clearSigned(t *testing.T, list, secret string) string {
	t.Helper()
	keys, err := pgp.ReadArmoredKeyRing(strings.NewReader(secret))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := clearsign.Encode(&out, keys[0].PrivateKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(list)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String() + "\n"
}

// packed is a compressed archive of files.
func packed(t *testing.T, files [][2]string) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	a := tar.NewWriter(z)
	for _, f := range files {
		if err := a.WriteHeader(&tar.Header{Name: f[0], Mode: 0o644, Size: int64(len(f[1])),
			ModTime: time.Unix(1, 0)}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Write([]byte(f[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// hub has a model, whose large files are elsewhere. The list of its files is in the shape of Hugging Face's.
func hub(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/api/models/example/small/tree/main":
		w.Header().Set("Content-Type", "application/json")
		http.ServeFile(w, r, filepath.Join("testdata", "recipes", "hub-tree.json"))
	case path == "/example/small/resolve/main/config.json":
		fmt.Fprintln(w, `{"layers": 2}`)
	case path == "/example/small/resolve/main/model.safetensors", path == "/example/small/resolve/main/onnx/model fp16.onnx":
		http.Redirect(w, r, "https://cdn.example.net/weights?signature=x", http.StatusFound)
	default:
		http.NotFound(w, r)
	}
}

// weights are the bytes of a large file of the model.
func weights(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(strings.Repeat("weights ", 50_000)))
}

// forge has the list of a release, in the shape of GitHub's.
func forge(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	http.ServeFile(w, r, filepath.Join("testdata", "recipes", "release.json"))
}

// toolchains is a server of a folder with an index, which also says the digests of its files.
func toolchains(t *testing.T) http.Handler {
	t.Helper()
	dir := publicDir(t)
	if err := os.Mkdir(filepath.Join(dir, "golang"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"1.9.7", "1.21.5", "1.22rc1", "1.22", "1.22.1"} {
		for _, system := range []string{"linux-amd64.tar.gz", "darwin-arm64.tar.gz", "src.tar.gz"} {
			name := "go" + version + "." + system
			writeFile(t, filepath.Join(dir, "golang", name), strings.Repeat(name, 1000))
		}
	}
	files, err := serve.New(dir, serve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { files.Close() })
	index := http.FileServer(http.Dir(dir))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/") {
			index.ServeHTTP(w, r)
			return
		}
		files.ServeHTTP(w, r)
	})
}

// kernels is a server of a folder with an index, whose only proof is a signed list.
func kernels(t *testing.T) http.Handler {
	t.Helper()
	dir := publicDir(t)
	if err := os.Mkdir(filepath.Join(dir, "v6.x"), 0o755); err != nil {
		t.Fatal(err)
	}
	list := ""
	for _, version := range []string{"6.9.12", "6.10", "6.10.1", "6.11-rc1"} {
		name := "linux-" + version + ".tar.xz"
		body := strings.Repeat(name, 1000)
		writeFile(t, filepath.Join(dir, "v6.x", name), body)
		list += fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(body)), name)
	}
	writeFile(t, filepath.Join(dir, "v6.x", "sha256sums.asc"),
		clearSigned(t, list, readFile(t, filepath.Join("testdata", "recipes", "release-key.secret.asc"))))
	return http.FileServer(http.Dir(dir))
}
