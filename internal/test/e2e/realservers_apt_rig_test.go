//go:build realservers

package e2e

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"braid/internal/test/mirrortest"
)

// An aptRepository is a signed repository of small packages, in a folder.
type aptRepository struct {
	t        *testing.T
	dir      string // of dists and pool
	keyring  string
	home     string // of gpg
	packages []string
}

// newAptRepository makes packages with the given numbers of bytes in them, p00, p01 and so on, and signs a list of them.
func newAptRepository(t *testing.T, sizes ...int) *aptRepository {
	t.Helper()
	r := &aptRepository{t: t, dir: publicDir(t), home: t.TempDir()}
	r.keyring = filepath.Join(publicDir(t), "key.asc")
	// gpg waits for an agent that it starts itself no longer than five seconds.
	if out, err := exec.Command("gpg-agent", "--homedir", r.home, "--daemon", "--quiet").CombinedOutput(); err != nil {
		t.Fatalf("gpg-agent: %v\n%s", err, out)
	}
	t.Cleanup(func() { exec.Command("gpgconf", "--homedir", r.home, "--kill", "gpg-agent").Run() })
	r.gpg("--passphrase", "", "--quick-generate-key", "Test <test@example.org>", "ed25519", "sign", "never")
	r.gpg("--armor", "--output", r.keyring, "--export")
	if err := os.Chmod(r.keyring, 0o644); err != nil {
		t.Fatal(err)
	}
	for i, size := range sizes {
		r.add(fmt.Sprintf("p%02d", i), size, uint64(i+1))
	}
	r.sign()
	return r
}

