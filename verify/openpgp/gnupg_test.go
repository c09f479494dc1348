//go:build realservers

package openpgp

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var record = flag.Bool("record", false, "write what gpg makes to testdata/gnupg, for the tests that run without it")

// TestRealGnuPG makes keys and signatures with gpg and judges them by the table of TestRules_Rule47_Rule48_S4_S6.
func TestRealGnuPG(t *testing.T) {
	g := newGnuPG(t)
	made := g.everything()
	if *record {
		if err := os.MkdirAll(recorded, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, data := range made {
			if err := os.WriteFile(filepath.Join(recorded, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	checkRules(t, made)
	t.Run("gpg verifies what Sign makes", g.verifiesOurs)
}

// A gnupg is a fresh home of gpg, with an agent of its own.
type gnupg struct {
	t    *testing.T
	home string
	made map[string][]byte
}

func newGnuPG(t *testing.T) *gnupg {
	// Not t.TempDir: its path can be too long for the agent's socket (108 bytes).
	home, err := os.MkdirTemp("", "gpg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, args := range [][]string{{"--kill", "all"}, {"--remove-socketdir"}} {
			out, err := exec.Command("gpgconf", append([]string{"--homedir", home}, args...)...).CombinedOutput()
			if err != nil {
				t.Errorf("gpgconf %s: %v: %s", args[0], err, out)
			}
		}
		os.RemoveAll(home)
	})
	return &gnupg{t: t, home: home, made: map[string][]byte{}}
}

// at runs gpg with its clock standing still at a time, and returns what it writes to standard output.
func (g *gnupg) at(now time.Time, stdin string, args ...string) []byte {
	g.t.Helper()
	out, status, err := g.try(now, stdin, args...)
	if err != nil {
		g.t.Fatalf("gpg %s: %v\n%s", strings.Join(args, " "), err, status)
	}
	return out
}

func (g *gnupg) try(now time.Time, stdin string, args ...string) (out []byte, status string, err error) {
	clock := now.UTC().Format("20060102T150405") + "!"
	common := []string{"--homedir", g.home, "--no-tty", "--yes", "--quiet", "--pinentry-mode", "loopback",
		"--faked-system-time", clock}
	if args[0] != "--command-fd" {
		common = append(common, "--batch", "--passphrase", "")
	}
	cmd := exec.Command("gpg", append(common, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err = cmd.Output()
	return out, stderr.String(), err
}

// newKey makes a key and returns its fingerprint.
func (g *gnupg) newKey(name, algorithm, usage, expires string) string {
	g.t.Helper()
	user := fmt.Sprintf("%s <%s@example.org>", name, strings.ToLower(name))
	g.at(born, "", "--quick-generate-key", user, algorithm, usage, expires)
	return g.fingerprints(user)[0]
}

// fingerprints are those of the primary key of user and of its subkeys.
func (g *gnupg) fingerprints(user string) (all []string) {
	g.t.Helper()
	for line := range strings.Lines(string(g.at(born, "", "--with-colons", "--fingerprint", "--fingerprint",
		"--list-keys", user))) {
		if fields := strings.Split(line, ":"); fields[0] == "fpr" {
			all = append(all, fields[9])
		}
	}
	return all
}

// export notes the public key under name, and its fingerprints.
func (g *gnupg) export(name, key string) {
	g.t.Helper()
	g.made[name+".pub"] = g.at(born, "", "--armor", "--export", key)
	g.made[name+".fpr"] = []byte(strings.Join(g.fingerprints(key), "\n") + "\n")
}

// sign notes an armored detached signature of the file under name.
func (g *gnupg) sign(name, key string, now time.Time, args ...string) {
	g.t.Helper()
	args = append([]string{"--local-user", key, "--armor"}, args...)
	g.made[name] = g.at(now, signed, append(args, "--detach-sign")...)
}

// everything makes what the table needs, and what seeds the fuzzer.
func (g *gnupg) everything() map[string][]byte {
	rsa := g.newKey("Rsa", "rsa3072", "sign", "never")
	nist := g.newKey("Nist", "nistp256", "sign", "never")
	g.export("rsa", rsa)
	g.export("nist", nist)
	g.made["rsa.bin.pub"] = g.at(born, "", "--export", rsa)
	g.forms(rsa, nist)
	g.subkeys()
	g.deadKeys()
	for name, algorithm := range map[string]string{"Short": "rsa1024", "Dsa": "dsa2048", "Stranger": "ed25519"} {
		key := g.newKey(name, algorithm, "sign", "never")
		g.export(strings.ToLower(name), key)
		g.sign(strings.ToLower(name)+".asc", key, made)
	}
	return g.made
}

// forms makes signatures by good keys that differ in what they are.
func (g *gnupg) forms(rsa, nist string) {
	g.sign("rsa.asc", rsa, made)
	g.sign("nist.asc", nist, made)
	g.sign("both.asc", rsa, made, "--local-user", nist)
	g.made["rsa.sig"] = g.at(made, signed, "--local-user", rsa, "--detach-sign")
	g.made["other.asc"] = g.at(made, "another file\n", "--local-user", nist, "--armor", "--detach-sign")
	for _, hash := range []string{"SHA1", "RIPEMD160", "SHA224", "SHA384", "SHA512"} {
		g.sign(strings.ToLower(hash)+".asc", rsa, made, "--digest-algo", hash)
	}
	g.sign("text.asc", rsa, made, "--textmode")
	g.made["message.asc"] = g.at(made, signed, "--local-user", rsa, "--armor", "--sign")
	g.made["cleartext.asc"] = g.at(made, signed, "--local-user", rsa, "--clear-sign")
	g.made["message.gpg"] = g.at(made, signed, "--local-user", rsa, "--sign")
	g.made["plain.gpg"] = g.at(made, signed, "--local-user", rsa, "--compress-algo", "none", "--sign")
	g.sign("notation.asc", rsa, made, "--sig-notation", "!odd@example.org=1")
	g.sign("note.asc", rsa, made, "--sig-notation", "odd@example.org=1")
	g.sign("day.asc", rsa, made, "--default-sig-expire", "1d")
	g.sign("soon.asc", rsa, present.Add(10*time.Minute))
	g.sign("future.asc", rsa, present.Add(10*time.Minute+time.Second))
}

// subkeys makes a key that certifies and two subkeys that sign, the second of which is revoked.
func (g *gnupg) subkeys() {
	key := g.newKey("Sub", "ed25519", "cert", "never")
	for range 2 {
		g.at(born, "", "--quick-add-key", key, "ed25519", "sign", "never")
	}
	f := g.fingerprints(key)
	g.sign("sub.asc", f[1]+"!", made)
	g.sign("lost.asc", f[2]+"!", made)
	g.export("before", key)
	g.at(made, "key 2\nrevkey\ny\n3\nlost on a train\n\ny\nsave\n", "--command-fd", "0", "--edit-key", key)
	g.export("sub", key)
}

// deadKeys makes keys that have expired or were revoked after they signed.
func (g *gnupg) deadKeys() {
	old := g.newKey("Old", "ed25519", "sign", "20d")
	g.sign("old.asc", old, made)
	g.export("old", old)
	gone := g.newKey("Gone", "ed25519", "sign", "never")
	g.sign("gone.asc", gone, made)
	g.export("alive", gone)
	g.made["gone.rev"] = g.at(made, "y\n1\nstolen\n\ny\n", "--command-fd", "0", "--armor", "--gen-revoke", gone)
	g.at(made, string(g.made["gone.rev"]), "--import")
	g.export("gone", gone)
}

// verifiesOurs shows that GnuPG agrees with Sign, for keys of each kind, as gpg exports them.
func (g *gnupg) verifiesOurs(t *testing.T) {
	g.at(born, "", "--passphrase", "open sesame", "--quick-generate-key", "Locked <locked@example.org>", "ed25519",
		"sign", "never")
	for _, user := range []string{"Rsa", "Nist", "Sub", "Locked"} {
		secret := g.at(made, "", "--passphrase", "open sesame", "--armor", "--export-secret-keys",
			"<"+strings.ToLower(user)+"@example.org>")
		if user == "Sub" {
			secret = g.at(made, "", "--armor", "--export-secret-subkeys", "<sub@example.org>")
		}
		sig, err := Sign(strings.NewReader(signed), secret, []byte("open sesame"), made)
		if err != nil {
			t.Errorf("%s: %v", user, err)
			continue
		}
		name := filepath.Join(g.home, "ours.asc")
		if err := os.WriteFile(name, sig, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, status, err := g.try(present, signed, "--status-fd", "2", "--verify", name, "-"); err != nil ||
			!strings.Contains(status, "VALIDSIG") {
			t.Errorf("%s: gpg --verify: %v\n%s", user, err, status)
		}
		if _, status, err := g.try(present, signed+"!", "--status-fd", "2", "--verify", name, "-"); err == nil ||
			!strings.Contains(status, "BADSIG") {
			t.Errorf("%s: gpg --verify of another file: %v\n%s", user, err, status)
		}
	}
}