func (r *aptRepository) gpg(args ...string) {
	r.t.Helper()
	cmd := exec.Command("gpg", append([]string{"--homedir", r.home, "--batch", "--yes", "--quiet", "--pinentry-mode",
		"loopback"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("gpg %v: %v\n%s", args, err, out)
	}
}

// add makes a package with a file of size bytes.
func (r *aptRepository) add(name string, size int, seed uint64) {
	r.t.Helper()
	tree := filepath.Join(r.t.TempDir(), name)
	r.write(filepath.Join(tree, "usr/share/braid-test", name), mirrortest.Generate(int64(size), seed).Bytes())
	control := fmt.Sprintf("Package: %s\nVersion: 1.0\nArchitecture: all\nMaintainer: Test "+
		"<test@example.org>\nDescription: a package\n", name)
	r.write(filepath.Join(tree, "DEBIAN/control"), []byte(control))
	deb := filepath.Join("pool", name+"_1.0_all.deb")
	if err := os.MkdirAll(filepath.Join(r.dir, "pool"), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if out, err := exec.Command("dpkg-deb", "-Znone", "--root-owner-group", "--build", tree,
		filepath.Join(r.dir, deb)).CombinedOutput(); err != nil {
		r.t.Fatalf("dpkg-deb: %v\n%s", err, out)
	}
	data := readFile(r.t, filepath.Join(r.dir, deb))
	r.packages = append(r.packages, control+fmt.Sprintf("Filename: %s\nSize: %d\nSHA256: %x\n", deb, len(data),
		sha256.Sum256([]byte(data))))
}

// sign writes the lists, and InRelease above them.
func (r *aptRepository) sign() {
	r.t.Helper()
	list := []byte(strings.Join(r.packages, "\n"))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(list)
	z.Close()
	release := "Origin: test\nSuite: stable\nCodename: stable\nArchitectures: amd64 all\nComponents: main\nDate: " +
		time.Now().UTC().Format(time.RFC1123) + "\nSHA256:\n"
	for name, data := range map[string][]byte{"main/binary-amd64/Packages": list,
		"main/binary-amd64/Packages.gz": packed.Bytes()} {
		r.write(filepath.Join(r.dir, "dists/stable", name), data)
		release += fmt.Sprintf(" %x %d %s\n", sha256.Sum256(data), len(data), name)
	}
	plain := filepath.Join(r.dir, "dists/stable/Release")
	r.write(plain, []byte(release))
	r.gpg("--clearsign", "--output", filepath.Join(r.dir, "dists/stable/InRelease"), plain)
}

func (r *aptRepository) write(name string, data []byte) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// copy is another server's folder, with each package changed.
func (r *aptRepository) copy(change func([]byte) []byte) string {
	r.t.Helper()
	dir := publicDir(r.t)
	debs, _ := filepath.Glob(filepath.Join(r.dir, "pool", "*.deb"))
	for _, deb := range debs {
		r.write(filepath.Join(dir, "pool", filepath.Base(deb)), change([]byte(readFile(r.t, deb))))
	}
	return dir
}

// An aptRoot is a private system of apt: nothing of the machine's is read but its own transports, and nothing of it is changed.
type aptRoot struct {
	t   *testing.T
	dir string
	env []string
}

// newAptRoot makes one with a source and some lines of apt.conf.
func newAptRoot(t *testing.T, r *aptRepository, uri, conf string) *aptRoot {
	t.Helper()
	a := &aptRoot{t: t, dir: publicDir(t)}
	for _, dir := range []string{"etc/apt/apt.conf.d", "etc/apt/sources.list.d", "etc/apt/auth.conf.d",
		"etc/apt/preferences.d", "etc/apt/trusted.gpg.d", "methods", "target/var/lib/dpkg/updates", "target/var/lib/dpkg/info",
		"var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "var/log/apt"} {
		if err := os.MkdirAll(filepath.Join(a.dir, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.write(filepath.Join(a.dir, "target/var/lib/dpkg/status"), nil)
	own, _ := filepath.Glob("/usr/lib/apt/methods/*")
	for _, method := range own {
		a.link(method, filepath.Base(method))
	}
	for _, name := range []string{"braid+http", "braid+https", "braid+mirror+file"} {
		a.link(binary, name)
	}
	a.write("etc/apt/sources.list", fmt.Sprintf("deb [signed-by=%s] %s stable main\n", r.keyring, uri))
	a.write("apt.conf", fmt.Sprintf(`Dir "%[1]s/";
Dir::State::status "%[1]s/target/var/lib/dpkg/status";
Dir::Bin::Methods "%[1]s/methods/";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
Acquire::Languages "none";
Acquire::Retries "0";
DPkg::Options { "--root=%[1]s/target"; "--force-not-root"; "--force-unsafe-io"; "--log=%[1]s/dpkg.log"; "--force-script-chrootless"; };
`, a.dir)+conf)
	a.env = append(os.Environ(), "APT_CONFIG="+filepath.Join(a.dir, "apt.conf"), "LC_ALL=C",
		"DEBIAN_FRONTEND=noninteractive", "http_proxy=", "https_proxy=", "HOME=/nonexistent")
	return a
}

func (a *aptRoot) link(program, name string) {
	a.t.Helper()
	if err := os.Symlink(program, filepath.Join(a.dir, "methods", name)); err != nil {
		a.t.Fatal(err)
	}
}

func (a *aptRoot) write(name, text string) {
	a.t.Helper()
	writeFile(a.t, filepath.Join(a.dir, name), text)
}

func (a *aptRoot) in(name string) string { return filepath.Join(a.dir, name) }

func (a *aptRoot) command(words ...string) *exec.Cmd {
	cmd := exec.Command("apt-get", words...)
	cmd.Env, cmd.Dir = a.env, a.dir
	return cmd
}

// run runs apt-get, which has to succeed or to fail.
func (a *aptRoot) run(good bool, words ...string) string {
	a.t.Helper()
	out, err := a.command(words...).CombinedOutput()
	if (err == nil) != good {
		a.t.Fatalf("apt-get %s: %v\n%s", strings.Join(words, " "), err, out)
	}
	return string(out)
}

// holds checks that the archives of apt have the packages of the repository.
func (a *aptRoot) holds(r *aptRepository) {
	a.t.Helper()
	debs, _ := filepath.Glob(filepath.Join(r.dir, "pool", "*.deb"))
	for _, deb := range debs {
		if readFile(a.t, deb) != readFile(a.t, a.in("var/cache/apt/archives/"+filepath.Base(deb))) {
			a.t.Errorf("%s is another file", filepath.Base(deb))
		}
	}
}
